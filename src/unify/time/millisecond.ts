import { msOf, plus, type UnixMs } from '../../clock.js';
import { Instant } from './instant.js';

/**
 * Bounds of a request in whole milliseconds. Assumed: upstream may compare times by the millisecond although it sends
 * more digits. So requests ask for slightly too wide a range, and surplus records are removed by their exact time.
 */

/**
 * True when whole milliseconds express the instant exactly. A leap second is replaced by its neighbouring milliseconds.
 */
export function fitsMs(instant: Instant): boolean {
  return instant.digits.length <= 3 && !instant.leap;
}

/** The last whole Unix millisecond at or before the instant. */
export function floorMs(instant: Instant): UnixMs {
  if (instant.leap) return plus(msOf(instant.unixS), 999);
  return plus(msOf(instant.unixS), Number(instant.digits.slice(0, 3).padEnd(3, '0')));
}

/** The first whole Unix millisecond at or after the instant. */
export function ceilMs(instant: Instant): UnixMs {
  if (instant.leap) return plus(msOf(instant.unixS), 2000);
  return fitsMs(instant) ? floorMs(instant) : plus(floorMs(instant), 1);
}

/** `floorMs` as RFC 3339; the instant itself where it fits. */
export function atOrBefore(instant: Instant): string {
  return fitsMs(instant) ? instant.toString() : Instant.fromMs(floorMs(instant)).toString();
}

/** `ceilMs` as RFC 3339; the instant itself where it fits. */
export function atOrAfter(instant: Instant): string {
  return fitsMs(instant) ? instant.toString() : Instant.fromMs(ceilMs(instant)).toString();
}
