import { MalformedValue, type Num } from '../../upstream/decode/fields.js';

/** A value for the client: one that upstream sent malformed is reported at the path of its field, and null there. */
export function shown<T>(value: T | MalformedValue): T {
  if (value instanceof MalformedValue) throw value;
  return value;
}

/** A count for the client. GraphQL's Int is a whole number of 32 bits: what is none is malformed like any other value. */
export function shownCount(value: number): number;
export function shownCount(value: Num): number | null;
export function shownCount(value: Num): number | null {
  const count = shown(value);
  // `| 0` keeps just those.
  if (count === null || (count | 0) === count) return count;
  throw new MalformedValue('Upstream sent a number that is no count, or one of more than 32 bits');
}
