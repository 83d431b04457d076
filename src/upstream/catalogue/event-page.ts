import { readTime, unixMsOf } from '../decode/time.js';
import { withRecords } from '../read/added-records.js';
import type { Read } from '../read/read.js';
import type { CataloguePage, EventQuery } from './client.js';
import type { WireEvent } from './wire.js';

/**
 * Adds events that a feed has delivered since the page was requested, as upstream would answer now. Conditions on place,
 * magnitude and network are not tested: callers test them on merged values. Null for a list of several pages, since its order is not documented (docs/behaviour.md 5.7).
 */
export function withDelivered(
  page: Read<CataloguePage<WireEvent>>,
  { page: number, start, end }: EventQuery,
  delivered: readonly Read<WireEvent>[],
): CataloguePage<WireEvent> | null {
  const { total, received, limit } = page.value;
  const isWhole = total === null ? received < limit : received >= total;
  if (number > 1 || !isWhole) return null;
  const [fromMs, toMs] = [start ? Date.parse(start) : -Infinity, end ? Date.parse(end) : Infinity];
  return withRecords(page, delivered, {
    msOf: originMs,
    covers: (ms) => ms >= fromMs && ms <= toMs,
    // The catalogue dates no solution: the one that was read later holds.
    replaces: (read, listed) => listed.readAtMs < read.readAtMs,
  });
}

/** Unix milliseconds; not a number where the time cannot be read. */
function originMs({ origin_time }: WireEvent): number {
  const time = typeof origin_time === 'string' ? readTime(origin_time) : null;
  return time ? unixMsOf(time) : Number.NaN;
}
