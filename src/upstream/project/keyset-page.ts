import { forever, longAgo, type UnixMs } from '../../clock.js';
/**
 * The position at which the next page begins, in a list that upstream orders by a time and pages by offset (docs/interfaces.md P4).
 * Offsets shift as records arrive or leave, so each page is pinned to the time that the one before has reached; an
 * offset is used only within a time that fills a page by itself.
 */
export class KeysetPage {
  /** The time at which the page begins, in Unix milliseconds; infinite at an open end of the list. */
  pinMs: UnixMs;
  offset = 0;
  readonly #order: 'asc' | 'desc';

  constructor(order: 'asc' | 'desc', pinMs: UnixMs | null) {
    this.#order = order;
    this.pinMs = pinMs ?? (order === 'asc' ? longAgo : forever);
  }

  /**
   * Moves on after a page.
   * @param reachedMs the time from which everything is still to be read; null where the page shows none
   * @param received records of the page, to be skipped where it did not get beyond its own beginning
   * @returns true where the next page begins at a later time in the order of the list
   */
  advance(reachedMs: UnixMs | null, received: number): boolean {
    const isFurther =
      reachedMs !== null && (this.#order === 'asc' ? reachedMs > this.pinMs : reachedMs < this.pinMs);
    this.offset = isFurther ? 0 : this.offset + received;
    if (isFurther) this.pinMs = reachedMs;
    return isFurther;
  }

  /** The same time again, from its first record. */
  restart(): void {
    this.offset = 0;
  }
}
