import { MalformedValue } from '../upstream/decode.js';

/** A value for the client: one that upstream sent malformed is reported at the path of its field, and null there. */
export function shown<T>(value: T | MalformedValue): T {
  if (value instanceof MalformedValue) throw value;
  return value;
}
