import { Instant } from './instant.js';

/**
 * Bounds of a question in whole milliseconds. Assumed: upstream may compare times by the millisecond though it shows more
 * digits; so bounds are asked for a little too wide, and what comes too much is sorted out by its exact time.
 */

/** Whether a whole number of milliseconds says it exactly. A leap second is told by its neighbours. */
export function fitsMs(instant: Instant): boolean {
  return instant.digits.length <= 3 && !instant.leap;
}

/** Milliseconds since 1970 at or before it. */
export function floorMs(instant: Instant): number {
  if (instant.leap) return instant.unixS * 1000 + 999;
  return instant.unixS * 1000 + Number(instant.digits.slice(0, 3).padEnd(3, '0'));
}

/** Milliseconds since 1970 at or after it. */
export function ceilMs(instant: Instant): number {
  if (instant.leap) return (instant.unixS + 2) * 1000;
  return fitsMs(instant) ? floorMs(instant) : floorMs(instant) + 1;
}

/** RFC 3339, unchanged where that is exact. */
export function atOrBefore(instant: Instant): string {
  return fitsMs(instant) ? instant.toString() : Instant.fromMs(floorMs(instant)).toString();
}

/** RFC 3339, unchanged where that is exact. */
export function atOrAfter(instant: Instant): string {
  return fitsMs(instant) ? instant.toString() : Instant.fromMs(ceilMs(instant)).toString();
}
