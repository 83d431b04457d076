import type { ForwardMs } from '../../clock.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import type { UnifyContext } from '../context.js';
import {
  decodeCursor,
  edgeOf,
  encodeCursor,
  type PageArgs,
  type PageRequest,
  pageRequestOf,
  type Slice,
  sliceOf,
  unavailableSources,
} from '../paging.js';
import { matchesNothing, neededSource, type SensorFilter } from './filter.js';
import { learnOrder, type UnifiedSensors } from './inventory/merging.js';
import {
  decodePosition,
  defaultOrder,
  indexOfPosition,
  type ListPosition,
  positionOf,
  type SensorOrder,
  sortedBy,
} from './list-order.js';
import { pairSensor } from './lookup.js';
import type { SortedPair } from './order.js';
import { type Selection, selectSensors } from './selection.js';
import type { Sensor } from './sensor.js';

export interface SensorListArgs extends PageArgs {
  readonly filter?: SensorFilter | null | undefined;
  readonly orderBy: SensorOrder;
}

export interface SensorSlice extends Slice<Sensor> {
  /** Number of sensors on all pages; null where an interface could not answer. */
  readonly totalCount: number | null;
  /** The lists that the slice was made from; null where the filter alone decided. */
  readonly lists: Pick<UnifiedSensors, 'project' | 'catalogue'> | null;
  /** No status of the slice was determined earlier. */
  readonly sinceMs: ForwardMs;
}

/**
 * Sensors of both interfaces, each once, in exact order. Where one interface cannot answer, the slice has the sensors of
 * the other and names the failed one.
 * @throws the failure when no needed interface can answer
 */
export function listSensors(ctx: UnifyContext, args: SensorListArgs): Maybe<SensorSlice> {
  const { orderBy } = args;
  const filter = args.filter ?? {};
  if (matchesNothing(filter)) return noSensors(ctx, args);
  const request = requestOf(ctx, args);
  const cut = ({ pairs }: Selection) => rangeOf(pairs, request);
  const select = () => selectSensors(ctx, filter, orderBy);
  const slice = (selection: Selection) => sliceAt(ctx, orderBy, selection, ...cut(selection));
  return whenKnown(select(), (selection) => {
    if (sortedBy(orderBy) !== 'STATION_CODE') return slice(selection);
    // The codes of some networks, not learnt yet, may change the order of the page.
    const { association } = selection.unified;
    const isReordered = learnOrder(ctx, association, selection.pairs.slice(...cut(selection)));
    return whenKnown(isReordered, (again) => (again ? whenKnown(select(), slice) : slice(selection)));
  });
}

/** No sensors, of a list that can have none: a whole list that is empty has no page before a cursor either. */
export function noSensors(ctx: UnifyContext, args: SensorListArgs): SensorSlice {
  requestOf(ctx, args);
  const sinceMs = ctx.tenant.clock.now();
  return { ...sliceOf<Sensor>([], { next: false, previous: false }), totalCount: 0, lists: null, sinceMs };
}

interface SensorPageRequest extends PageRequest {
  readonly order: SensorOrder;
  /** The position in the cursor of the request; null without one. */
  readonly position: ListPosition | null;
}

/** @throws BadUserInput, CursorInvalid, NotConfigured */
function requestOf(ctx: UnifyContext, { orderBy, filter, ...page }: SensorListArgs): SensorPageRequest {
  const request = pageRequestOf(page);
  neededSource(ctx, filter ?? {});
  const { cursor, argument } = request;
  const position = cursor === null ? null : positionAt(orderBy, cursor, argument);
  return { ...request, order: orderBy, position };
}

function sliceAt(
  ctx: UnifyContext,
  order: SensorOrder,
  { unified, pairs, failures }: Selection,
  start: number,
  end: number,
): SensorSlice {
  if (failures.size > 0) ctx.scope.dependencies?.refuse('an interface could not answer');
  const edges = pairs
    .slice(start, end)
    .map((pair) => edgeOf(pairSensor(ctx, pair, unified, true), () => cursorOf(order, pair)));
  const unavailable = unavailableSources(failures);
  return {
    ...sliceOf(edges, { next: end < pairs.length, previous: start > 0 }, unavailable),
    totalCount: unavailable.length > 0 ? null : pairs.length,
    lists: unified,
    // A cursor of the feed takes it, and refuses by itself to be part of a cached answer.
    sinceMs: ctx.tenant.clock.now(),
  };
}

function cursorOf(order: SensorOrder, pair: SortedPair): string {
  return encodeCursor(
    listOf(order),
    positionOf(order, pair).map((part) => part && String(part)),
  );
}

function rangeOf(
  pairs: readonly SortedPair[],
  { order, position, count, isBackward }: SensorPageRequest,
): [start: number, end: number] {
  if (isBackward) {
    const end = position ? indexOfPosition(order, pairs, position, 'at') : pairs.length;
    return [Math.max(0, end - count), end];
  }
  const start = position ? indexOfPosition(order, pairs, position, 'behind') : 0;
  return [start, Math.min(pairs.length, start + count)];
}

function positionAt(order: SensorOrder, cursor: string, argument: string): ListPosition {
  return decodeCursor(listOf(order), cursor, argument, (position) => decodePosition(order, position));
}

/** The name of the list in its cursors, which belong to one order. */
function listOf(order: SensorOrder): string {
  return order === defaultOrder ? 'sensors' : `sensors ${order}`;
}
