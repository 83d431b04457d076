/** A value that is at hand, or a promise of it: what is in memory is read without a turn of the microtask queue. */
export type Maybe<T> = T | Promise<T>;

export function whenKnown<T, R>(value: Maybe<T>, use: (value: T) => Maybe<R>): Maybe<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Both are begun before either is waited for. */
export function whenBoth<A, B, R>(one: Maybe<A>, other: Maybe<B>, use: (one: A, other: B) => R): Maybe<R> {
  if (!(one instanceof Promise) && !(other instanceof Promise)) return use(one, other);
  return Promise.all([one, other]).then(([first, second]) => use(first, second));
}

/** A promise of it in any case: what a computation throws at once is its rejection. */
export async function promised<T>(compute: () => Maybe<T>): Promise<T> {
  return compute();
}
