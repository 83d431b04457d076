/** A value or a promise of it. A value in memory is used at once, without waiting for the microtask queue. */
export type Maybe<T> = T | Promise<T>;

export function whenKnown<T, R>(value: Maybe<T>, use: (value: T) => Maybe<R>): Maybe<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** The caller starts both reads before this awaits either, so they run concurrently. */
export function whenBoth<A, B, R>(one: Maybe<A>, other: Maybe<B>, use: (one: A, other: B) => R): Maybe<R> {
  if (!(one instanceof Promise) && !(other instanceof Promise)) return use(one, other);
  return Promise.all([one, other]).then(([first, second]) => use(first, second));
}

/** Always a promise: a synchronous throw of `compute` becomes a rejection. */
export async function promised<T>(compute: () => Maybe<T>): Promise<T> {
  return compute();
}
