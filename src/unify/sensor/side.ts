/** What one interface says of a sensor: its record, null where it has none, or why that is not known. */
export type Side<R> = { readonly record: R | null } | { readonly failure: unknown };

/** The record, where it is known. */
export function heldBy<R>(half: Side<R>): R | null {
  return 'record' in half ? half.record : null;
}

/** The record. @throws why it is not known */
export function recordOf<R>(half: Side<R>): R | null {
  if ('record' in half) return half.record;
  throw half.failure;
}

/** What a look-up finds, or why it failed; never rejects. */
export async function settled<R>(find: () => Promise<R | null>): Promise<Side<R>> {
  try {
    return { record: await find() };
  } catch (failure) {
    return { failure };
  }
}
