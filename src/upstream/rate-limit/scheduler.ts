import type { Priority } from '../read/read.js';
import { reservedShare } from './reservation.js';

type Waiting = Readonly<Record<Priority, number>>;

// docs/behaviour.md 5.2: a feed gets at least a fifth of the budget, which is one request after four of others.
const othersPerFeed = 1 / reservedShare - 1;
// Background requests revalidate stale responses that clients are shown at once. Under a load that leaves background
// nothing, stale responses would grow an hour old for all clients, in favour of reads that nobody has cached.
const othersPerOverdue = 9;

/**
 * Picks the next priority (docs/behaviour.md 5.2): queries before feeds before background; but a feed at the latest
 * after four others, or when its reservation is due, so that neither starves the other, and background after nine, so
 * that stale responses are revalidated under load.
 */
export class Scheduler {
  #sinceFeed = 0;
  #sinceBackground = 0;

  next({ query, feed, background }: Waiting, isFeedOwed: boolean): Priority | undefined {
    if (feed > 0 && (isFeedOwed || this.#sinceFeed >= othersPerFeed || query === 0)) return 'feed';
    if (background > 0 && this.isOverdue) return 'background';
    if (query > 0) return 'query';
    return background > 0 ? 'background' : undefined;
  }

  /** Background requests have waited for enough others. */
  get isOverdue(): boolean {
    return this.#sinceBackground >= othersPerOverdue;
  }

  /** @returns undoes it, where nothing was sent after all */
  served(priority: Priority, { background }: Waiting): () => void {
    const isFeed = priority === 'feed';
    const restarts = priority === 'background' || background === 0;
    const before = { feed: this.#sinceFeed, background: this.#sinceBackground };
    this.#sinceFeed = isFeed ? 0 : this.#sinceFeed + 1;
    this.#sinceBackground = restarts ? 0 : this.#sinceBackground + 1;
    return () => {
      this.#sinceFeed = isFeed ? this.#sinceFeed + before.feed : Math.max(0, this.#sinceFeed - 1);
      this.#sinceBackground = restarts
        ? this.#sinceBackground + before.background
        : Math.max(0, this.#sinceBackground - 1);
    };
  }

  /** Number of requests served before one with `own` ahead of it in its own queue. */
  ahead(priority: Priority, own: number, { query, feed, background }: Waiting): number {
    if (priority === 'background') return own + query + feed;
    const overdue = Math.min(background, Math.floor((own + this.#sinceBackground) / othersPerOverdue));
    if (priority === 'query') {
      return (
        own +
        overdue +
        Math.min(feed, Math.max(0, Math.floor((own + 1 + this.#sinceFeed) / othersPerFeed) - 1))
      );
    }
    const queries = Math.max(0, (own + 1) * othersPerFeed - this.#sinceFeed);
    return own + Math.min(query + overdue, queries);
  }
}
