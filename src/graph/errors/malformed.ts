import { MalformedValue, type Num } from '../../upstream/decode/fields.js';

/** Returns the value; throws when upstream sent it malformed, so that the field is null with an error at its path. */
export function shown<T>(value: T | MalformedValue): T {
  if (value instanceof MalformedValue) throw value;
  return value;
}

/** As `shown`, for an Int: numbers that are not integers of 32 bits are malformed as well. */
export function shownCount(value: number): number;
export function shownCount(value: Num): number | null;
export function shownCount(value: Num): number | null {
  const count = shown(value);
  // `| 0` leaves exactly the 32-bit integers unchanged.
  if (count === null || (count | 0) === count) return count;
  throw new MalformedValue('Upstream sent a number that is no count, or one of more than 32 bits');
}
