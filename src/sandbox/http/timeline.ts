import { instantOf } from '../time.js';
import { sortedViews } from './sorted.js';

/** Reads lists of records by a time of theirs; equal times go by id. Sorted once, until a list is edited. */
export function timelines<T extends object>(
  timeOf: (record: T) => string,
  idOf: (record: T) => string | number,
): (records: readonly T[]) => Timeline<T> {
  const msOf = instants(timeOf);
  const sorted = sortedViews(timeOf, msOf, idOf);
  return (records) => new Timeline(sorted(records), msOf);
}

/** Milliseconds since 1970 of a time of a record, read once as long as the text is the same. */
export function instants<T extends object>(timeOf: (record: T) => string): (record: T) => number {
  const cached = new WeakMap<T, { text: string; ms: number }>();
  return (record) => {
    const text = timeOf(record);
    const known = cached.get(record);
    if (known?.text === text) return known.ms;
    const ms = instantOf(text) ?? Number.NaN;
    cached.set(record, { text, ms });
    return ms;
  };
}

/** Records, oldest first. */
export class Timeline<T> {
  readonly #records: readonly T[];
  readonly #msOf: (record: T) => number;

  constructor(records: readonly T[], msOf: (record: T) => number) {
    this.#records = records;
    this.#msOf = msOf;
  }

  /** Records at or after `fromMs` and at or before `toMs`, in either order. */
  between(fromMs: number | undefined, toMs: number | undefined, order: 'asc' | 'desc'): Slice<T> {
    const records = this.#records;
    const low = fromMs === undefined ? 0 : this.#firstIndex((ms) => ms >= fromMs);
    const high = toMs === undefined ? records.length : this.#firstIndex((ms) => ms > toMs);
    const length = Math.max(0, high - low);
    return {
      length,
      at: (index) => records[order === 'asc' ? low + index : low + length - 1 - index] as T,
    };
  }

  #firstIndex(holds: (ms: number) => boolean): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.#msOf(this.#records[middle] as T))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** A list that is not copied: `at` takes 0 to `length` − 1. */
export interface Slice<T> {
  readonly length: number;
  at(index: number): T;
}
