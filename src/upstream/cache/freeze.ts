/**
 * Freezes a decoded response deeply, since many callers share it, and estimates its memory in bytes: one traversal does
 * both. Texts that repeat within it (station and device ids, places, kinds) are stored once. Errors that stand in for
 * malformed values, and lists of numbers, stay as they are.
 */
export function freezeAndMeasure(value: unknown): number {
  return freezeValue(value, new Map());
}

/** Texts found so far, each mapped to its one instance. */
type Interned = Map<string, string>;

function freezeValue(value: unknown, interned: Interned): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Error) return 1_000;
  if (Array.isArray(value)) return freezeList(value, interned);
  let bytes = 64;
  for (const key of Object.keys(value)) {
    const field: unknown = Reflect.get(value, key);
    bytes +=
      16 + (typeof field === 'string' ? intern(value, key, field, interned) : freezeValue(field, interned));
  }
  Object.freeze(value);
  return bytes;
}

/** Returns the bytes that the text adds to those counted. */
function intern(owner: object, key: string, text: string, interned: Interned): number {
  const known = interned.get(text);
  if (known !== undefined) {
    Reflect.set(owner, key, known);
    return 0;
  }
  interned.set(text, text);
  return 24 + text.length;
}

function freezeList(list: readonly unknown[], interned: Interned): number {
  // Lists of numbers are not frozen, only typed as read-only: a frozen array holds each fraction as an object of its
  // own, which for the million samples of a waveform is three times the memory, and as long again as parsing them.
  if (list.length > 0 && list.every((element) => typeof element === 'number')) return 32 + 8 * list.length;
  let bytes = 32 + 8 * list.length;
  for (const element of list) bytes += freezeValue(element, interned);
  Object.freeze(list);
  return bytes;
}
