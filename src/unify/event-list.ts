import type { GatewayError, Source } from '../errors.js';
import type { UnifyContext } from './context.js';
import {
  decodePosition,
  type EventOrder,
  type EventPosition,
  encodePosition,
  marksOf,
} from './event-cursor.js';
import { checkFilter, type EventFilter } from './event-filter.js';
import { sameIdWithinS } from './event-identity.js';
import type { LocatedEvent } from './event-merge.js';
import { narrow } from './event-narrowing.js';
import { readStream, type StreamPage } from './event-stream.js';
import type { Slice, UnavailableSource } from './paging.js';
import { Instant } from './time.js';

export interface EventListArgs {
  readonly filter?: EventFilter | null | undefined;
  readonly orderBy: EventOrder;
  readonly first: number;
  readonly after?: string | null | undefined;
}

/**
 * One page of all earthquakes (contract 6.5). Cursors hold all that is needed to go on from them. A page can be shorter
 * than `first` although there is more: when finding more would take too many requests. Its `endCursor` goes on from there.
 * @throws BadUserInput, CursorInvalid; NotConfigured where the one interface that could answer is not configured; what an
 * interface failed with where no other can answer
 */
export async function listEvents(context: UnifyContext, args: EventListArgs): Promise<Slice<LocatedEvent>> {
  const filter = args.filter ?? {};
  checkFilter(filter);
  const { place } = narrow(filter);
  const after = args.after == null ? null : decodePosition(args.orderBy, args.after, place);
  const page = await readStream(context, {
    filter,
    order: args.orderBy === 'ORIGIN_TIME_DESC' ? 'DESC' : 'ASC',
    after,
    first: args.first,
  });
  const cursors = cursorsOf(page, args.orderBy, after, place);
  const edges = page.events.map((node, index) => ({ node, cursor: cursors.edges[index] ?? '' }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasMore,
      hasPreviousPage: after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: cursors.end ?? edges.at(-1)?.cursor ?? null,
    },
    unavailableSources: unavailable(page.failures),
  };
}

export function unavailable(failures: ReadonlyMap<Source, GatewayError>): UnavailableSource[] {
  return [...failures].map(([source, { code, message, retryAfterS }]) => ({
    source,
    code,
    message,
    retryAfterS: retryAfterS ?? null,
  }));
}

function cursorsOf(
  page: StreamPage,
  order: EventOrder,
  after: EventPosition | null,
  place: string,
): { edges: string[]; end: string | null } {
  const { events, stoppedAtMs } = page;
  const [first, last] = [events[0], events.at(-1)];
  // Where the walk by issue time goes on is worked out for the first event, which will do for all, and for the last.
  const resumeFirst = first ? page.resumeAt(first.solution.originTime.ms) : null;
  const resumeLast = last ? page.resumeAt(last.solution.originTime.ms) : null;
  const marks = marksAround(page, after);
  const edges = events.map((event, index) =>
    encodePosition(order, {
      originTime: event.solution.originTime,
      key: event.key,
      delivered: marks(event.solution.originTime.ms, index),
      project: event === last ? resumeLast : resumeFirst,
      place,
    }),
  );
  if (stoppedAtMs === null) return { edges, end: null };
  const end = encodePosition(order, {
    originTime: Instant.fromMs(stoppedAtMs),
    key: null,
    delivered: marks(stoppedAtMs, events.length - 1),
    project: page.resumeAt(stoppedAtMs),
    place,
  });
  return { edges, end };
}

/**
 * Marks of what has been delivered around a time, up to and with an event of the page.
 * Assumed: no new solution moves an earthquake by more than two minutes. One that does while somebody walks the list can
 * be delivered to them twice, or not at all.
 */
function marksAround(
  { events, known }: StreamPage,
  after: EventPosition | null,
): (ms: number, upTo: number) => string[] {
  const before = new Set(after?.delivered);
  const indexOf = new Map(events.map((event, index) => [event, index]));
  const times = known.map((event) => event.solution.originTime.ms);
  const ascending = (times[0] ?? 0) <= (times.at(-1) ?? 0);
  return (ms, upTo) => {
    const near: { mark: string; distance: number }[] = [];
    for (let index = firstWithin(times, ascending, ms); index < known.length; index++) {
      const event = known[index];
      const distance = Math.abs((times[index] ?? 0) - ms);
      if (!event || distance > sameIdWithinS * 1000) break;
      const [mark] = marksOf(event);
      const isDelivered =
        (indexOf.get(event) ?? Infinity) <= upTo || marksOf(event).some((one) => before.has(one));
      if (mark !== undefined && isDelivered) near.push({ mark, distance });
    }
    near.sort((a, b) => a.distance - b.distance);
    return near.slice(0, mostMarks).map(({ mark }) => mark);
  };
}

function firstWithin(times: readonly number[], ascending: boolean, ms: number): number {
  const sign = ascending ? 1 : -1;
  const from = sign * ms - sameIdWithinS * 1000;
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sign * (times[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A cursor is text that clients carry around.
const mostMarks = 64;
