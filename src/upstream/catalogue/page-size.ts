import { BadUserInput } from '../../errors.js';

// Tried in this order where a page of the requested size is refused.
const sizes = [100, 50, 20, 10];

/**
 * Finds the largest page of one list, which upstream does not document (docs/interfaces.md C8): it may answer with a
 * shorter one, and say so in `pagination.limit`, or refuse the size with 400. Then a smaller one is requested, now and
 * from then on.
 */
export class PageSize {
  #largest = Number.POSITIVE_INFINITY;

  async page<Query extends { readonly limit: number }, T>(
    query: Query,
    read: (query: Query) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const limit = Math.min(query.limit, this.#largest);
      try {
        return await read({ ...query, limit });
      } catch (error) {
        const smaller = sizes.find((size) => size < limit);
        if (smaller === undefined || !isAboutSize(error, limit)) throw error;
        this.#largest = Math.min(this.#largest, smaller);
      }
    }
  }
}

/**
 * True where the message names the parameter, or may mean it: no list is known to permit more than 100
 * (docs/interfaces.md C8).
 */
function isAboutSize(error: unknown, limit: number): boolean {
  return (
    error instanceof BadUserInput &&
    (error.argument === 'first' || (error.argument === undefined && limit > 100))
  );
}
