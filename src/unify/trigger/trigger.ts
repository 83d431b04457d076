import { BadUserInput, QueryTooComplex } from '../../errors.js';
import { limits } from '../../limits.js';
import { asId, type DeviceId, known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import {
  decodeCursor,
  edgeOf,
  encodeCursor,
  lossOf,
  type PageArgs,
  pageRequestOf,
  reversed,
  type Slice,
  sliceOf,
} from '../paging.js';
import { deviceIdOf, serialKey } from '../sensor/identity.js';
import type { Instant } from '../time/instant.js';
import { fitsMs } from '../time/millisecond.js';
import { decodePosition, encodePosition, type TriggerPosition } from './list/position.js';
import { reachOf, type TriggerReach } from './list/reach.js';
import { projectTriggers, type ScannedTriggers, scanTriggers, type TriggerScan } from './list/scan.js';
import { scanTogether } from './list/together.js';
import type { Trigger, TriggerStatus } from './record.js';

export { readTrigger } from './lookup.js';
export type { Trigger } from './record.js';

export interface TriggerFilter {
  /** Start time, both ends inclusive. */
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  /** Compared without regard to case. */
  readonly deviceId?: string | null | undefined;
  readonly status?: TriggerStatus | null | undefined;
  /** Least horizontal PGA, in thousandths of standard gravity (mg). */
  readonly minPgaMg?: number | null | undefined;
}

export interface TriggerListArgs extends PageArgs {
  readonly filter?: TriggerFilter | null | undefined;
  readonly orderBy?: 'START_TIME_DESC' | 'START_TIME_ASC' | undefined;
}

const defaultTriggers = 50;

export interface TriggerSlice extends Slice<Trigger> {
  readonly reach: TriggerReach;
  /** Null when the gateway itself filters the list. Costs one request when `after` is given. */
  totalCount(): Promise<number | null>;
}

/**
 * Triggers in exact start-time order.
 * @throws BadUserInput when `from` is after `to`; NotConfigured without a project interface.
 */
export async function listTriggers(ctx: UnifyContext, args: TriggerListArgs): Promise<TriggerSlice> {
  const scan = scanOf(ctx, args);
  return pageOf(ctx, scan, await scanTriggers(scan));
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
  const asked = args.filter?.deviceId;
  const contradicts = asked != null && serialKey(asked) !== serialKey(deviceId);
  const list = { ...args, filter: { ...args.filter, deviceId } };
  const scan = scanOf(ctx, list);
  if (!contradicts)
    return pageOf(ctx, scan, (await scanTogether(ctx, scan, list)) ?? (await scanTriggers(scan)));
  return {
    ...sliceOf([], { next: false, previous: false }),
    reach: { readAtMs: ctx.clock.now(), afterMs: null, matches: () => false },
    totalCount: () => Promise.resolve(0),
  };
}

function pageOf(ctx: UnifyContext, scan: TriggerScan, scanned: ScannedTriggers): TriggerSlice {
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
    lossOf('PROJECT', unreadable),
    // A filtered list that was cut continues from the last position it read, even if nothing matched up to there.
    reached && cursorOf(reached),
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

function scanOf(ctx: UnifyContext, args: TriggerListArgs): TriggerScan {
  const filter = args.filter ?? {};
  const from = filter.from ?? undefined;
  const to = filter.to ?? undefined;
  if (from && to && from.compare(to) > 0) {
    throw new BadUserInput('`filter.from` must not be after `filter.to`', { argument: 'filter.from' });
  }
  const { count, cursor, argument, isBackward } = pageRequestOf(args, defaultTriggers);
  const order = args.orderBy === 'START_TIME_ASC' ? 'asc' : 'desc';
  const position = cursor === null ? null : decodeCursor(listName(order), cursor, argument, decodePosition);
  return {
    read: projectTriggers(ctx),
    // A page from the end of a list is one from the beginning of the list in the opposite order, reversed.
    order: isBackward ? opposite(order) : order,
    isOpposite: isBackward,
    from,
    to,
    deviceId:
      filter.deviceId == null ? undefined : (deviceIdOf(filter.deviceId) ?? asId<'device'>(filter.deviceId)),
    after: position && isBackward ? { ...position, isOpposite: true } : position,
    wanted: count,
    keep: keepOf(filter),
    mostRequests: limits.triggerPageRequests,
  };
}

function keepOf({ status, minPgaMg }: TriggerFilter): ((trigger: Trigger) => boolean) | undefined {
  if (status == null && minPgaMg == null) return undefined;
  return (trigger) => {
    if (status != null && trigger.status !== status) return false;
    const pgaMg = known(trigger.pgaHorizontalMg);
    return minPgaMg == null || (pgaMg !== null && pgaMg >= minPgaMg);
  };
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
