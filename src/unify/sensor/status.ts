import { plus, type UnixMs } from '../../clock.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import { Instant } from '../time/instant.js';
import type { Pair, ProjectRecord } from './identity.js';

export type SensorStatus = 'ONLINE' | 'OFFLINE' | 'UNKNOWN';

// docs/interfaces.md P3.
const onlineForMs = 150_000;

/**
 * Status at this moment, however old the record is: a project sensor last seen more than 150 seconds ago is offline
 * (docs/interfaces.md P3, docs/behaviour.md 5.6). The catalogue has no such rule, so its text is used as it is.
 */
export function statusOf(time: StatusTime, pair: Pair): SensorStatus {
  const offlineMs = offlineFromMs(time, pair);
  if (offlineMs !== null && time.hasPassed(offlineMs)) return 'OFFLINE';
  const word = statusWord(pair);
  if (word === 'online') return 'ONLINE';
  return word === 'offline' ? 'OFFLINE' : 'UNKNOWN';
}

export type StatusTime = Pick<UnifyContext, 'hasPassed' | 'dateOf'>;

/** The date after which the 150-second rule overrides the record's text, in Unix milliseconds; null for never. */
export function offlineFromMs(time: StatusTime, { project }: Pair): UnixMs | null {
  if (!project) return null;
  const lastSeen = lastSeenOf(project);
  if (lastSeen) return plus(lastSeen.ms, onlineForMs);
  // Without `last_seen`, `online` means that the sensor was seen within the 150 seconds before the record was read.
  const isOnline = statusWord({ project, catalogue: null }) === 'online';
  return isOnline ? plus(time.dateOf(project.readAtMs).ms, onlineForMs) : null;
}

const lastSeenOf = derived((project: ProjectRecord) => Instant.parse(known(project.value.last_seen) ?? ''));

function statusWord({ project, catalogue }: Pair): string {
  return (known((project ?? catalogue)?.value.status) ?? '').trim().toLowerCase();
}
