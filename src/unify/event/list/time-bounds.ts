/**
 * A bound of a time range as the interfaces take it, RFC 3339 in whole seconds; undefined where there is no bound, or none
 * that a year of four digits can write. Whoever needs every digit of the range finishes it here.
 */
export function textBound(ms: number): string | undefined {
  if (!(ms >= earliestMs && ms <= latestMs)) return undefined;
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

const earliestMs = Date.parse('0001-01-01T00:00:00Z');
const latestMs = Date.parse('9999-12-31T23:59:59Z');
