/**
 * Parses JSON; a whole number that a double cannot hold (above 2^53) becomes the text of its digits, so that no two
 * identifiers are confused.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(hasLongInteger.test(text) ? text.replace(stringOrNumber, quoteUnsafe) : text);
}

// Cheap, and with false positives: strings of digits match too.
const hasLongInteger = /(?:^|[^\d.])\d{16}/;
// Strings are matched whole, so that digits inside them stay as they are.
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteUnsafe(token: string): string {
  const isUnsafe = /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
  return isUnsafe ? `"${token}"` : token;
}
