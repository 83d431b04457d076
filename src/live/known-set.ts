import type { Position } from './cursor.js';

export interface KnownRecord {
  readonly number: number;
  readonly state: { readonly timeMs: number };
}

export interface KnownSet<K> {
  /** Oldest first. */
  readonly records: readonly K[];
  /** Null when final, a number for its state, undefined when it is not known at the position. */
  readonly stateOf: (record: K) => number | null | undefined;
  /** Of this time or later, all that were to be had are among the records. */
  readonly coveredFromMs: number;
  readonly lookbackMs: number;
  /** Oldest of those that are not known: the horizon lies before it. */
  readonly unknownFromMs: number;
  /** How late it is, where there is no record to tell. */
  readonly nowMs: number;
}

// So that a cursor stays below some 3 kB: what is older is left out, and only what arrives that late is then lost to
// someone who resumes without the log. The look-back window is always whole.
const room = 1_500;
// contract 9.2: what arrives later than this is not looked for.
const longestMs = 86_400_000;

/** What a cursor holds of what is known at a position: everything from a horizon on, and what is not final. */
export function positionOf<K extends KnownRecord>(set: KnownSet<K>): Omit<Position, 'logged'> {
  const { records, stateOf, coveredFromMs, lookbackMs, unknownFromMs, nowMs } = set;
  const known = new Map<number, number | null>();
  let newestMs = Number.NEGATIVE_INFINITY;
  let oldestOpenMs = Number.POSITIVE_INFINITY;
  let horizonMs = coveredFromMs;
  let used = 0;
  let isFull = false;
  for (let i = records.length - 1; i >= 0; i--) {
    const record = records[i];
    const state = record && stateOf(record);
    if (!record || state === undefined) continue;
    const recordMs = record.state.timeMs;
    newestMs = Math.max(newestMs, recordMs);
    if (!isFull && (used >= room || recordMs < newestMs - longestMs)) {
      // Records of one millisecond are on the same side of the horizon.
      const isApart = Math.floor(recordMs) < Math.floor(records[i + 1]?.state.timeMs ?? recordMs);
      isFull = isApart && recordMs < newestMs - lookbackMs && recordMs < unknownFromMs;
      if (isFull) horizonMs = Math.max(coveredFromMs, Math.floor(recordMs) + 1);
    }
    if (state !== null) oldestOpenMs = Math.min(oldestOpenMs, recordMs);
    else if (isFull || recordMs < coveredFromMs) continue;
    known.set(record.number, state);
    used += (record.number < 2 ** 32 ? 1 : 5) + (state === null ? 0 : 2);
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
