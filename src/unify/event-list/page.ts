import type { UnifyContext } from '../context.js';
import { checkFilter, type EventFilter } from '../event-filter.js';
import { confirmed } from './confirm.js';
import { decodePosition, type EventOrder, type EventPosition } from './cursor.js';
import { type Narrowing, narrow, selectionOf } from './narrowing.js';
import { readStream, type StreamPage } from './stream.js';

export interface PageRequest {
  readonly filter: EventFilter;
  readonly orderBy: EventOrder;
  /** Infinite for all. */
  readonly first: number;
  readonly after: string | null;
}

export interface EventPage extends StreamPage {
  readonly after: EventPosition | null;
  readonly narrowing: Narrowing;
}

/**
 * Reads a page of events. A magnitude or a network by which the interfaces could select is tested on merged values
 * (contract 6.3): everything is read and sorted out here as long as that is affordable, else what the interfaces select.
 */
export async function readPage(context: UnifyContext, request: PageRequest): Promise<EventPage> {
  const { filter, orderBy, first } = request;
  checkFilter(filter);
  const [whole, selected = null] = narrowingsOf(context, filter);
  const position = request.after === null ? null : decodePosition(orderBy, request.after);
  const order = orderBy === 'ORIGIN_TIME_DESC' ? 'DESC' : 'ASC';
  const read = async (narrowing: Narrowing, mayGiveUp: boolean): Promise<EventPage | null> => {
    const after = position?.resumedIn(narrowing.name) ?? null;
    const page = await readStream(context, { filter, narrowing, order, after, first, mayGiveUp });
    return page && { ...page, after, narrowing };
  };
  // A walk goes on in the way it began.
  const wasSelected = selected !== null && position?.isOf(selected.name) === true;
  const page = wasSelected ? null : await read(whole, selected !== null);
  if (page) return page;
  const narrowed = selected && (await read(selected, false));
  if (!narrowed) throw new Error('A page that cannot be given up was given up');
  return { ...narrowed, events: await confirmed(context, narrowed.events, filter) };
}

/**
 * Assumed: where not everything can be read, the magnitudes that the interfaces give an earthquake differ by half of one at
 * most, and none that is so left out is a rival of one that is not.
 */
const slackMagnitude = 0.5;

/** Where only one interface is configured, its values are the merged ones, and it can select exactly. */
function narrowingsOf(context: UnifyContext, filter: EventFilter): [Narrowing, Narrowing?] {
  if (!context.project || !context.catalogue) return [narrow(filter, selectionOf(filter, 0))];
  const selection = selectionOf(filter, slackMagnitude);
  const whole = narrow(filter);
  return Object.keys(selection).length === 0 ? [whole] : [whole, narrow(filter, selection)];
}
