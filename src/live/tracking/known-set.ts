import {
  asMoment,
  ceilTo,
  dayMs,
  earliest,
  floorTo,
  forever,
  latest,
  longAgo,
  plus,
  type UnixMs,
} from '../../clock.js';
import type { Position } from './cursor.js';

export interface KnownRecord {
  readonly number: number;
  readonly state: { readonly timeMs: UnixMs };
}

export interface KnownSet<K> {
  /** Oldest first. */
  readonly records: readonly K[];
  /** Index of the newest record that can be known at the position. */
  readonly last: number;
  /** Contains every record that is not final at the position. */
  readonly unfinished: Iterable<K>;
  /** Null when final, the number of its state when not, undefined when it is not known at the position. */
  readonly stateOf: (record: K) => number | null | undefined;
  /** The records include every listed one of this time or later. */
  readonly coveredFromMs: UnixMs;
  /** Time of the oldest record that is not known: the horizon lies before it. */
  readonly unknownFromMs: UnixMs;
  /** The position's time when there is no record to take it from. */
  readonly nowMs: UnixMs;
}

// Bytes for known records, so that a cursor stays below some 4 kB; a thousand triggers of one earthquake fit. Older
// records count as known: one that arrives that late is lost, but only to a subscriber that resumes without the log.
const budgetBytes = 2_000;
// docs/behaviour.md 9.2: records that arrive later than this are not looked for.
const longestMs = dayMs;

/** The known records that a cursor contains: all from a horizon on, and all that are not final. */
export function positionOf<K extends KnownRecord>(set: KnownSet<K>): Omit<Position, 'logged'> {
  const { records, last, unfinished, stateOf, coveredFromMs, unknownFromMs, nowMs } = set;
  const known = new Map<number, number | null>();
  let newestMs: UnixMs = longAgo;
  let oldestOpenMs: UnixMs = forever;
  let horizonMs = coveredFromMs;
  let used = 0;
  for (let i = last; i >= 0; i--) {
    const record = records[i];
    const state = record && stateOf(record);
    if (!record || state === undefined) continue;
    const recordMs = record.state.timeMs;
    newestMs = latest(newestMs, recordMs);
    if (recordMs < coveredFromMs) break;
    if (used >= budgetBytes || recordMs < newestMs - longestMs) {
      // Records of one millisecond are on the same side of the horizon.
      const isApart = Math.floor(recordMs) < Math.floor(records[i + 1]?.state.timeMs ?? recordMs);
      if (isApart && recordMs < unknownFromMs) {
        horizonMs = plus(floorTo(1, recordMs), 1);
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
    oldestOpenMs = earliest(oldestOpenMs, record.state.timeMs);
  }
  const timeMs = Number.isFinite(newestMs) ? newestMs : nowMs;
  return {
    timeMs: floorTo(1, timeMs),
    // Rounded up: the records left out above must lie before it.
    horizonMs: latest(asMoment(0), ceilTo(1, latest(horizonMs, plus(timeMs, -longestMs)))),
    oldestOpenMs: floorTo(1, Number.isFinite(oldestOpenMs) ? oldestOpenMs : timeMs),
    known,
  };
}
