import { readTime, unixMsOf } from '../decode/time.js';
import type { Read } from '../read/read.js';
import type { CataloguePage, EventQuery } from './client.js';
import type { WireEvent } from './wire.js';

/**
 * Adds events that a feed has delivered since the page was requested, as upstream would answer now. Conditions on place,
 * magnitude and network are not tested: callers test them on merged values. The counts stay those of the response, by which
 * paging continues. Null for a list of several pages, since its order is not documented (docs/behaviour.md 5.7).
 */
export function withDelivered(
  { value: page, readAtMs }: Read<CataloguePage<WireEvent>>,
  { page: number, start, end }: EventQuery,
  delivered: readonly Read<WireEvent>[],
): CataloguePage<WireEvent> | null {
  const isWhole = page.total === null ? page.received < page.limit : page.received >= page.total;
  if (number > 1 || !isWhole) return null;
  const [fromMs, toMs] = [start ? Date.parse(start) : -Infinity, end ? Date.parse(end) : Infinity];
  const items = new Map(page.items.map((item) => [item.id, item]));
  const readLater = new Map(page.readLater);
  let isSame = true;
  for (const read of delivered) {
    const { value } = read;
    const listed = items.get(value.id);
    // The catalogue dates no solution: the one that was read later holds.
    if (listed && (readLater.get(listed) ?? readAtMs) >= read.readAtMs) continue;
    const time = typeof value.origin_time === 'string' ? readTime(value.origin_time) : null;
    if (!time) return null;
    const ms = unixMsOf(time);
    const isOutside = ms < fromMs || ms > toMs;
    if (isOutside && !listed) continue;
    items.delete(value.id);
    isSame = false;
    if (isOutside) continue;
    items.set(value.id, value);
    readLater.set(value, read.readAtMs);
  }
  return isSame ? page : { ...page, items: [...items.values()], readLater };
}
