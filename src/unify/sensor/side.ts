/** The record that one interface has of a sensor, null where it has none, or the failure of reading it. */
export type Side<R> = { readonly record: R | null } | { readonly failure: unknown };

/** The record; null where there is none or reading it failed. */
export function recordOrNull<R>(side: Side<R>): R | null {
  return 'record' in side ? side.record : null;
}

/** The record; null where there is none. @throws the failure of reading it */
export function recordOf<R>(side: Side<R>): R | null {
  if ('record' in side) return side.record;
  throw side.failure;
}

/** The result of a look-up or its failure; never rejects. */
export async function settled<R>(find: () => Promise<R | null>): Promise<Side<R>> {
  try {
    return { record: await find() };
  } catch (failure) {
    return { failure };
  }
}
