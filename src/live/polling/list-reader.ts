import { Instant } from '../../unify/time/instant.js';
import { atOrAfter, atOrBefore } from '../../unify/time/millisecond.js';
import { isLastPage, type Page, type Read, type ReadScope } from '../../upstream/read/read.js';

/** How a feed reads its records, whichever interface they come from. */
export interface ListReader<Rec> {
  /** The newest, as many as come cheaply. */
  newest(scope: ReadScope): Promise<Newest<Rec>>;
  /**
   * All from `from` (null: from the first) up to `to` (null: to the newest), both inclusive, page by page. What arrives
   * meanwhile neither hides nor loses another; a record can come twice.
   */
  pages(range: Range, scope: ReadScope): AsyncGenerator<readonly Rec[]>;
  /** One record as it is now; null when it is gone. */
  again(record: Rec, scope: ReadScope): Promise<Rec | null>;
  /** Most records that one request gives. */
  readonly pageSize: number;
}

export interface Newest<Rec> {
  readonly records: readonly Rec[];
  /** All of this time or later are among them; −Infinity when there are no others at all. */
  readonly coversFromMs: number;
}

export interface Range {
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** A list of the project interface: ordered by a time, paged by offset (docs/interfaces.md P4). */
export interface TimedList<Wire, Rec> {
  read(query: ListQuery, scope: ReadScope): Promise<Read<Page<Wire>>>;
  /** Those of a page that can be read. */
  recordsOf(page: Read<Page<Wire>>): readonly Rec[];
  timeOf(record: Rec): Instant;
  idOf(record: Rec): string;
  again(record: Rec, scope: ReadScope): Promise<Rec | null>;
}

export interface ListQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

// docs/interfaces.md P8.
const largestPage = 500;

export function listReader<Wire, Rec>(list: TimedList<Wire, Rec>): ListReader<Rec> {
  return {
    pageSize: largestPage,
    again: (record, scope) => list.again(record, scope),
    async newest(scope) {
      const query = { order: 'desc', limit: largestPage, offset: 0 } as const;
      const page = await list.read(query, scope);
      const records = list.recordsOf(page);
      if (isLastPage(page.value, query)) return { records, coversFromMs: Number.NEGATIVE_INFINITY };
      // The last of a full page may have companions of the same moment behind it.
      return { records, coversFromMs: Math.min(...records.map((record) => list.timeOf(record).ms)) + 0.001 };
    },
    pages: (range, scope) => walk(list, range, scope),
  };
}

/**
 * Oldest first. An offset counts rows that come and go; so each page but the first begins at the time where the last
 * one ended, and an offset is used only to get through one moment in which more rows lie than a page holds.
 */
async function* walk<Wire, Rec>(
  list: TimedList<Wire, Rec>,
  { from, to }: Range,
  scope: ReadScope,
): AsyncGenerator<readonly Rec[]> {
  const seen = new Set<string>();
  let start = from;
  let offset = 0;
  for (;;) {
    const query: ListQuery = {
      ...(start && { from: atOrBefore(start) }),
      ...(to && { to: atOrAfter(to) }),
      order: 'asc',
      limit: largestPage,
      offset,
    };
    const page = await list.read(query, scope);
    const records = list.recordsOf(page);
    const fresh = records.filter((record) => !seen.has(list.idOf(record)));
    for (const record of fresh) seen.add(list.idOf(record));
    yield fresh;
    if (isLastPage(page.value, query)) return;
    const end = latest(records.map((record) => list.timeOf(record)));
    const isStuck = !end || (start !== null && end.compare(start) <= 0);
    // An upstream that ignores the offset would give the same page for ever.
    if (isStuck && fresh.length === 0 && offset > 0) return;
    offset = isStuck ? offset + page.value.received : 0;
    if (!isStuck) start = end;
  }
}

function latest(times: readonly Instant[]): Instant | null {
  return times.reduce<Instant | null>((a, b) => (a && a.compare(b) >= 0 ? a : b), null);
}

/** An instant no later than `ms`; null for one before everything. */
export function instantAt(ms: number): Instant | null {
  return Number.isFinite(ms) ? Instant.fromMs(Math.floor(ms)) : null;
}
