import type { Page, Read } from './read.js';

/** How the records of a list are placed in it and replaced. */
export interface Placing<T> {
  /** The time by which the list selects its records, in Unix milliseconds; not a number where it cannot be read. */
  msOf(record: T): number;
  /** True for a time that belongs to this page and to no other of the list. */
  covers(ms: number): boolean;
  /** True where `read` takes the place of the record of its id that the page lists. */
  replaces(read: Read<T>, listed: Read<T>): boolean;
}

/**
 * The page with these records, added at the end, in place of older ones of their ids. The counts stay those of the
 * response, by which paging continues. The page itself where nothing changes; null where the time of a record cannot be read.
 */
export function withRecords<T extends { readonly id: string }, P extends Page<T>>(
  { value: page, readAtMs }: Read<P>,
  records: readonly Read<T>[],
  { msOf, covers, replaces }: Placing<T>,
): P | null {
  const items = new Map(page.items.map((item) => [item.id, item]));
  const readLater = new Map(page.readLater);
  let isSame = true;
  for (const read of records) {
    const { value } = read;
    const ms = msOf(value);
    if (Number.isNaN(ms)) return null;
    const listed = items.get(value.id);
    if (listed && !replaces(read, { value: listed, readAtMs: readLater.get(listed) ?? readAtMs })) continue;
    const isAdded = covers(ms);
    if (!isAdded && !listed) continue;
    isSame = false;
    items.delete(value.id);
    if (!isAdded) continue;
    items.set(value.id, value);
    readLater.set(value, read.readAtMs);
  }
  return isSame ? page : { ...page, items: [...items.values()], readLater };
}
