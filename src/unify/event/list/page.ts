import type { UnifyContext } from '../../context.js';
import { closeReach, type Reach, wideReach } from '../association.js';
import { checkFilter, type EventFilter } from '../filter.js';
import { confirmed } from './confirm.js';
import { type DecodedPosition, decodePosition, type EventOrder, type EventPosition } from './cursor.js';
import { type Pushdown, pushdownOf, selectionOf } from './filter-pushdown.js';
import { type GivenUp, readMergedScan, type ScannedPage } from './merged-scan.js';

export interface PageRequest {
  readonly filter: EventFilter;
  readonly orderBy: EventOrder;
  /** Infinite for all events. */
  readonly first: number;
  readonly after: string | null;
}

export interface EventPage extends ScannedPage {
  readonly after: EventPosition | null;
  readonly narrowing: Pushdown;
}

/** Reads a page of events. A cursor continues with the reach and pushdown of its first page. */
export async function readPage(context: UnifyContext, request: PageRequest): Promise<EventPage> {
  checkFilter(request.filter);
  const position = request.after === null ? null : decodePosition(request.orderBy, request.after);
  const beganWith = (reach: Reach) =>
    pushdownsOf(context, request.filter, reach).some((way) => way && position?.isOf(way.name));
  // With one interface there are no associations, so the close reach is enough.
  const isClose = !context.project || !context.catalogue || beganWith(closeReach);
  if (!isClose) {
    const mayBeTooDense = !beganWith(wideReach);
    const wide = await readWithin(context, request, { position, reach: wideReach, mayBeTooDense });
    if (wide !== 'too dense') return wide;
  }
  const closer = await readWithin(context, request, { position, reach: closeReach, mayBeTooDense: false });
  if (closer === 'too dense') throw new Error('A page that cannot be given up was given up');
  return closer;
}

interface Way {
  readonly position: DecodedPosition | null;
  readonly reach: Reach;
  readonly mayBeTooDense: boolean;
}

/**
 * Filters on magnitude and network apply to merged values (docs/behaviour.md 6.3): everything is read and filtered here
 * as long as that is affordable; else the condition is pushed down.
 */
async function readWithin(
  context: UnifyContext,
  { filter, orderBy, first }: PageRequest,
  { position, reach, mayBeTooDense }: Way,
): Promise<EventPage | 'too dense'> {
  const [whole, selected = null] = pushdownsOf(context, filter, reach);
  const order = orderBy === 'ORIGIN_TIME_DESC' ? 'DESC' : 'ASC';
  const read = async (narrowing: Pushdown, mayBeTooMuch: boolean): Promise<EventPage | GivenUp> => {
    const after = position?.resumedIn(narrowing.name) ?? null;
    const givesUp: GivenUp[] = [
      ...(mayBeTooDense ? (['too dense'] as const) : []),
      ...(mayBeTooMuch ? (['too much'] as const) : []),
    ];
    const page = await readMergedScan(context, { filter, narrowing, order, after, first, givesUp });
    return typeof page === 'string' ? page : { ...page, after, narrowing };
  };
  const wasSelected = selected !== null && position?.isOf(selected.name) === true;
  const page = wasSelected ? 'too much' : await read(whole, selected !== null);
  if (page !== 'too much') return page;
  const selectedPage = selected && (await read(selected, false));
  if (selectedPage === null || selectedPage === 'too much')
    throw new Error('A page that cannot be given up was given up');
  if (selectedPage === 'too dense') return selectedPage;
  return { ...selectedPage, events: await confirmed(context, selectedPage.events, filter) };
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
function pushdownsOf(context: UnifyContext, filter: EventFilter, reach: Reach): [Pushdown, Pushdown?] {
  if (!context.project || !context.catalogue) return [pushdownOf(filter, reach, selectionOf(filter, 0))];
  const selection = selectionOf(filter, slackMagnitude);
  const whole = pushdownOf(filter, reach);
  return Object.keys(selection).length === 0 ? [whole] : [whole, pushdownOf(filter, reach, selection)];
}
