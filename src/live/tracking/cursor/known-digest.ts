/**
 * Reconciles two sets of known records, of which a cursor has no room for the first: the sums of a Reed–Solomon code over
 * the field of this prime. Each record has an element of the field, and a value that names its state; a sum is that of all
 * values × elementⁿ. A resume forms the same sums over what upstream lists now. The difference of the sums depends on the
 * records that differ alone, and tells which they are, and their values, as long as there are two sums for each of them.
 */
const prime = 2 ** 31 - 1;

type Known = Iterable<readonly [number: number, state: number | null]>;

/** The sums over a set of known records, which follow as the set changes: most sets differ little from the one before. */
export class RunningSums {
  readonly #sums: number[];
  #values = new Map<number, number>();

  constructor(count: number) {
    this.#sums = Array.from({ length: count }, () => 0);
  }

  of(known: Known): readonly number[] {
    const before = this.#values;
    const values = new Map<number, number>();
    for (const [number, state] of known) {
      const value = valueOfState(state);
      const valueBefore = before.get(number) ?? 0;
      values.set(number, value);
      if (value !== valueBefore) addTo(this.#sums, elementOf(number), subtract(value, valueBefore));
    }
    for (const [number, value] of before) {
      if (!values.has(number)) addTo(this.#sums, elementOf(number), subtract(0, value));
    }
    this.#values = values;
    return this.#sums;
  }
}

// Zero is the value of a record that is not known.
const finalValue = 1;
const firstStateValue = 2;

export const valueOfState = (state: number | null) => (state === null ? finalValue : firstStateValue + state);

/** Null when final; undefined when the record is not known. */
export function stateOfValue(value: number): number | null | undefined {
  if (value === 0) return undefined;
  return value === finalValue ? null : value - firstStateValue;
}

/** The element of a record: from 1 to `prime` − 1, by the finalizer of MurmurHash3. */
export function elementOf(number: number): number {
  let hash = (number >>> 0) ^ Math.imul(Math.floor(number / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return 1 + (((hash ^ (hash >>> 16)) >>> 0) % (prime - 1));
}

/**
 * The elements whose values differ between two sets, with the first value minus the second; null when too many differ.
 * @param elements the elements where a difference matters
 */
export function differencesOf(
  first: readonly number[],
  second: readonly number[],
  elements: Iterable<number>,
): ReadonlyMap<number, number> | null {
  const sums = first.map((sum, n) => subtract(sum, second[n] ?? 0));
  const locator = recurrenceOf(sums);
  const degree = locator.length - 1;
  // With two sums more than the differences need, a wrong result does not pass.
  if (2 * degree > sums.length - 2) return null;
  const evaluator = locator.map((_, n) => {
    let sum = 0;
    for (let i = 0; i <= n; i++) sum = add(sum, multiply(locator[i] ?? 0, sums[n - i] ?? 0));
    return n < degree ? sum : 0;
  });
  const derivative = locator.slice(1).map((coefficient, n) => multiply(coefficient, n + 1));
  const backwards = locator.toReversed();
  const found = new Map<number, number>();
  if (degree === 0) return found;
  for (const element of elements) {
    // The locator is zero at the inverse of an element that differs; backwards, it is zero at the element.
    if (valueAt(backwards, element) !== 0) continue;
    const at = inverse(element);
    const value = multiply(valueAt(evaluator, at), inverse(valueAt(derivative, at)));
    found.set(element, multiply(element, subtract(0, value)));
  }
  return found;
}

function addTo(sums: number[], element: number, value: number): void {
  let term = value;
  for (let n = 0; n < sums.length; n++) {
    sums[n] = add(sums[n] ?? 0, term);
    term = multiply(term, element);
  }
}

/** The shortest linear recurrence that gives the sums, by Berlekamp and Massey; its coefficients begin with 1. */
function recurrenceOf(sums: readonly number[]): number[] {
  let current = [1];
  let previous = [1];
  let length = 0;
  let shift = 1;
  let discrepancyBefore = 1;
  for (let n = 0; n < sums.length; n++) {
    let discrepancy = 0;
    for (let i = 0; i <= length; i++) {
      discrepancy = add(discrepancy, multiply(current[i] ?? 0, sums[n - i] ?? 0));
    }
    if (discrepancy === 0) {
      shift++;
      continue;
    }
    const factor = multiply(discrepancy, inverse(discrepancyBefore));
    const corrected = Array.from({ length: Math.max(current.length, previous.length + shift) }, (_, i) =>
      subtract(current[i] ?? 0, multiply(factor, previous[i - shift] ?? 0)),
    );
    if (2 * length <= n) {
      length = n + 1 - length;
      previous = current;
      discrepancyBefore = discrepancy;
      shift = 1;
    } else {
      shift++;
    }
    current = corrected;
  }
  return Array.from({ length: length + 1 }, (_, i) => current[i] ?? 0);
}

/** The value at `at` of the polynomial whose coefficients begin with the constant. */
function valueAt(coefficients: readonly number[], at: number): number {
  let value = 0;
  for (let n = coefficients.length - 1; n >= 0; n--) value = add(multiply(value, at), coefficients[n] ?? 0);
  return value;
}

/** Arithmetic in the field. */
export const add = (a: number, b: number) => (a + b >= prime ? a + b - prime : a + b);
const subtract = (a: number, b: number) => (a >= b ? a - b : a - b + prime);

// A product of two numbers of 31 bits is not exact in a double, so one of them is taken in two parts.
function multiply(a: number, b: number): number {
  return reduced(reduced(a * (b >>> 16)) * 65_536 + a * (b & 0xffff));
}

function reduced(value: number): number {
  const high = Math.floor(value / 2 ** 31);
  const sum = high + (value - high * 2 ** 31);
  return sum >= prime ? sum - prime : sum;
}

/** The inverse in the field, by Fermat's little theorem. */
function inverse(value: number): number {
  let result = 1;
  let square = value;
  for (let exponent = prime - 2; exponent > 0; exponent = Math.floor(exponent / 2)) {
    if (exponent % 2 === 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}
