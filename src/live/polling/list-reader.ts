import { earliest, floorTo, longAgo, plus, type UnixMs } from '../../clock.js';
import { Instant } from '../../unify/time/instant.js';
import { atOrAfter, atOrBefore } from '../../unify/time/millisecond.js';
import { largestPage } from '../../upstream/page-sizes.js';
import { isLastPage, type Page, type Read, type ReadScope } from '../../upstream/read/read.js';

/** The longest time between upstream composing an answer and its arrival. */
export const longestReadMs = 10_000;

/** Reads the records of a feed from either interface. */
export interface ListReader<Rec> {
  /** The newest records, as many as one cheap read gives. */
  newest(scope: ReadScope): Promise<Newest<Rec>>;
  /**
   * All records from `from` (null: from the first) up to `to` (null: to the newest), both inclusive, page by page.
   * Records that arrive meanwhile never cause another to be skipped; a record can appear twice.
   */
  pages(range: Range, scope: ReadScope): AsyncGenerator<ListedPage<Rec>>;
  /** One record as it is now. */
  again(record: Rec, scope: ReadScope): Promise<Rec | Absence>;
  /** True while records that `newest` should have had could not be read. */
  readonly isPartial?: boolean;
  /** Maximum number of records per request. */
  readonly pageSize: number;
}

/** Why there is no record: it is gone, or what upstream sent of it cannot be read (docs/behaviour.md 5.12). */
export type Absence = 'gone' | 'unreadable';

export interface ListedPage<Rec> {
  readonly records: readonly Rec[];
  /** Names of the listed records that cannot be read: the id of each, or another name where that cannot be read either. */
  readonly unreadable: readonly string[];
}

export interface Newest<Rec> {
  readonly records: readonly Rec[];
  /** `records` contains all of this time or later; −Infinity when it contains all there are. */
  readonly completeFromMs: UnixMs;
}

export interface Range {
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** A list of the project interface: ordered by a time, paged by offset (docs/interfaces.md P4). */
export interface TimedList<Wire, Rec> {
  read(query: ListQuery, scope: ReadScope): Promise<Read<Page<Wire>>>;
  /** The decodable records of a page. */
  recordsOf(page: Read<Page<Wire>>): readonly Rec[];
  timeOf(record: Rec): Instant;
  idOf(record: Rec): string;
  again(record: Rec, scope: ReadScope): Promise<Rec | Absence>;
}

export interface ListQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

export function listReader<Wire, Rec>(list: TimedList<Wire, Rec>): ListReader<Rec> {
  return {
    pageSize: largestPage.project,
    again: (record, scope) => list.again(record, scope),
    async newest(scope) {
      const query = { order: 'desc', limit: largestPage.project, offset: 0 } as const;
      const page = await list.read(query, scope);
      const records = list.recordsOf(page);
      if (isLastPage(page.value, query)) return { records, completeFromMs: longAgo };
      // The next page may contain records with the same time as the last of a full page.
      return {
        records,
        completeFromMs: plus(earliest(...records.map((record) => list.timeOf(record).ms)), 0.001),
      };
    },
    pages: (range, scope) => readPages(list, range, scope),
  };
}

/**
 * Oldest first. Offsets shift when rows are added or removed, so each page begins at the time where the previous one
 * ended, and an offset is used only within one instant that has more rows than a page.
 */
async function* readPages<Wire, Rec>(
  list: TimedList<Wire, Rec>,
  { from, to }: Range,
  scope: ReadScope,
): AsyncGenerator<ListedPage<Rec>> {
  const seen = new Set<string>();
  let start = from;
  let offset = 0;
  for (;;) {
    const query: ListQuery = {
      ...(start && { from: atOrBefore(start) }),
      ...(to && { to: atOrAfter(to) }),
      order: 'asc',
      limit: largestPage.project,
      offset,
    };
    const page = await list.read(query, scope);
    const records = list.recordsOf(page);
    const fresh = records.filter((record) => !seen.has(list.idOf(record)));
    for (const record of fresh) seen.add(list.idOf(record));
    yield { records: fresh, unreadable: page.value.unreadable ?? [] };
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

/** An instant no later than `ms`; null when that is not finite. */
export function instantAt(ms: UnixMs): Instant | null {
  return Number.isFinite(ms) ? Instant.fromMs(floorTo(1, ms)) : null;
}
