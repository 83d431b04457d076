/**
 * Memoises a function of a cached record: records are frozen, and every operation that reads one from the cache shares
 * it. The result, which is never undefined, is evicted with the record, or after `atMost` results of other records have
 * been used since: values derived from 100,000 earthquakes take more memory than the records themselves.
 */
export function derived<Source extends object, T extends NonNullable<unknown> | null>(
  make: (record: Source) => T,
  atMost = mostRecords,
): (record: Source) => T {
  const made = new RecentlyUsed<Source, T>(atMost);
  return (record) => {
    const known = made.get(record);
    if (known !== undefined) return known;
    const value = make(record);
    made.set(record, value);
    return value;
  };
}

// Every sensor of a large network.
const mostRecords = 10_000;

/** The bound for values derived from events: a page of 500 of each of some ten lists. */
export const mostEvents = 5_000;

/** The bound for values derived from a page rather than from a record. */
export const mostPages = 400;

/**
 * A cache with weak keys that evicts values not used recently. It has two generations, and the older one is dropped
 * when the younger is full: an LRU cache would have to iterate over its keys, which a WeakMap does not allow.
 */
export class RecentlyUsed<Key extends object, Value extends NonNullable<unknown> | null> {
  readonly #perGeneration: number;
  #younger = new WeakMap<Key, Value>();
  #older = new WeakMap<Key, Value>();
  #count = 0;

  constructor(perGeneration = mostRecords) {
    this.#perGeneration = perGeneration;
  }

  get(key: Key): Value | undefined {
    const young = this.#younger.get(key);
    if (young !== undefined) return young;
    const old = this.#older.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#count === this.#perGeneration) {
      this.#older = this.#younger;
      this.#younger = new WeakMap();
      this.#count = 0;
    }
    this.#younger.set(key, value);
    this.#count++;
  }
}
