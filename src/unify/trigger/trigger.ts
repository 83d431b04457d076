import { BadUserInput, QueryTooComplex } from '../../errors.js';
import { limits } from '../../limits.js';
import { asId, type DeviceId } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import {
  decodeCursor,
  edgeOf,
  emptySliceOf,
  encodeCursor,
  type ListReach,
  lossOf,
  type PageArgs,
  pageRequestOf,
  reversed,
  type Slice,
  sliceOf,
  type UnavailableSource,
  unavailableSources,
} from '../paging.js';
import { type DeviceKey, deviceIdOf, deviceKeyOf } from '../sensor/identity.js';
import { filtersByDevice, selectDevices } from '../sensor/selection.js';
import type { Instant } from '../time/instant.js';
import { fitsMs } from '../time/millisecond.js';
import {
  filtersByTrigger,
  matchesNothing,
  type TriggerConditions,
  traitsOf,
  triggerMatcher,
} from './filter.js';
import { decodePosition, encodePosition, type TriggerPosition } from './list/position.js';
import { reachOf } from './list/reach.js';
import { projectTriggers, type ScannedTriggers, scanTriggers, type TriggerScan } from './list/scan.js';
import { scanTogether } from './list/together.js';
import type { Trigger } from './record.js';

export interface TriggerFilter extends TriggerConditions {
  /** Start time, both ends inclusive. */
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  /** Compared without regard to case. */
  readonly deviceId?: string | null | undefined;
}

export interface TriggerListArgs extends PageArgs {
  readonly filter?: TriggerFilter | null | undefined;
  readonly orderBy?: 'START_TIME_DESC' | 'START_TIME_ASC' | undefined;
}

export interface TriggerSlice extends Slice<Trigger> {
  readonly reach: ListReach<Trigger>;
  /** Null when the gateway itself filters the list. Costs one request when `after` is given. */
  totalCount(): Promise<number | null>;
}

/**
 * Triggers in exact start-time order.
 * @throws BadUserInput when `from` is after `to`; NotConfigured without a project interface.
 */
export async function listTriggers(ctx: UnifyContext, args: TriggerListArgs): Promise<TriggerSlice> {
  const list = await planOf(ctx, args);
  return list.scan
    ? pageOf(ctx, list.scan, list.unavailable, await scanTriggers(list.scan))
    : emptySlice(ctx, list, args);
}

/**
 * Triggers of one sensor; null for a sensor that the project does not have. Empty when the filter names another sensor.
 */
export async function listTriggersOf(
  ctx: UnifyContext,
  deviceId: DeviceId | null,
  args: TriggerListArgs,
): Promise<TriggerSlice | null> {
  if (deviceId === null) return null;
  const list = await planOf(ctx, args, deviceId);
  const { scan, unavailable } = list;
  if (!scan) return emptySlice(ctx, list, args);
  const together = await scanTogether(ctx, scan, { ...args, filter: args.filter ?? {} });
  return pageOf(ctx, scan, unavailable, together ?? (await scanTriggers(scan)));
}

/** A list is read by `scan`, which is null where no trigger can match. */
interface ListPlan {
  readonly scan: TriggerScan | null;
  /** The interfaces that could not say which sensors the filter selects. */
  readonly unavailable: readonly UnavailableSource[];
}

function emptySlice(ctx: UnifyContext, { unavailable }: ListPlan, args: PageArgs): TriggerSlice {
  return {
    ...emptySliceOf<Trigger>(args, unavailable),
    reach: { readAtMs: ctx.clock.now(), includes: () => false },
    totalCount: () => Promise.resolve(unavailable.length > 0 ? null : 0),
  };
}

function pageOf(
  ctx: UnifyContext,
  scan: TriggerScan,
  unavailable: ListPlan['unavailable'],
  scanned: ScannedTriggers,
): TriggerSlice {
  const { triggers, more, reached, total, readAtMs, unreadable } = scanned;
  if (more && triggers.length === 0 && reached === scan.after) {
    throw new QueryTooComplex(
      'More triggers started at one moment than one operation may read: narrow `filter.deviceId`',
    );
  }
  const list = listName(listOrderOf(scan));
  const cursorOf = (position: TriggerPosition) => encodeCursor(list, encodePosition(position));
  const slice = sliceOf(
    triggers.map(({ trigger, position }) => edgeOf(trigger, () => cursorOf(position))),
    { next: more, previous: scan.after !== null },
    [...unavailable, ...lossOf('PROJECT', unreadable)],
    // A filtered list that was cut continues from the last position it read, even if nothing matched up to there.
    () => reached && cursorOf(reached),
  );
  const page: TriggerSlice = {
    ...slice,
    reach: reachOf(scan, {
      triggers: triggers.map(({ trigger }) => trigger),
      more,
      // Infinite when nothing was read.
      readAtMs: Number.isFinite(readAtMs) ? readAtMs : ctx.clock.now(),
    }),
    totalCount: async () => {
      if (!countedUpstream(scan)) return null;
      if (scan.after === null && total !== null) return total;
      return (await scanTriggers({ ...scan, after: null, wanted: 1, mostRequests: 1 })).total;
    },
  };
  return scan.isOpposite ? reversed(page) : page;
}

