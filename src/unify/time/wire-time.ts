import { MalformedValue, type Text } from '../../upstream/decode/fields.js';
import { Instant } from './instant.js';

/** A time that upstream may leave out or malform; a malformed one becomes an error on its field. */
export type MaybeInstant = Instant | null | MalformedValue;

export function instantOf(value: Text): MaybeInstant {
  if (typeof value !== 'string') return value;
  return Instant.parse(value) ?? new MalformedValue('Upstream sent a text that is not a time');
}

/**
 * A bound of a time range for a query: RFC 3339 in whole seconds, rounded down. Undefined without a bound, or outside
 * the years 1 to 9999. Callers that need the exact range test fractions themselves.
 */
export function textBound(ms: number): string | undefined {
  if (!(ms >= earliestMs && ms <= latestMs)) return undefined;
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

const earliestMs = Date.parse('0001-01-01T00:00:00Z');
const latestMs = Date.parse('9999-12-31T23:59:59Z');
