import type { EventQuery } from '../../../upstream/project/client.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import { isLastPage, type Page, type Read } from '../../../upstream/read/read.js';
import { derived, mostPages } from '../../derived.js';
import { issuedMs } from '../merge.js';
import { textBound } from './time-bounds.js';

export interface IssueTimeScanOptions {
  /** An answer that was read before `notBeforeMs` will not do. */
  readonly read: (query: EventQuery, notBeforeMs: number) => Promise<Read<Page<WireEvent>>>;
  readonly order: 'asc' | 'desc';
  /** Issued at or after, at or before, in milliseconds; infinite for no bound. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly bbox?: readonly [number, number, number, number] | undefined;
  readonly minMagnitude?: number | undefined;
  readonly limit: number;
}

/**
 * Walks the project's list by issue time (docs/interfaces.md P4). An offset counts from an end that moves as events are issued,
 * so each page is pinned to the issue time that the walk has reached; offsets are used only within one moment that fills
 * a page by itself. Neighbouring pages overlap by up to two seconds: whether upstream compares all digits of a time
 * that it wrote is not shown.
 */
export class IssueTimeScan {
  /** All issued beyond this, from the end where the walk began, is known. Infinite at the end of the walk. */
  reachedMs: number;
  isDone = false;
  /** Of the first page: how many events lie within the bounds; null where upstream did not say. */
  total: number | null = null;
  /** How many pages have been read. */
  pages = 0;
  /** When the last page was read. */
  readAtMs = Number.NEGATIVE_INFINITY;
  /** The bound that each page was pinned to, in the order of the walk. */
  readonly pins: number[] = [];
  readonly #options: IssueTimeScanOptions;
  #fromMs: number;
  #toMs: number;
  #offset = 0;
  /** The event that the next page has to show again, where it is cut by an offset. */
  #last: string | null = null;

  constructor(options: IssueTimeScanOptions) {
    this.#options = options;
    this.#fromMs = options.fromMs;
    this.#toMs = options.toMs;
    this.reachedMs = options.order === 'desc' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Reads one page. */
  async next(): Promise<readonly Read<WireEvent>[]> {
    const { order, limit, bbox, minMagnitude } = this.#options;
    const pin = order === 'desc' ? this.#toMs : this.#fromMs;
    const query: EventQuery = {
      order,
      limit,
      offset: this.#offset,
      from: textBound(this.#fromMs),
      to: textBound(this.#toMs),
      bbox,
      minMagnitude,
    };
    // What has been issued between two pages moves the rest on: of an older page, some would be in neither.
    const notBeforeMs = this.#offset > 0 ? this.readAtMs : Number.NEGATIVE_INFINITY;
    const answer = await this.#options.read(query, notBeforeMs);
    const { value: page, readAtMs } = answer;
    this.pages++;
    if (this.pins.length === 0) this.total = page.total;
    if (this.pins.at(-1) !== pin) this.pins.push(pin);
    this.readAtMs = readAtMs;
    this.#moveOn(page);
    return readsOf(answer);
  }

  #moveOn(page: Page<WireEvent>): void {
    const { order, limit } = this.#options;
    // One that is issued again leaves its place, and those behind it move up, past the offset.
    if (this.#last !== null && !page.items.some(({ id }) => id === this.#last)) {
      this.#cutAt(0, null);
      return;
    }
    const end = this.#offset + page.received;
    this.isDone = isLastPage(page, { offset: this.#offset, limit });
    if (this.isDone) {
      this.reachedMs = order === 'desc' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      return;
    }
    const last = page.items.at(-1)?.id ?? null;
    if (page.received > 1 && last !== null) this.#cutAt(end - 1, last);
    else this.#cutAt(end, null);
    const issues = page.items.map(issuedMs).filter((ms) => ms !== null);
    const reachedMs = issues.at(-1);
    if (reachedMs === undefined) return;
    this.reachedMs = reachedMs;
    if (order === 'desc') {
      const pin = (Math.floor(reachedMs / 1000) + 2) * 1000;
      if (pin >= this.#toMs) return;
      this.#toMs = pin;
    } else {
      const pin = (Math.floor(reachedMs / 1000) - 1) * 1000;
      if (pin <= this.#fromMs) return;
      this.#fromMs = pin;
    }
    this.#cutAt(0, null);
  }

  #cutAt(offset: number, last: string | null): void {
    this.#offset = offset;
    this.#last = last;
  }
}

const readsOf = derived(
  ({ value, readAtMs }: Read<Page<WireEvent>>): readonly Read<WireEvent>[] =>
    value.items.map((item) => ({ value: item, readAtMs })),
  mostPages,
);

/** How many events all of them have together; null while one does not say. */
export function totalOf(walks: readonly IssueTimeScan[]): number | null {
  return walks.reduce<number | null>(
    (sum, { total }) => (sum === null || total === null ? null : sum + total),
    0,
  );
}
