import { BadUserInput, QueryTooComplex } from '../../errors.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { decodeCursor, type Edge, encodeCursor, type Slice, sliceOf } from '../paging.js';
import { deviceIdOf, serialKey } from '../sensor/identity.js';
import type { Instant } from '../time/instant.js';
import { fitsMs } from '../time/millisecond.js';
import { decodePosition, encodePosition } from './list/position.js';
import { reachOf, type TriggerReach } from './list/reach.js';
import {
  type PositionedTrigger,
  projectTriggers,
  type ScannedTriggers,
  scanTriggers,
  type TriggerScan,
} from './list/scan.js';
import { scanTogether } from './list/together.js';
import type { Trigger, TriggerStatus } from './record.js';

export { readTrigger } from './lookup.js';
export type { Trigger } from './record.js';

export interface TriggerFilter {
  /** Start time, both ends inclusive. */
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  /** In any case. */
  readonly deviceId?: string | null | undefined;
  readonly status?: TriggerStatus | null | undefined;
  /** Horizontal. */
  readonly minPgaMg?: number | null | undefined;
}

export interface TriggerListArgs {
  readonly filter?: TriggerFilter | null | undefined;
  readonly orderBy?: 'START_TIME_DESC' | 'START_TIME_ASC' | undefined;
  readonly first: number;
  readonly after?: string | null | undefined;
}

export interface TriggerSlice extends Slice<Trigger> {
  readonly reach: TriggerReach;
  /** Null where the gateway filters what upstream cannot. Costs a request of its own where `after` is given. */
  totalCount(): Promise<number | null>;
}

/** Requests that one list may need: past them it is cut, with a cursor to go on from. */
export const mostListRequests = 10;

/**
 * Triggers in exact start-time order.
 * @throws BadUserInput when `from` is after `to`; NotConfigured without a project interface.
 */
export async function listTriggers(ctx: UnifyContext, args: TriggerListArgs): Promise<TriggerSlice> {
  const walk = walkOf(ctx, args);
  return pageOf(ctx, walk, await scanTriggers(walk));
}

/** Those of one sensor; null for a sensor that the project does not have. A filter by another sensor leaves none. */
export async function listTriggersOf(
  ctx: UnifyContext,
  deviceId: string | null,
  args: TriggerListArgs,
): Promise<TriggerSlice | null> {
  if (deviceId === null) return null;
  const asked = args.filter?.deviceId;
  const contradicts = asked != null && serialKey(asked) !== serialKey(deviceId);
  const list = { ...args, filter: { ...args.filter, deviceId } };
  const walk = walkOf(ctx, list);
  if (!contradicts)
    return pageOf(ctx, walk, (await scanTogether(ctx, walk, list)) ?? (await scanTriggers(walk)));
  return {
    ...sliceOf([], { next: false, previous: false }),
    reach: { readAtMs: ctx.clock.now(), afterMs: null, matches: () => false },
    totalCount: () => Promise.resolve(0),
  };
}

function pageOf(ctx: UnifyContext, walk: TriggerScan, walked: ScannedTriggers): TriggerSlice {
  const { triggers, more, reached, total, readAtMs } = walked;
  if (more && triggers.length === 0 && reached === walk.after) {
    throw new QueryTooComplex(
      'More triggers started at one moment than one operation may read: narrow `filter.deviceId`',
    );
  }
  const list = listName(walk.order);
  const edges = triggers.map((placed) => new TriggerEdge(list, placed));
  const slice = sliceOf(edges, { next: more, previous: walk.after !== null });
  return {
    ...slice,
    reach: reachOf(walk, {
      triggers: triggers.map(({ trigger }) => trigger),
      more,
      // Infinite where nothing had to be read.
      readAtMs: Number.isFinite(readAtMs) ? readAtMs : ctx.clock.now(),
    }),
    // A filtered list that was cut goes on from where it looked last, even if it found nothing up to there.
    pageInfo: reached
      ? { ...slice.pageInfo, endCursor: encodeCursor(list, encodePosition(reached)) }
      : slice.pageInfo,
    totalCount: async () => {
      if (!countedUpstream(walk)) return null;
      if (walk.after === null && total !== null) return total;
      return (await scanTriggers({ ...walk, after: null, wanted: 1, mostRequests: 1 })).total;
    },
  };
}

/** Its cursor is made when it is asked for: of hundreds, mostly the last one's. */
class TriggerEdge implements Edge<Trigger> {
  readonly #list: string;
  readonly #placed: PositionedTrigger;

  constructor(list: string, placed: PositionedTrigger) {
    this.#list = list;
    this.#placed = placed;
  }

  get node(): Trigger {
    return this.#placed.trigger;
  }

  get cursor(): string {
    return encodeCursor(this.#list, encodePosition(this.#placed.position));
  }
}

function walkOf(ctx: UnifyContext, args: TriggerListArgs): TriggerScan {
  const filter = args.filter ?? {};
  const from = filter.from ?? undefined;
  const to = filter.to ?? undefined;
  if (from && to && from.compare(to) > 0) {
    throw new BadUserInput('`filter.from` must not be after `filter.to`', { argument: 'filter.from' });
  }
  const order = args.orderBy === 'START_TIME_ASC' ? 'asc' : 'desc';
  return {
    read: projectTriggers(ctx),
    order,
    from,
    to,
    deviceId: filter.deviceId == null ? undefined : (deviceIdOf(filter.deviceId) ?? filter.deviceId),
    after: args.after == null ? null : decodeCursor(listName(order), args.after, 'after', decodePosition),
    wanted: args.first,
    keep: keepOf(filter),
    mostRequests: mostListRequests,
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

// An end with more digits than upstream may compare by is finished here, so upstream's count would be of more.
function countedUpstream({ keep, from, to }: TriggerScan): boolean {
  return !keep && (!from || fitsMs(from)) && (!to || fitsMs(to));
}

function listName(order: TriggerScan['order']): string {
  return `triggers:${order}`;
}
