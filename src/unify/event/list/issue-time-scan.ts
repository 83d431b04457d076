import type { EventQuery } from '../../../upstream/project/client.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import { isLastPage, type Page, type Read } from '../../../upstream/read/read.js';
import { derived, mostPages } from '../../derived.js';
import { issuedMs } from '../merge.js';
import { textBound } from './time-bounds.js';

export interface IssueTimeScanOptions {
  /** Reads one page; a response read before `notBeforeMs` must not be used. */
  readonly read: (query: EventQuery, notBeforeMs: number) => Promise<Read<Page<WireEvent>>>;
  readonly order: 'asc' | 'desc';
  /** Bounds of the issue time, both inclusive, in Unix milliseconds; infinite without a bound. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly bbox?: readonly [number, number, number, number] | undefined;
  readonly minMagnitude?: number | undefined;
  readonly limit: number;
}

/**
 * Scans the project's list by issue time (docs/interfaces.md P4). Offsets shift as events are issued, so each page is
 * pinned to the issue time that the scan has reached (keyset page); offsets are used only within a moment that fills a
 * page by itself. Neighbouring pages overlap by up to two seconds: it is not documented if upstream compares all digits
 * of a time.
 */
export class IssueTimeScan {
  /** All events issued between the beginning of the scan and this time are known; infinite at its end. */
  reachedMs: number;
  isDone = false;
  /** Upstream's count of events within the bounds, from the first page; null when it gives none. */
  total: number | null = null;
  pages = 0;
  /** Read time of the last page, in Unix milliseconds. */
  readAtMs = Number.NEGATIVE_INFINITY;
  /** The pinned bound of each page, in scan order. */
  readonly pins: number[] = [];
  readonly #options: IssueTimeScanOptions;
  #fromMs: number;
  #toMs: number;
  #offset = 0;
  /** Last event of an offset page; the next page must repeat it. */
  #last: string | null = null;

  constructor(options: IssueTimeScanOptions) {
    this.#options = options;
    this.#fromMs = options.fromMs;
    this.#toMs = options.toMs;
    this.reachedMs = options.order === 'desc' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Reads the next page. */
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
    // Events issued between two offset pages shift the rest: an older response could miss some of them.
    const notBeforeMs = this.#offset > 0 ? this.readAtMs : Number.NEGATIVE_INFINITY;
    const answer = await this.#options.read(query, notBeforeMs);
    const { value: page, readAtMs } = answer;
    this.pages++;
    if (this.pins.length === 0) this.total = page.total;
    if (this.pins.at(-1) !== pin) this.pins.push(pin);
    this.readAtMs = readAtMs;
    this.#advance(page);
    return readsOf(answer);
  }

  #advance(page: Page<WireEvent>): void {
    const { order, limit } = this.#options;
    // An event that is issued again changes its position and shifts those behind it past the offset, so the moment is
    // read again.
    if (this.#last !== null && !page.items.some(({ id }) => id === this.#last)) {
      this.#continueAt(0, null);
      return;
    }
    const end = this.#offset + page.received;
    this.isDone = isLastPage(page, { offset: this.#offset, limit });
    if (this.isDone) {
      this.reachedMs = order === 'desc' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      return;
    }
    const last = page.items.at(-1)?.id ?? null;
    if (page.received > 1 && last !== null) this.#continueAt(end - 1, last);
    else this.#continueAt(end, null);
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
    this.#continueAt(0, null);
  }

  #continueAt(offset: number, last: string | null): void {
    this.#offset = offset;
    this.#last = last;
  }
}

const readsOf = derived(
  ({ value, readAtMs }: Read<Page<WireEvent>>): readonly Read<WireEvent>[] =>
    value.items.map((item) => ({ value: item, readAtMs })),
  mostPages,
);

/** Total of several scans; null when one of them has no count. */
export function totalOf(scans: readonly IssueTimeScan[]): number | null {
  return scans.reduce<number | null>(
    (sum, { total }) => (sum === null || total === null ? null : sum + total),
    0,
  );
}
