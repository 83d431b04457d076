/** A JSON text, in pieces where it is long. */
export type Json = string | Iterable<string>;

/**
 * The JSON text of an answer: whole, or in pieces that each take little time. Serialising thousands of records at once
 * would block the event loop for all other clients.
 * @param isShort the value is known to be small, so that counting it can be skipped
 */
export function jsonOf(value: object, isShort: boolean): Json {
  return isShort || countOf(value) <= mostAtOnce ? JSON.stringify(value) : jsonPieces(value);
}

/** The text that `JSON.stringify` would give, in pieces. */
export function* jsonPieces(value: unknown): Generator<string> {
  let text = '';
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < enough) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

// Smallest length of a piece in characters, and most values that are serialised in one call.
const enough = 32_768;
const mostAtOnce = 1_000;

function* partsOf(value: unknown): Generator<string> {
  if (countOf(value) <= mostAtOnce) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* listParts(value);
  else yield* objectParts(value as object);
}

function* listParts(list: readonly unknown[]): Generator<string> {
  let before = '[';
  let start = 0;
  let count = 0;
  const upTo = (end: number) => `${before}${JSON.stringify(list.slice(start, end)).slice(1, -1)}`;
  for (let at = 0; at < list.length; at++) {
    const own = countOf(list[at]);
    if (count > 0 && count + own > mostAtOnce) {
      yield upTo(at);
      before = ',';
      start = at;
      count = 0;
    }
    if (own > mostAtOnce) {
      yield before;
      yield* partsOf(list[at]);
      before = ',';
      start = at + 1;
    } else {
      count += own;
    }
  }
  yield start < list.length ? `${upTo(list.length)}]` : ']';
}

function* objectParts(object: object): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(value);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Number of nested values; counting stops at any number above `mostAtOnce`. */
function countOf(value: unknown): number {
  let count = 1;
  if (typeof value !== 'object' || value === null) return count;
  // Objects with toJSON, such as errors, are small.
  if ('toJSON' in value) return count + 10;
  // Object.values would copy the whole array: a million samples for a waveform.
  const values = Array.isArray(value) ? value.slice(0, mostAtOnce) : Object.values(value);
  for (const own of values) {
    count += countOf(own);
    if (count > mostAtOnce) break;
  }
  return Array.isArray(value) ? Math.max(count, value.length + 1) : count;
}
