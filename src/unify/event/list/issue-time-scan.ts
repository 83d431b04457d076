import { type ForwardMs, floorTo, forever, latest, longAgo, plus, type UnixMs } from '../../../clock.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { EventQuery } from '../../../upstream/project/client.js';
import { KeysetPage } from '../../../upstream/project/keyset-page.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import { isLastPage, type Page, type Read, readsIn } from '../../../upstream/read/read.js';
import { derived, mostPages } from '../../derived.js';
import { textBound } from '../../time/wire-time.js';
import { issuedMs } from '../merge.js';
import { projectSolution } from '../solution.js';

export interface IssueTimeScanOptions {
  /** Reads one page; a response read before `notBeforeMs` must not be used. */
  readonly read: (query: EventQuery, notBeforeMs: ForwardMs) => Promise<Read<Page<WireEvent>>>;
  readonly order: 'asc' | 'desc';
  /** Bounds of the issue time, both inclusive, in Unix milliseconds; infinite without a bound. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  readonly bbox?: readonly [number, number, number, number] | undefined;
  readonly minMagnitude?: number | undefined;
}

/** A record with its times, since a page deep in the list compares the times of all records before it. */
export interface TimedRecord extends Read<WireEvent> {
  /** Issue time of its latest solution; null when it has none. */
  readonly issuedMs: UnixMs | null;
  /** Origin time; without an origin the issue time stands in for it. */
  readonly originMs: UnixMs;
}

/**
 * Scans the project's list by issue time (docs/interfaces.md P4), page by page as `KeysetPage` decides. Neighbouring
 * pages overlap by up to two seconds: it is not documented if upstream compares all digits of a time.
 */
export class IssueTimeScan {
  /** All events issued between the beginning of the scan and this time are known; infinite at its end. */
  reachedMs: UnixMs;
  isDone = false;
  /** Upstream's count of events within the bounds, from the first page; null when it gives none. */
  total: number | null = null;
  pages = 0;
  /** How often a moment had to be read again. */
  restarts = 0;
  /** Read time of the last page. */
  readAtMs: ForwardMs = longAgo;
  /** The pinned bound of each page, in scan order. */
  readonly pins: UnixMs[] = [];
  readonly #options: IssueTimeScanOptions;
  readonly #next: KeysetPage;
  /** Last event of an offset page; the next page must repeat it. */
  #last: string | null = null;
  /** No older response is used, cached or not. */
  #notBeforeMs: ForwardMs = longAgo;

  constructor(options: IssueTimeScanOptions) {
    const { order, fromMs, toMs } = options;
    this.#options = options;
    this.#next = new KeysetPage(order, order === 'desc' ? toMs : fromMs);
    this.reachedMs = order === 'desc' ? forever : longAgo;
  }

  /** Reads the next page. */
  async next(): Promise<readonly TimedRecord[]> {
    const { order, bbox, minMagnitude } = this.#options;
    const { pinMs, offset } = this.#next;
    const query: EventQuery = {
      order,
      limit: largestPage.project,
      offset,
      from: textBound(order === 'asc' ? pinMs : this.#options.fromMs),
      to: textBound(order === 'desc' ? pinMs : this.#options.toMs),
      bbox,
      minMagnitude,
    };
    // Events issued between two offset pages shift the rest: an older response could miss some of them.
    if (offset > 0) this.#notBeforeMs = latest(this.#notBeforeMs, this.readAtMs);
    const answer = await this.#options.read(query, this.#notBeforeMs);
    const { value: page, readAtMs } = answer;
    this.pages++;
    if (this.pins.length === 0) this.total = page.total;
    if (this.pins.at(-1) !== pinMs) this.pins.push(pinMs);
    this.readAtMs = readAtMs;
    const records = recordsOf(answer);
    this.#advance(page, records);
    return records;
  }

  #advance(page: Page<WireEvent>, records: readonly TimedRecord[]): void {
    const { order } = this.#options;
    // An event that is issued again changes its position and shifts those behind it past the offset, so the moment is
    // read again: upstream's responses from now on, since cached ones would be the same without end.
    if (this.#last !== null && !page.items.some(({ id }) => id === this.#last)) {
      this.#last = null;
      this.restarts++;
      this.#notBeforeMs = plus(this.readAtMs, 1);
      this.#next.restart();
      return;
    }
    this.isDone = isLastPage(page, { offset: this.#next.offset, limit: largestPage.project });
    if (this.isDone) {
      this.reachedMs = order === 'desc' ? longAgo : forever;
      return;
    }
    const reachedMs = records.findLast((record) => record.issuedMs !== null)?.issuedMs ?? null;
    if (reachedMs !== null) this.reachedMs = reachedMs;
    const last = page.received > 1 ? (page.items.at(-1)?.id ?? null) : null;
    const isFurther = this.#next.advance(
      reachedMs === null ? null : plus(floorTo(1000, reachedMs), order === 'desc' ? 2000 : -1000),
      last === null ? page.received : page.received - 1,
    );
    this.#last = isFurther ? null : last;
  }
}

const recordsOf = derived(
  (page: Read<Page<WireEvent>>): readonly TimedRecord[] => readsIn(page).map(timed),
  mostPages,
);

function timed({ value, readAtMs }: Read<WireEvent>): TimedRecord {
  const issued = issuedMs(value);
  return {
    value,
    readAtMs,
    issuedMs: issued,
    originMs: projectSolution(value)?.originTime.ms ?? issued ?? longAgo,
  };
}

/** Total of several scans; null when one of them has no count. */
export function totalOf(scans: readonly IssueTimeScan[]): number | null {
  return scans.reduce<number | null>(
    (sum, { total }) => (sum === null || total === null ? null : sum + total),
    0,
  );
}
