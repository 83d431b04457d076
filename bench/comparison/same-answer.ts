// A peer's distances are on a sphere.
const tolerated = 0.01;

/** Where two answers differ, as a path; null when they say the same. Times may be written differently. */
export function differenceBetween(expected: unknown, actual: unknown, path = 'answer'): string | null {
  if (Object.is(expected, actual)) return null;
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(expected - actual) <= tolerated * Math.abs(expected) ? null : path;
  }
  if (typeof expected === 'string' && typeof actual === 'string') {
    return isTime(expected) && Date.parse(expected) === Date.parse(actual) ? null : path;
  }
  if (!isObject(expected) || !isObject(actual)) return path;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = differenceBetween(expected[key], actual[key], `${path}.${key}`);
    if (difference !== null) return difference;
  }
  return null;
}

const isTime = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
