import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import { Instant } from '../time/instant.js';
import type { Pair, ProjectRecord } from './identity.js';

export type SensorStatus = 'ONLINE' | 'OFFLINE' | 'UNKNOWN';

// docs/interfaces.md P3.
const onlineForMs = 150_000;

/**
 * As of now, however old the record: a sensor of the project that has not been heard of for 150 seconds is not online
 * (docs/interfaces.md P3, docs/behaviour.md 5.6). The catalogue has no such rule: its text holds.
 */
export function statusOf(time: Pick<UnifyContext, 'hasPassed'>, pair: Pair): SensorStatus {
  const offlineMs = offlineFromMs(pair);
  if (offlineMs !== null && time.hasPassed(offlineMs)) return 'OFFLINE';
  const word = statusWord(pair);
  if (word === 'online') return 'ONLINE';
  return word === 'offline' ? 'OFFLINE' : 'UNKNOWN';
}

/** Until when the rule lets the text of the record hold; null where it always does. */
export function offlineFromMs({ project }: Pair): number | null {
  return project && offlineFromMsOf(project);
}

const offlineFromMsOf = derived((project: ProjectRecord) => {
  const lastSeen = Instant.parse(known(project.value.last_seen) ?? '');
  // `online` says that it was heard of within the rule when the record was read.
  const heardMs =
    lastSeen?.ms ?? (statusWord({ project, catalogue: null }) === 'online' ? project.readAtMs : null);
  return heardMs === null ? null : heardMs + onlineForMs;
});

function statusWord({ project, catalogue }: Pair): string {
  return (known((project ?? catalogue)?.value.status) ?? '').trim().toLowerCase();
}
