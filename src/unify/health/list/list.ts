import { dayMs, floorTo, hourMs, plus } from '../../../clock.js';
import { BadUserInput } from '../../../errors.js';
import { limits } from '../../../limits.js';
import type { DeviceId } from '../../../upstream/decode/fields.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { HealthQuery } from '../../../upstream/project/client.js';
import type { UnifyContext } from '../../context.js';
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
} from '../../paging.js';
import { Instant } from '../../time/instant.js';
import type { HealthReport } from '../report.js';
import { scanHealthReportsBackward } from './backward-scan.js';
import { scanHealthReports } from './scan.js';
import type { HealthPosition } from './seam.js';

export type HealthOrder = 'TIMESTAMP_ASC' | 'TIMESTAMP_DESC';

export interface HealthListArgs extends PageArgs {
  /** Exclusive; null for 24 hours before `to`. */
  readonly from?: Instant | null | undefined;
  /** Inclusive; null for now. */
  readonly to?: Instant | null | undefined;
  readonly orderBy: HealthOrder;
}

export const defaultHealthReports = 100;

/**
 * Health reports of a sensor. Null when the project does not have the sensor.
 * @throws BadUserInput when `from` is after `to`
 */
export async function listHealthReports(
  ctx: UnifyContext,
  deviceId: DeviceId | null,
  { from = null, to = null, orderBy, ...args }: HealthListArgs,
): Promise<Slice<HealthReport> | null> {
  checkRange(from, to);
  const { count, cursor, argument, isBackward } = pageRequestOf(args, defaultHealthReports);
  const position = cursor === null ? null : decodeCursor(listName, cursor, argument, decodePosition);
  const read = readerOf(ctx, deviceId);
  if (!read) return null;
  const nowMs = ctx.clock.wallMs();
  const scan = { read, from, to, nowMs, wanted: count, mostRequests: limits.healthPageRequests };
  const scanned = await ((orderBy === 'TIMESTAMP_DESC') === isBackward
    ? scanHealthReports({ ...scan, after: position })
    : scanHealthReportsBackward({ ...scan, before: position }));
  if (!scanned) return null;
  const { reports, reached, unreadable } = scanned;
  const page = sliceOf(
    reports.map(({ report, position }) => edgeOf(report, () => cursorOf(position))),
    { next: scanned.more, previous: position !== null },
    lossOf('PROJECT', unreadable),
    () => reached && cursorOf(reached),
  );
  return isBackward ? reversed(page) : page;
}

/** @throws BadUserInput when `from` is after `to` */
export function checkRange(from: Instant | null, to: Instant | null): void {
  if (from && to && from.compare(to) > 0)
    throw new BadUserInput('`from` must not be after `to`', { argument: 'from' });
}

/**
 * The latest report of a sensor: from the last 24 hours, or from the 24 hours before `lastSeenAt` if that is longer
 * ago. One request: upstream lists oldest first, and a shorter window that is empty would cost a second one.
 */
export async function latestHealthReport(
  ctx: UnifyContext,
  deviceId: DeviceId | null,
  lastSeenAt: Instant | null,
): Promise<HealthReport | null> {
  const read = readerOf(ctx, deviceId);
  if (!read) return null;
  // Uses the tenant's clock: the queries below stay the same until one of the limits in `hasPassed` has passed.
  const nowMs = ctx.tenant.clock.wallMs();
  const lastOf = async (from: Instant | null, to: Instant | null) => {
    const scanned = await scanHealthReports({
      read,
      from,
      to,
      nowMs,
      after: null,
      wanted: Number.POSITIVE_INFINITY,
      onlyLast: true,
      mostRequests: limits.healthPageRequests,
    });
    return scanned?.reports.at(-1)?.report ?? null;
  };
  const isQuietFor = (ms: number) => lastSeenAt !== null && ctx.hasPassed(plus(lastSeenAt.ms, ms));
  if (!lastSeenAt || !isQuietFor(dayMs - hourMs)) return lastOf(null, null);
  // Rounded to whole hours, so that the query stays the same for an hour and its response can be cached.
  const from = Instant.fromMs(plus(floorTo(hourMs, lastSeenAt.ms), -dayMs));
  const inOneWindow = !isQuietFor(5 * dayMs);
  // If `lastSeenAt` was wrong, the last 24 hours are read as well.
  return (
    (await lastOf(from, inOneWindow ? null : from.plusMs(2 * dayMs))) ??
    (inOneWindow ? null : lastOf(null, null))
  );
}

const listName = 'health';

export function readerOf({ project, scope, slices }: UnifyContext, deviceId: DeviceId | null) {
  if (!project || deviceId === null) return null;
  return async (query: HealthQuery) => {
    const page = await project.healthReports(deviceId, query, scope);
    // Cached pages of many sensors can arrive at once and block the event loop.
    if (page) await slices.take(page.value.reports.length, scope.operationKey);
    return page;
  };
}

function cursorOf({ timestamp, rank }: HealthPosition): string {
  return encodeCursor(listName, [timestamp.toString(), rank]);
}

function decodePosition(value: unknown): HealthPosition | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [time, rank] = value as unknown[];
  const timestamp = typeof time === 'string' ? Instant.parse(time) : null;
  if (!timestamp) return null;
  if (rank === null) return { timestamp, rank };
  return typeof rank === 'number' &&
    Number.isSafeInteger(rank) &&
    rank >= 1 &&
    rank <= largestPage.healthReports
    ? { timestamp, rank }
    : null;
}
