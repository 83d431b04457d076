/**
 * Freezes a decoded answer through and through, since many share it, and estimates the memory it takes in bytes: both
 * need the same walk. Errors that stand in for malformed values, and lists of numbers, stay as they are.
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
  // Numbers alone stay as they are, guarded by their type only: a frozen array holds each fraction as an object of its own,
  // which for the million samples of a waveform is three times the memory, and as long again as parsing them.
  if (list.length > 0 && list.every((element) => typeof element === 'number')) return 32 + 8 * list.length;
  let bytes = 32 + 8 * list.length;
  for (const element of list) bytes += freezeAndMeasure(element);
  Object.freeze(list);
  return bytes;
}
