import { longestQueue } from '../connection/queue.js';
import type { Change } from './resumed.js';

/**
 * What two cursors have in common behind the same change, of whichever instance: the part before the point, or all of it
 * where there is none.
 */
export function positionOf(cursor: string | null): string | null {
  return cursor?.split('.', 1)[0] ?? null;
}

/**
 * Puts changes from several sources into the one order that their cursors give: each is taken once, directly behind the
 * change before it, however often and in whatever order the sources have them.
 */
export class Chain {
  #at: string | null;
  /** By the position that they follow. */
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
    this.#ahead.set(positionOf(change.after), change);
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
    const position = positionOf(this.#at);
    const next = this.#ahead.get(position);
    this.#ahead.delete(position);
    return next;
  }
}