/** @param own the sensor whose triggers are listed; without it, those of all sensors are */
async function planOf(ctx: UnifyContext, args: TriggerListArgs, own?: DeviceId): Promise<ListPlan> {
  const filter = args.filter ?? {};
  const from = filter.from ?? undefined;
  const to = filter.to ?? undefined;
  if (from && to && from.compare(to) > 0) {
    throw new BadUserInput('`filter.from` must not be after `filter.to`', { argument: 'filter.from' });
  }
  const { count, cursor, argument, isBackward } = pageRequestOf(args);
  const order = args.orderBy === 'START_TIME_ASC' ? 'asc' : 'desc';
  const position = cursor === null ? null : decodeCursor(listName(order), cursor, argument, decodePosition);
  const read = projectTriggers(ctx);
  if (matchesNothing(filter)) return { scan: null, unavailable: [] };
  const selection = filtersByDevice(filter) ? await selectDevices(ctx, filter) : null;
  const unavailable = unavailableSources(selection?.failures ?? new Map());
  if (unavailable.length > 0) ctx.scope.dependencies?.refuse('an interface could not answer');
  const devices = devicesOf(filter, own, selection?.devices ?? null);
  if (devices?.size === 0) return { scan: null, unavailable };
  const [only] = devices?.size === 1 ? devices : [];
  const scan: TriggerScan = {
    read,
    // A page from the end of a list is one from the beginning of the list in the opposite order, reversed.
    order: isBackward ? opposite(order) : order,
    isOpposite: isBackward,
    from,
    to,
    // Filter pushdown of one sensor; of several the gateway selects.
    deviceId: only === undefined ? undefined : (deviceIdOf(only) ?? own ?? asId<'device'>(only)),
    after: position && isBackward ? { ...position, isOpposite: true } : position,
    wanted: count,
    keep: keepOf(filter, only === undefined ? devices : null),
    mostRequests: limits.triggerPageRequests,
  };
  return { scan, unavailable };
}

/** Keys of the sensors whose triggers can match; null where all can. */
function devicesOf(
  { deviceId, deviceIds }: TriggerFilter,
  own: DeviceId | undefined,
  selected: ReadonlySet<DeviceKey> | null,
): ReadonlySet<DeviceKey> | null {
  const named = [own && [own], deviceId == null ? null : [deviceId], deviceIds]
    .filter((ids) => ids != null)
    .map((ids): ReadonlySet<DeviceKey> => new Set(ids.map(deviceKeyOf)));
  const [first, ...others] = selected ? [...named, selected] : named;
  return first ? new Set([...first].filter((device) => others.every((set) => set.has(device)))) : null;
}

function keepOf(
  filter: TriggerFilter,
  devices: ReadonlySet<DeviceKey> | null,
): ((trigger: Trigger) => boolean) | undefined {
  if (!devices && !filtersByTrigger(filter)) return undefined;
  // The Device IDs are among `devices`, or upstream selects by the one that is left.
  const matches = triggerMatcher({ ...filter, deviceIds: null }, () => devices);
  return (trigger) => matches(trigger, traitsOf(trigger, null));
}

// Bounds finer than upstream may compare are tested here, so upstream's count would be too high.
function countedUpstream({ keep, from, to }: TriggerScan): boolean {
  return !keep && (!from || fitsMs(from)) && (!to || fitsMs(to));
}

function opposite(order: TriggerScan['order']): TriggerScan['order'] {
  return order === 'asc' ? 'desc' : 'asc';
}

function listOrderOf({ order, isOpposite }: TriggerScan): TriggerScan['order'] {
  return isOpposite ? opposite(order) : order;
}

function listName(order: TriggerScan['order']): string {
  return `triggers:${order}`;
}
