import { earliest } from '../../../clock.js';
import type { UnifyContext } from '../../context.js';
import {
  edgeOf,
  emptySliceOf,
  type ListReach,
  type PageArgs,
  pageRequestOf,
  reversed,
  type Slice,
  sliceOf,
  type UnavailableSource,
  unavailableSources,
} from '../../paging.js';
import type { Instant } from '../../time/instant.js';
import { firstIndex } from '../../time/spans.js';
import type { EventFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import {
  type EventOrder,
  type EventSortKey,
  encodePosition,
  marksOf,
  mostMarks,
  movesWithinMs,
} from './cursor.js';
import { type EventPage, readPage } from './page.js';
import type { ProjectResume } from './project-reader.js';

export interface EventListArgs extends PageArgs {
  readonly filter?: EventFilter | null | undefined;
  readonly orderBy: EventOrder;
}

export interface EventSlice extends Slice<LocatedEvent> {
  readonly reach: ListReach<LocatedEvent>;
}

/**
 * One page of all earthquakes (docs/behaviour.md 6.5). A cursor holds all that is needed to continue from it. A page
 * can be shorter than `first` before the end of the list when more would take too many requests; its `endCursor` then
 * continues from there. A page from the end of the list, or from before a cursor, is read in the opposite order.
 * @throws BadUserInput, CursorInvalid; NotConfigured when the one interface that could answer is not configured; the
 * failure of an interface when no other can answer
 */
export async function listEvents(context: UnifyContext, args: EventListArgs): Promise<EventSlice> {
  const { orderBy } = args;
  const request = pageRequestOf(args);
  const { isBackward } = request;
  const page = await readPage(context, { ...request, filter: args.filter ?? {}, orderBy });
  // Computed on demand: a cursor holds digests of all events around it, which is wasted work if no field selects it.
  let made: ReturnType<typeof cursorsOf> | undefined;
  const cursors = () => {
    made ??= cursorsOf(page, orderBy, isBackward);
    return made;
  };
  const slice = sliceOf(
    page.events.map(({ event }, index) => edgeOf(event, () => cursors().at(index))),
    { next: page.hasMore, previous: page.after !== null },
    unavailableSources(page.failures),
    () => cursors().end(),
  );
  const reach = {
    // Infinite when nothing was read.
    readAtMs: earliest(page.oldestReadMs, context.tenant.clock.now()),
    includes: page.includes,
  };
  return { ...(isBackward ? reversed(slice) : slice), reach };
}

/** No events, of a list that can have none. @throws BadUserInput for arguments of both directions */
export function noEvents(context: UnifyContext, args: PageArgs): EventSlice {
  pageRequestOf(args);
  const reach = { readAtMs: context.tenant.clock.now(), includes: () => false };
  return { ...emptySliceOf<LocatedEvent>(args), reach };
}

/** All earthquakes of a span of origin times, both ends inclusive, oldest first; with the interfaces that failed. */
export async function eventsBetween(
  ctx: UnifyContext,
  from: Instant,
  to: Instant,
): Promise<{ events: readonly LocatedEvent[]; unavailableSources: readonly UnavailableSource[] }> {
  const page = await readPage(ctx, {
    filter: { from, to },
    orderBy: 'ORIGIN_TIME_DESC',
    count: Number.POSITIVE_INFINITY,
    cursor: null,
    argument: 'after',
    isBackward: false,
  });
  const events = page.events.map(({ event }) => event).reverse();
  return { events, unavailableSources: unavailableSources(page.failures) };
}

/** Cursors are encoded on demand: most operations select only `endCursor`. */
function cursorsOf(page: EventPage, order: EventOrder, isBackward: boolean): Cursors {
  const { events, stoppedAt, pushdown } = page;
  const [first, last] = [events[0], events.at(-1)];
  // Resume positions are computed for two events only: the first one's is valid for all events but the last.
  const resumeFirst = first ? page.resumeAt(first.sortKey.originTime.ms) : null;
  const resumeLast = last ? page.resumeAt(last.sortKey.originTime.ms) : null;
  const marksAt = marksAround(page);
  const cursorAt = (sortKey: EventSortKey, upTo: number, project: ProjectResume | null) =>
    encodePosition(
      order,
      { ...sortKey, delivered: marksAt(sortKey.originTime.ms, upTo), project, pushdownName: pushdown.name },
      isBackward,
    );
  return {
    at(index) {
      const item = events[index];
      return item ? cursorAt(item.sortKey, index, item === last ? resumeLast : resumeFirst) : '';
    },
    end() {
      return stoppedAt && cursorAt(stoppedAt, events.length - 1, page.resumeAt(stoppedAt.originTime.ms));
    },
  };
}

interface Cursors {
  /** Cursor of the edge at `index`. */
  at(index: number): string;
  /** Cursor of the position at which the page was cut; null for a page that was not. */
  end(): string | null;
}

/**
 * Marks of the events delivered around a time, up to and including the event at index `upTo` of the page.
 * Assumed: no new solution moves an earthquake by more than two minutes. One that does while a client pages through the
 * list can be delivered twice or not at all.
 */
function marksAround({ events, known, after }: EventPage): (ms: number, upTo: number) => string[] {
  const before = new Set(after?.delivered);
  const indexOf = new Map(events.map(({ event }, index) => [event.key, index]));
  const inTime = known
    .map((event) => ({ event, ms: event.solution.originTime.ms, index: indexOf.get(event.key) ?? Infinity }))
    .sort((a, b) => a.ms - b.ms);
  return (ms, upTo) => {
    const near: { mark: string; distance: number }[] = [];
    for (let at = firstIndex(inTime, (item) => item.ms >= ms - movesWithinMs); at < inTime.length; at++) {
      const item = inTime[at];
      if (!item || item.ms > ms + movesWithinMs) break;
      const marks = marksOf(item.event);
      const isDelivered = item.index <= upTo || marks.some((mark) => before.has(mark));
      if (isDelivered && marks[0]) near.push({ mark: marks[0], distance: Math.abs(item.ms - ms) });
    }
    near.sort((a, b) => a.distance - b.distance);
    return near.slice(0, mostMarks).map(({ mark }) => mark);
  };
}
