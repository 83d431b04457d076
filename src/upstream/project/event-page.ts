import { readTime, unixMsOf } from '../decode/time.js';
import { withRecords } from '../read/added-records.js';
import { isLastPage, type Page, type Read } from '../read/read.js';
import type { EventQuery } from './client.js';
import type { WireEvent } from './wire.js';

/**
 * Adds events that a feed has delivered since the page was requested, as upstream would answer now. Conditions on place
 * and magnitude are not tested: callers test them on merged values. Null where an issue time cannot be read (docs/behaviour.md 5.7).
 */
export function withDelivered(
  page: Read<Page<WireEvent>>,
  query: EventQuery,
  delivered: readonly Read<WireEvent>[],
): Page<WireEvent> | null {
  const covers = coverageOf(page.value, query);
  const taken = covers && withRecords(page, delivered, { msOf: issuedMs, covers, replaces });
  if (!taken || taken === page.value) return taken;
  const sign = query.order === 'asc' ? 1 : -1;
  const inOrder = taken.items
    .map((item) => ({ item, ms: issuedMs(item) }))
    .sort((a, b) => sign * (a.ms - b.ms));
  return { ...taken, items: inOrder.map(({ item }) => item) };
}

/**
 * Returns the test for issue times that belong to this page and to no other of the list; null where an issue time of the
 * page cannot be read.
 */
function coverageOf(page: Page<WireEvent>, query: EventQuery): ((ms: number) => boolean) | null {
  const times = page.items.map(issuedMs);
  if (times.some(Number.isNaN)) return null;
  const fromMs = query.from === undefined ? -Infinity : Date.parse(query.from);
  const toMs = query.to === undefined ? Infinity : Date.parse(query.to);
  const sign = query.order === 'asc' ? 1 : -1;
  const first = query.offset > 0 ? times[0] : undefined;
  const last = isLastPage(page, query) ? undefined : times.at(-1);
  return (ms) =>
    ms >= fromMs &&
    ms <= toMs &&
    (first === undefined || sign * (ms - first) >= 0) &&
    (last === undefined || sign * (last - ms) >= 0);
}

/** A later solution does, or the same one as it was later. */
function replaces(read: Read<WireEvent>, listed: Read<WireEvent>): boolean {
  const laterMs = issuedMs(read.value) - issuedMs(listed.value);
  return laterMs > 0 || (laterMs === 0 && listed.readAtMs < read.readAtMs);
}

/** Unix milliseconds; not a number where the time cannot be read. */
function issuedMs({ issued_at, origin }: WireEvent): number {
  const time = typeof issued_at === 'string' ? readTime(issued_at) : null;
  if (time) return unixMsOf(time);
  return typeof origin?.issued_at === 'number' ? origin.issued_at * 1000 : Number.NaN;
}
