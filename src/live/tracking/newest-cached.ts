/** Reads through `values`, which holds the newest `most` entries. */
export function cached<K, V>(values: Map<K, V>, most: number, key: K, make: () => V): V {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  for (const oldest of values.keys()) {
    if (values.size <= most) break;
    values.delete(oldest);
  }
  return made;
}
