/**
 * Freezes a decoded answer through and through, since many share it, and estimates the memory it takes in bytes: both
 * need the same walk. Errors that stand in for malformed values stay as they are.
 */
export function freezeAndMeasure(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Error) return 1_000;
  if (Array.isArray(value)) return freezeList(value);
  let bytes = 64;
  for (const key of Object.keys(value)) bytes += 16 + freezeAndMeasure(Reflect.get(value, key));
  Object.freeze(value);
  return bytes;
}

function freezeList(list: readonly unknown[]): number {
  // A frozen array of fractions holds each number as an object of its own.
  let bytes = 32 + 24 * list.length;
  for (const element of list) {
    if (typeof element !== 'number') bytes += freezeAndMeasure(element);
  }
  Object.freeze(list);
  return bytes;
}
