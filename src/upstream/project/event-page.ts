import { readTime, unixMsOf } from '../decode/time.js';
import { isLastPage, type Page, type Read } from '../read/read.js';
import type { EventQuery } from './client.js';
import type { WireEvent } from './wire.js';

/**
 * Adds events that a feed has delivered since the page was requested, as upstream would answer now. Conditions on place
 * and magnitude are not tested: callers test them on merged values. The counts stay those of the response, by which paging
 * continues. Null where an issue time cannot be read (docs/behaviour.md 5.7).
 */
export function withDelivered(
  { value: page, readAtMs }: Read<Page<WireEvent>>,
  query: EventQuery,
  delivered: readonly Read<WireEvent>[],
): Page<WireEvent> | null {
  const covers = coverageOf(page, query);
  const items = new Map(page.items.map((item) => [item.id, item]));
  const readLater = new Map(page.readLater);
  let isSame = true;
  for (const read of delivered) {
    const { value } = read;
    const ms = issuedMs(value);
    if (!covers || Number.isNaN(ms)) return null;
    const listed = items.get(value.id);
    if (listed && !isEarlier(listed, readLater.get(listed) ?? readAtMs, read)) continue;
    const isAdded = covers(ms);
    if (!isAdded && !listed) continue;
    isSame = false;
    items.delete(value.id);
    if (!isAdded) continue;
    items.set(value.id, value);
    readLater.set(value, read.readAtMs);
  }
  if (isSame) return page;
  const sign = query.order === 'asc' ? 1 : -1;
  const inOrder = [...items.values()]
    .map((item) => ({ item, ms: issuedMs(item) }))
    .sort((a, b) => sign * (a.ms - b.ms));
  return { ...page, items: inOrder.map(({ item }) => item), readLater };
}

/** Returns the test for issue times that belong to this page and to no other of the list; null where an issue time of the page cannot be read. */
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

/** True where `read` has a later solution than the one listed, or the same as it was later. */
function isEarlier(listed: WireEvent, listedAtMs: number, { value, readAtMs }: Read<WireEvent>): boolean {
  const laterMs = issuedMs(value) - issuedMs(listed);
  return laterMs > 0 || (laterMs === 0 && listedAtMs < readAtMs);
}

/** Unix milliseconds; not a number where the time cannot be read. */
function issuedMs({ issued_at, origin }: WireEvent): number {
  const time = typeof issued_at === 'string' ? readTime(issued_at) : null;
  if (time) return unixMsOf(time);
  return typeof origin?.issued_at === 'number' ? origin.issued_at * 1000 : Number.NaN;
}
