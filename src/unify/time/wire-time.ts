import { MalformedValue, type Text } from '../../upstream/decode/fields.js';
import { Instant } from './instant.js';

/** A time that upstream may leave out, or write so that it cannot be read: the error is then shown in its place. */
export type MaybeInstant = Instant | null | MalformedValue;

export function instantOf(value: Text): MaybeInstant {
  if (typeof value !== 'string') return value;
  return Instant.parse(value) ?? new MalformedValue('Upstream sent a text that is not a time');
}
