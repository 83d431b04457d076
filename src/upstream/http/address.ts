import { limits } from '../../limits.js';

/** Query parameters as the specs name them; undefined ones are not sent. */
export type Parameters = Readonly<Record<string, string | number | undefined>>;

/**
 * Path and query of a request. Equal requests give equal text in whatever order their parameters were written: cache
 * and coalescing use it as their key.
 */
export function addressOf(path: string, parameters: Parameters): string {
  const query = Object.entries(parameters)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'number' ? decimal(value) : value)}`,
    )
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

/**
 * An identifier as one segment of a path, or null where it can name nothing: an empty one would address the list,
 * servers remove dot segments from a path, and half a surrogate pair has no encoding.
 */
export function segment(identifier: string): string | null {
  if (/^\.{0,2}$/.test(identifier) || identifier.length > limits.identifierCharacters) return null;
  try {
    return encodeURIComponent(identifier);
  } catch {
    return null;
  }
}

/** A number without an exponent, which the specs show for none. */
export function decimal(value: number): string {
  const short = String(value);
  return short.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : short;
}
