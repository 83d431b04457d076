/**
 * A function of a cached record whose result is made once for each record: records are frozen, and every operation that
 * reads one from the cache shares it. The result goes with the record.
 */
export function derived<Source extends object, T>(make: (record: Source) => T): (record: Source) => T {
  const made = new WeakMap<Source, { readonly value: T }>();
  return (record) => {
    let entry = made.get(record);
    if (!entry) {
      entry = { value: make(record) };
      made.set(record, entry);
    }
    return entry.value;
  };
}
