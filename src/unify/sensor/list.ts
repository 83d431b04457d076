import { type Maybe, whenKnown } from '../../maybe.js';
import type { UnifyContext } from '../context.js';
import {
  checkPageArgs,
  decodeCursor,
  edgeOf,
  encodeCursor,
  type PageArgs,
  type Slice,
  sliceOf,
  unavailableSources,
} from '../paging.js';
import { matchesNothing, neededSource, type SensorFilter } from './filter.js';
import { learnOrder } from './inventory/merging.js';
import { pairSensor } from './lookup.js';
import { compareSortKeys, type SensorSortKey, type SortedPair } from './order.js';
import { type Selection, selectSensors } from './selection.js';
import type { Sensor } from './sensor.js';

export interface SensorListArgs extends PageArgs {
  readonly filter?: SensorFilter | null | undefined;
}

export interface SensorSlice extends Slice<Sensor> {
  /** Number of sensors on all pages; null where an interface could not answer. */
  readonly totalCount: number | null;
}

const list = 'sensors';
const defaultFirst = 50;

/**
 * Sensors of both interfaces, each once, sorted by station code, then network code. Where one interface cannot answer,
 * the slice has the sensors of the other and names the failed one.
 * @throws the failure when no needed interface can answer
 */
export function listSensors(ctx: UnifyContext, args: SensorListArgs): Maybe<SensorSlice> {
  checkPageArgs(args);
  const filter = args.filter ?? {};
  neededSource(ctx, filter);
  const after = args.after == null ? null : placeAt(args.after, 'after');
  const before = args.before == null ? null : placeAt(args.before, 'before');
  if (matchesNothing(filter)) {
    return { ...sliceOf<Sensor>([], { next: false, previous: false }), totalCount: 0 };
  }
  const cut = ({ pairs }: Selection) => rangeOf(pairs, args, after, before);
  return whenKnown(selectSensors(ctx, filter), (selection) => {
    const isReordered = learnOrder(
      ctx,
      selection.unified.association,
      selection.pairs.slice(...cut(selection)),
    );
    return whenKnown(isReordered, (again) =>
      again
        ? whenKnown(selectSensors(ctx, filter), (other) => sliceAt(ctx, other, ...cut(other)))
        : sliceAt(ctx, selection, ...cut(selection)),
    );
  });
}

function sliceAt(
  ctx: UnifyContext,
  { unified, pairs, failures }: Selection,
  start: number,
  end: number,
): SensorSlice {
  if (failures.size > 0) ctx.scope.dependencies?.refuse('an interface could not answer');
  const edges = pairs
    .slice(start, end)
    .map((pair) => edgeOf(pairSensor(ctx, pair, unified, true), () => cursorOf(pair.sortKey)));
  const unavailable = unavailableSources(failures);
  return {
    ...sliceOf(edges, { next: end < pairs.length, previous: start > 0 }, unavailable),
    totalCount: unavailable.length > 0 ? null : pairs.length,
  };
}

function cursorOf({ stationCode, networkCode, key }: SensorSortKey): string {
  return encodeCursor(list, [stationCode, networkCode, key]);
}

function rangeOf(
  pairs: readonly SortedPair[],
  { first, last }: SensorListArgs,
  after: SensorSortKey | null,
  before: SensorSortKey | null,
): [start: number, end: number] {
  const start = after ? positionOf(pairs, after, 'behind') : 0;
  const end = Math.max(start, before ? positionOf(pairs, before, 'at') : pairs.length);
  if (last != null) return [Math.max(start, end - last), end];
  return [start, Math.min(end, start + (first ?? defaultFirst))];
}

/**
 * Index of the cursor's position, or the index after it. Works as a keyset also when the cursor's sensor is gone or has
 * moved to another position in the order.
 */
function positionOf(pairs: readonly SortedPair[], cursor: SensorSortKey, side: 'at' | 'behind'): number {
  const own = pairs.findIndex(
    ({ sortKey }) => sortKey.key === cursor.key && sortKey.stationCode === cursor.stationCode,
  );
  if (own >= 0) return side === 'at' ? own : own + 1;
  const next = pairs.findIndex(({ sortKey }) => compareSortKeys(sortKey, cursor) > 0);
  return next < 0 ? pairs.length : next;
}

function placeAt(cursor: string, argument: string): SensorSortKey {
  return decodeCursor(list, cursor, argument, (position) => {
    if (!Array.isArray(position) || position.length !== 3) return null;
    const [stationCode, networkCode, key] = position as unknown[];
    if (typeof stationCode !== 'string' || typeof networkCode !== 'string' || typeof key !== 'string')
      return null;
    return { stationCode, networkCode, key };
  });
}
