import { known } from '../upstream/decode.js';
import type { Pair } from './sensor-identity.js';
import { Instant } from './time.js';

export type SensorStatus = 'ONLINE' | 'OFFLINE' | 'UNKNOWN';

// key-scoped §3.
const onlineForMs = 150_000;

/**
 * As of now, however old the record: a sensor of the project that has not been heard of for 150 seconds is not online
 * (key-scoped §3, contract 5.6). The catalogue has no such rule: its text holds.
 */
export function statusOf({ project, catalogue }: Pair, nowMs: number): SensorStatus {
  const word = (known((project ?? catalogue)?.value.status) ?? '').trim().toLowerCase();
  if (project) {
    const lastSeen = Instant.parse(known(project.value.last_seen) ?? '');
    // `online` says that it was heard of within the rule when the record was read.
    const heardMs = lastSeen?.ms ?? (word === 'online' ? project.readAtMs : null);
    if (heardMs !== null && nowMs - heardMs > onlineForMs) return 'OFFLINE';
  }
  if (word === 'online') return 'ONLINE';
  return word === 'offline' ? 'OFFLINE' : 'UNKNOWN';
}
