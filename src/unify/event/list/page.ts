import type { UnifyContext } from '../../context.js';
import type { PageRequest } from '../../paging.js';
import { closeReach, type Reach, wideReach } from '../association.js';
import { checkFilter, type EventFilter } from '../filter.js';
import { confirmed } from './confirm.js';
import { type DecodedPosition, decodePosition, type EventOrder, type EventPosition } from './cursor.js';
import { type Pushdown, pushdownOf, selectionOf } from './filter-pushdown.js';
import { type GivenUp, readMergedScan, type ScannedPage } from './merged-scan.js';

/** The count is infinite for all events. */
export interface EventPageRequest extends PageRequest {
  readonly filter: EventFilter;
  readonly orderBy: EventOrder;
}

/** A page as it was scanned: one that is read backward is in the opposite of the list's order. */
export interface EventPage extends ScannedPage {
  readonly after: EventPosition | null;
  readonly pushdown: Pushdown;
}

/**
 * Reads a page of events in the first way that does not give up. A cursor continues with the reach and pushdown of its
 * first page.
 */
export async function readPage(context: UnifyContext, request: EventPageRequest): Promise<EventPage> {
  const { filter, orderBy, count: first, cursor, isBackward } = request;
  checkFilter(filter);
  const position = cursor === null ? null : decodePosition(orderBy, { ...request, cursor });
  const order = (orderBy === 'ORIGIN_TIME_DESC') !== isBackward ? 'DESC' : 'ASC';
  const ways = waysOf(context, filter, position);
  for (let way = ways[0]; way; ) {
    const { pushdown, givesUp } = way;
    const after = position?.resumedIn(pushdown.name) ?? null;
    const page = await readMergedScan(context, { filter, pushdown, order, after, first, givesUp });
    if (typeof page !== 'string') {
      const events = way.isSelected ? await confirmed(context, page.events, filter) : page.events;
      return { ...page, events, after, pushdown };
    }
    way = page === 'too dense' ? ways.find(isClose) : ways[ways.indexOf(way) + 1];
  }
  throw new Error('A page that cannot be given up was given up');
}

interface Way {
  readonly pushdown: Pushdown;
  /** Upstream tests the conditions on magnitude and network too, on the values of each side. */
  readonly isSelected: boolean;
  readonly givesUp: readonly GivenUp[];
}

/**
 * The ways to read a page, the preferred one first. Filters on magnitude and network apply to merged values
 * (docs/behaviour.md 6.3): everything is read and filtered here as long as that is affordable; else the condition is
 * pushed down. With one interface there are no associations, so the close reach is enough.
 */
function waysOf(context: UnifyContext, filter: EventFilter, position: DecodedPosition | null): Way[] {
  const reaches = context.project && context.catalogue ? [wideReach, closeReach] : [closeReach];
  const ways = reaches.flatMap((reach): Way[] => {
    const pushdowns = pushdownsOf(context, filter, reach);
    return pushdowns.map((pushdown, index) => ({
      pushdown,
      isSelected: index > 0,
      givesUp: [
        ...(reach === wideReach ? (['too dense'] as const) : []),
        ...(index + 1 < pushdowns.length ? (['too much'] as const) : []),
      ],
    }));
  });
  const begun = ways.findIndex(({ pushdown }) => position?.isOf(pushdown.name));
  if (begun < 0) return ways;
  return ways
    .slice(begun)
    .map((way) => ({ ...way, givesUp: way.givesUp.filter((reason) => reason !== 'too dense') }));
}

function isClose({ pushdown }: Way): boolean {
  return pushdown.reach === closeReach;
}

/**
 * Assumed: where the condition is pushed down, the magnitudes of an earthquake on both sides differ by at most 0.5, and
 * no event left out by it is a rival of one that is read.
 */
const slackMagnitude = 0.5;

/**
 * The pushdown without and with conditions. With only one interface its values are the merged ones, so the pushdown is
 * exact.
 */
function pushdownsOf(context: UnifyContext, filter: EventFilter, reach: Reach): Pushdown[] {
  if (!context.project || !context.catalogue) return [pushdownOf(filter, reach, selectionOf(filter, 0))];
  const selection = selectionOf(filter, slackMagnitude);
  const whole = pushdownOf(filter, reach);
  return Object.keys(selection).length === 0 ? [whole] : [whole, pushdownOf(filter, reach, selection)];
}
