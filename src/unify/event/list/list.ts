import type { GatewayError, Source } from '../../../errors.js';
import type { UnifyContext } from '../../context.js';
import type { Slice, UnavailableSource } from '../../paging.js';
import type { EventFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import {
  type EventOrder,
  type EventPlace,
  encodePosition,
  marksOf,
  mostMarks,
  movesWithinMs,
} from './cursor.js';
import { type EventPage, readPage } from './page.js';
import type { ProjectResume } from './project-reader.js';

export interface EventListArgs {
  readonly filter?: EventFilter | null | undefined;
  readonly orderBy: EventOrder;
  readonly first: number;
  readonly after?: string | null | undefined;
}

/**
 * One page of all earthquakes (docs/behaviour.md 6.5). Cursors hold all that is needed to go on from them. A page can be shorter
 * than `first` although there is more: when finding more would take too many requests. Its `endCursor` goes on from there.
 * @throws BadUserInput, CursorInvalid; NotConfigured where the one interface that could answer is not configured; what an
 * interface failed with where no other can answer
 */
export async function listEvents(context: UnifyContext, args: EventListArgs): Promise<Slice<LocatedEvent>> {
  const { orderBy, first } = args;
  const page = await readPage(context, {
    filter: args.filter ?? {},
    orderBy,
    first,
    after: args.after ?? null,
  });
  // They hold a digest of each event around: only who asks for one has them made.
  let made: ReturnType<typeof cursorsOf> | undefined;
  const cursors = () => {
    made ??= cursorsOf(page, orderBy);
    return made;
  };
  const edges = page.events.map(({ event: node }, index) => ({
    node,
    get cursor() {
      return cursors().at(index);
    },
  }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasMore,
      hasPreviousPage: page.after !== null,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return cursors().end ?? edges.at(-1)?.cursor ?? null;
      },
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

/** Each is made when it is asked for: most operations select that of the end alone. */
function cursorsOf(page: EventPage, order: EventOrder): Cursors {
  const { events, stoppedAt, narrowing } = page;
  const [first, last] = [events[0], events.at(-1)];
  // Where the walk by issue time goes on is worked out for the first event, which will do for all, and for the last.
  const resumeFirst = first ? page.resumeAt(first.place.originTime.ms) : null;
  const resumeLast = last ? page.resumeAt(last.place.originTime.ms) : null;
  const marksAt = marksAround(page);
  const cursorAt = (place: EventPlace, upTo: number, project: ProjectResume | null) =>
    encodePosition(order, {
      ...place,
      delivered: marksAt(place.originTime.ms, upTo),
      project,
      narrowedTo: narrowing.name,
    });
  return {
    at(index) {
      const item = events[index];
      return item ? cursorAt(item.place, index, item === last ? resumeLast : resumeFirst) : '';
    },
    end: stoppedAt && cursorAt(stoppedAt, events.length - 1, page.resumeAt(stoppedAt.originTime.ms)),
  };
}

interface Cursors {
  /** Of an edge. */
  at(index: number): string;
  readonly end: string | null;
}

/**
 * Marks of what has been delivered around a time, up to and with an event of the page.
 * Assumed: no new solution moves an earthquake by more than two minutes. One that does while somebody walks the list can
 * be delivered to them twice, or not at all.
 */
function marksAround({ events, known, after }: EventPage): (ms: number, upTo: number) => string[] {
  const before = new Set(after?.delivered);
  const indexOf = new Map(events.map(({ event }, index) => [event.key, index]));
  const inTime = known
    .map((event) => ({ event, ms: event.solution.originTime.ms, index: indexOf.get(event.key) ?? Infinity }))
    .sort((a, b) => a.ms - b.ms);
  return (ms, upTo) => {
    const near: { mark: string; distance: number }[] = [];
    for (let at = firstFrom(inTime, ms - movesWithinMs); at < inTime.length; at++) {
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

function firstFrom(inTime: readonly { readonly ms: number }[], fromMs: number): number {
  let low = 0;
  let high = inTime.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((inTime[middle]?.ms ?? 0) < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
