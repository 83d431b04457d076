import type { Slice } from './timeline.js';

/** The `count` records from `offset` on, and how many there are in all, of those that `keep` lets through. */
export function pageOf<T>(
  list: Slice<T>,
  offset: number,
  count: number,
  keep?: (record: T) => boolean,
): { records: T[]; total: number } {
  const records: T[] = [];
  if (!keep) {
    for (let index = offset; index < Math.min(list.length, offset + count); index++)
      records.push(list.at(index));
    return { records, total: list.length };
  }
  let total = 0;
  for (let index = 0; index < list.length; index++) {
    const record = list.at(index);
    if (!keep(record)) continue;
    if (total >= offset && records.length < count) records.push(record);
    total++;
  }
  return { records, total };
}

/** An array seen as a slice. */
export function sliceOf<T>(records: readonly T[]): Slice<T> {
  return { length: records.length, at: (index) => records[index] as T };
}
