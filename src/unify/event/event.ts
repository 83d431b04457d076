import type { UnifyContext } from '../context.js';
import type { UnavailableSource } from '../paging.js';
import type { Instant } from '../time/instant.js';
import { unavailable } from './list/list.js';
import { readPage } from './list/page.js';
import type { LocatedEvent } from './merge.js';

/** Earthquakes: the unified type and its reads. */
export { arrivalsOf } from './detail.js';
export { listEvents } from './list/list.js';
export { eventOfProjectRecord, readEvent } from './lookup.js';
export { type Event, mergeEvent } from './merge.js';

/** All earthquakes of a span of origin times, both ends inclusive, oldest first; with the interfaces that failed. */
export async function eventsBetween(
  ctx: UnifyContext,
  from: Instant,
  to: Instant,
): Promise<{ events: readonly LocatedEvent[]; unavailableSources: readonly UnavailableSource[] }> {
  const page = await readPage(ctx, {
    filter: { from, to },
    orderBy: 'ORIGIN_TIME_DESC',
    first: Number.POSITIVE_INFINITY,
    after: null,
  });
  const events = page.events.map(({ event }) => event).reverse();
  return { events, unavailableSources: unavailable(page.failures) };
}
