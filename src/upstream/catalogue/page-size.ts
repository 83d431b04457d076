import { BadUserInput } from '../../errors.js';
import { smallerPages } from '../page-sizes.js';

/**
 * Finds the largest page of one list, which upstream does not document (docs/interfaces.md C8): it may answer with a
 * shorter one, and say so in `pagination.limit`, or refuse the size with 400. Then a smaller one is requested, now and
 * from then on.
 */
export class PageSize {
  /** The largest page that upstream is known to grant, where it has refused a larger one. */
  largest = Number.POSITIVE_INFINITY;

  async page<Query extends { readonly page: number; readonly limit: number }, T>(
    query: Query,
    read: (query: Query) => Promise<T>,
  ): Promise<T> {
    let limit = Math.min(query.limit, this.largest);
    for (;;) {
      try {
        const page = await read({ ...query, limit });
        if (limit < query.limit) this.largest = Math.min(this.largest, limit);
        return page;
      } catch (error) {
        const smaller = smallerPages.find((size) => size < limit);
        // Behind the first page another size would shift the pages of the list.
        if (smaller === undefined || query.page > 1 || !mayBeAboutSize(error)) throw error;
        limit = smaller;
      }
    }
  }
}

/** True where the message names the parameter, or no parameter at all. */
function mayBeAboutSize(error: unknown): boolean {
  return error instanceof BadUserInput && (error.argument === 'first' || error.argument === undefined);
}
