import {
  asMoment,
  ceilTo,
  dayMs,
  earliest,
  floorTo,
  forever,
  latest,
  plus,
  type UnixMs,
} from '../../../clock.js';
import type { FullPosition } from './cursor.js';
import { microseconds } from './known-rest.js';

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
  readonly completeFromMs: UnixMs;
  /** The position's time when there is no record to take it from. */
  readonly nowMs: UnixMs;
}

// docs/behaviour.md 9.2: records that arrive later than this are not looked for.
const longestMs = dayMs;
// A cursor has no times before it.
const epochMs: UnixMs = asMoment(0);

/** The known records at a position: all from a horizon on, and all that are not final. */
export function positionOf<K extends KnownRecord>(set: KnownSet<K>): Omit<FullPosition, 'logged'> {
  const { records, last, unfinished, stateOf, completeFromMs, nowMs } = set;
  const known = new Map<number, number | null>();
  let newest: KnownRecord | null = null;
  let horizonMs: UnixMs = epochMs;
  let oldestOpenMs: UnixMs = forever;
  for (let i = last; i >= 0; i--) {
    const record = records[i];
    const state = record && stateOf(record);
    if (!record || state === undefined) continue;
    if (!newest) {
      newest = record;
      horizonMs = horizonAt(record.state.timeMs, completeFromMs);
    }
    if (record.state.timeMs < horizonMs) break;
    known.set(record.number, state);
    if (state !== null) oldestOpenMs = record.state.timeMs;
  }
  const older = new Map<number, number>();
  for (const record of unfinished) {
    if (known.has(record.number)) continue;
    const state = stateOf(record);
    if (state === undefined || state === null) continue;
    older.set(record.number, state);
    oldestOpenMs = earliest(oldestOpenMs, record.state.timeMs);
  }
  const timeMs = newest?.state.timeMs ?? nowMs;
  return {
    timeUs: microseconds(timeMs),
    lastNumber: newest?.number ?? 0,
    horizonMs: horizonAt(timeMs, completeFromMs),
    oldestOpenMs: floorTo(1, Number.isFinite(oldestOpenMs) ? oldestOpenMs : timeMs),
    known,
    older,
  };
}

/** Rounded up: a record that is left out lies before it. */
function horizonAt(newestMs: UnixMs, completeFromMs: UnixMs): UnixMs {
  return latest(epochMs, ceilTo(1, latest(completeFromMs, plus(newestMs, -longestMs))));
}
