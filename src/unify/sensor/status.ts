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
export function statusOf(time: Pick<UnifyContext, 'hasPassed'>, pair: Pair): SensorStatus {
  const offlineMs = offlineFromMs(pair);
  if (offlineMs !== null && time.hasPassed(offlineMs)) return 'OFFLINE';
  const word = statusWord(pair);
  if (word === 'online') return 'ONLINE';
  return word === 'offline' ? 'OFFLINE' : 'UNKNOWN';
}

/** The moment after which the 150-second rule overrides the record's text, in Unix milliseconds; null for never. */
export function offlineFromMs({ project }: Pair): number | null {
  return project && offlineFromMsOf(project);
}

const offlineFromMsOf = derived((project: ProjectRecord) => {
  const lastSeen = Instant.parse(known(project.value.last_seen) ?? '');
  // Without `last_seen`, `online` means that the sensor was seen within the 150 seconds before the record was read.
  const lastSeenMs =
    lastSeen?.ms ?? (statusWord({ project, catalogue: null }) === 'online' ? project.readAtMs : null);
  return lastSeenMs === null ? null : lastSeenMs + onlineForMs;
});

function statusWord({ project, catalogue }: Pair): string {
  return (known((project ?? catalogue)?.value.status) ?? '').trim().toLowerCase();
}
