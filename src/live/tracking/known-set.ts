import type { Position } from './cursor.js';

export interface KnownRecord {
  readonly number: number;
  readonly state: { readonly timeMs: number };
}

export interface KnownSet<K> {
  /** Oldest first. */
  readonly records: readonly K[];
  /** Index of the newest of them that can be known. */
  readonly last: number;
  /** Those that are not final at the position are all among these. */
  readonly unfinished: Iterable<K>;
  /** Null when final, a number for its state, undefined when it is not known at the position. */
  readonly stateOf: (record: K) => number | null | undefined;
  /** Of this time or later, all that were to be had are among the records. */
  readonly coveredFromMs: number;
  /** Oldest of those that are not known: the horizon lies before it. */
  readonly unknownFromMs: number;
  /** How late it is, where there is no record to tell. */
  readonly nowMs: number;
}

// So that a cursor stays below some 4 kB. What is older than what has room counts as known: what arrives that late is lost
// then, but only to someone who resumes without the log. A thousand triggers of one quake have room.
const room = 2_000;
// docs/behaviour.md 9.2: what arrives later than this is not looked for.
const longestMs = 86_400_000;

/** What a cursor holds of what is known at a position: everything from a horizon on, and what is not final. */
export function positionOf<K extends KnownRecord>(set: KnownSet<K>): Omit<Position, 'logged'> {
  const { records, last, unfinished, stateOf, coveredFromMs, unknownFromMs, nowMs } = set;
  const known = new Map<number, number | null>();
  let newestMs = Number.NEGATIVE_INFINITY;
  let oldestOpenMs = Number.POSITIVE_INFINITY;
  let horizonMs = coveredFromMs;
  let used = 0;
  for (let i = last; i >= 0; i--) {
    const record = records[i];
    const state = record && stateOf(record);
    if (!record || state === undefined) continue;
    const recordMs = record.state.timeMs;
    newestMs = Math.max(newestMs, recordMs);
    if (recordMs < coveredFromMs) break;
    if (used >= room || recordMs < newestMs - longestMs) {
      // Records of one millisecond are on the same side of the horizon.
      const isApart = Math.floor(recordMs) < Math.floor(records[i + 1]?.state.timeMs ?? recordMs);
      if (isApart && recordMs < unknownFromMs) {
        horizonMs = Math.floor(recordMs) + 1;
        break;
      }
    }
    known.set(record.number, state);
    used += (record.number < 2 ** 32 ? 1 : 5) + (state === null ? 0 : 2);
  }
  for (const record of unfinished) {
    const state = stateOf(record);
    if (state === undefined || state === null) continue;
    known.set(record.number, state);
    oldestOpenMs = Math.min(oldestOpenMs, record.state.timeMs);
  }
  const timeMs = Number.isFinite(newestMs) ? newestMs : nowMs;
  return {
    timeMs: Math.floor(timeMs),
    // Rounded up: what is left out above must not lie behind it.
    horizonMs: Math.max(0, Math.ceil(Math.max(horizonMs, timeMs - longestMs))),
    oldestOpenMs: Math.floor(Number.isFinite(oldestOpenMs) ? oldestOpenMs : timeMs),
    known,
  };
}
