import { MalformedValue, type Text } from '../../upstream/decode/fields.js';
import { Instant } from './instant.js';

/** A time that upstream may leave out or malform; a malformed one becomes an error on its field. */
export type MaybeInstant = Instant | null | MalformedValue;

export function instantOf(value: Text): MaybeInstant {
  if (typeof value !== 'string') return value;
  return Instant.parse(value) ?? new MalformedValue('Upstream sent a text that is not a time');
}
