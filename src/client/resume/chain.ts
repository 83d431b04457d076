import { longestQueue } from '../connection/queue.js';
import type { Change } from './resumed.js';

/**
 * Puts changes from several sources into the one order that their cursors give: each is taken once, directly behind the
 * change before it, however often and in whatever order the sources have them.
 */
export class Chain {
  #at: string | null;
  readonly #ahead = new Map<string | null, Change>();

  constructor(at: string | null) {
    this.#at = at;
  }

  /** Cursor of the last change taken; null where none was, and the first to come is the next. */
  get at(): string | null {
    return this.#at;
  }

  /** Begins behind a cursor, where there was none. */
  begin(at: string | null): void {
    this.#at ??= at;
  }

  /**
   * The changes that are next, in order: none while one before it is missing. Where many wait they are given up: the source
   * that has the missing one has them as well.
   */
  take(change: Change): readonly Change[] {
    if (this.#ahead.size >= longestQueue) this.forget();
    this.#ahead.set(change.after, change);
    const taken: Change[] = [];
    for (let next = this.#next(); next; next = this.#next()) {
      this.#at = next.cursor;
      taken.push(next);
    }
    return taken;
  }

  /** Gives up the changes that wait for one before them. */
  forget(): void {
    this.#ahead.clear();
  }

  #next(): Change | undefined {
    const next = this.#ahead.get(this.#at);
    this.#ahead.delete(this.#at);
    return next;
  }
}
