import type { TriggerQuery } from '../upstream/project/client.js';
import { atOrAfter, atOrBefore, floorMs } from './millisecond.js';
import { earlier, Instant, later } from './time.js';
import type { WalkOrder } from './trigger-position.js';

export interface TriggerRange {
  readonly order: WalkOrder;
  /** Both ends inclusive. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly deviceId?: string | undefined;
  /** Where a range without an end ends, should it have to be taken in parts. */
  readonly nowMs?: number | undefined;
}

export interface Bounds {
  readonly query: Pick<TriggerQuery, 'from' | 'to' | 'deviceId'>;
  /** Where the range ends short of what was asked for; null where it does not. */
  readonly shortOf: Instant | null;
}

/**
 * What is left of a range behind the time that a walk has reached, at most `spanMs` of it. Null when nothing is: upstream
 * would refuse such a range.
 */
export function boundsOf(
  { order, from, to, deviceId, nowMs }: TriggerRange,
  pin: Instant | null,
  spanMs: number,
): Bounds | null {
  const lower = order === 'asc' && pin ? later(pin, from ?? pin) : from;
  const upper = order === 'desc' && pin ? earlier(pin, to ?? pin) : to;
  if (lower && upper && lower.compare(upper) > 0) return null;
  const newest = upper ?? (nowMs === undefined ? undefined : Instant.fromMs(nowMs));
  const start = order === 'asc' ? lower : newest;
  const end = order === 'asc' ? upper : lower;
  const shortOf = start && Number.isFinite(spanMs) ? moved(start, order === 'asc' ? spanMs : -spanMs) : null;
  if (!shortOf || (end && !isBeyond(end, shortOf, order)))
    return { query: queryOf(lower, upper, deviceId), shortOf: null };
  const query = order === 'asc' ? queryOf(lower, shortOf, deviceId) : queryOf(shortOf, upper, deviceId);
  return { query, shortOf };
}

function queryOf(
  lower: Instant | undefined,
  upper: Instant | undefined,
  deviceId: string | undefined,
): Bounds['query'] {
  // One moment is the same to the millisecond too, and what is asked of it is known by its two equal ends to be final.
  if (lower && upper && !lower.leap && lower.compare(upper) === 0) {
    return { from: lower.toString(), to: lower.toString(), deviceId };
  }
  return { from: lower && atOrBefore(lower), to: upper && atOrAfter(upper), deviceId };
}

function moved(instant: Instant, ms: number): Instant {
  return Instant.fromMs(floorMs(instant) + ms);
}

function isBeyond(end: Instant, shortOf: Instant, order: WalkOrder): boolean {
  return order === 'asc' ? end.compare(shortOf) > 0 : end.compare(shortOf) < 0;
}
