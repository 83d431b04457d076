/**
 * Reads a list of records in the order of a time of theirs. The order is kept until a record is added, removed,
 * exchanged or has its time edited, so that a list of 200,000 is sorted once and not per request.
 */
export function timelines<T extends object>(
  timeOf: (record: T) => string,
  msOf: (text: string) => number,
  idOf: (record: T) => string | number,
): (records: readonly T[]) => Timeline<T> {
  const kept = new WeakMap<readonly T[], { seen: T[]; times: string[]; timeline: Timeline<T> }>();
  return (records) => {
    const known = kept.get(records);
    if (known && isUnchanged(records, known.seen, known.times, timeOf)) return known.timeline;
    const seen = records.slice();
    const times = seen.map(timeOf);
    const rows = seen.map((record, index) => ({
      record,
      ms: msOf(times[index] as string),
      id: idOf(record),
    }));
    rows.sort((a, b) => a.ms - b.ms || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const timeline = new Timeline(
      rows.map((row) => row.record),
      Float64Array.from(rows, (row) => row.ms),
    );
    kept.set(records, { seen, times, timeline });
    return timeline;
  };
}

/** Records, oldest first. */
export class Timeline<T> {
  readonly #records: readonly T[];
  readonly #ms: Float64Array;

  constructor(records: readonly T[], ms: Float64Array) {
    this.#records = records;
    this.#ms = ms;
  }

  /** Records at or after `fromMs` and at or before `toMs`, in either order. */
  between(fromMs: number | undefined, toMs: number | undefined, order: 'asc' | 'desc'): Slice<T> {
    const low = fromMs === undefined ? 0 : this.#firstIndex((ms) => ms >= fromMs);
    const high = toMs === undefined ? this.#records.length : this.#firstIndex((ms) => ms > toMs);
    const records = this.#records;
    const length = Math.max(0, high - low);
    return {
      length,
      at: (index) => records[order === 'asc' ? low + index : low + length - 1 - index] as T,
    };
  }

  #firstIndex(holds: (ms: number) => boolean): number {
    let low = 0;
    let high = this.#ms.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.#ms[middle] as number)) high = middle;
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

function isUnchanged<T>(records: readonly T[], seen: T[], times: string[], timeOf: (record: T) => string) {
  if (records.length !== seen.length) return false;
  return seen.every((record, index) => record === records[index] && timeOf(record) === times[index]);
}
