import { asMoment, dayMs, plus } from '../../clock.js';
import { QueryTooComplex } from '../../errors.js';
import { limits } from '../../limits.js';
import { type DeviceId, isMalformed, known, type Num } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { lossOf, type UnavailableSource } from '../paging.js';
import { Instant } from '../time/instant.js';
import { checkRange, readerOf } from './list/list.js';
import { scanHealthReports } from './list/scan.js';
import { longestRangeMs } from './list/windows.js';
import type { HealthReport, SignalStrength } from './report.js';

/** Values of the reports of one bucket that have one. */
export interface ValueSummary {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  readonly count: number;
}

/** Reports later than `from` and up to `to`. */
export interface HealthBucket {
  readonly from: Instant;
  readonly to: Instant;
  readonly reports: readonly HealthReport[];
}

export interface HealthHistory {
  readonly from: Instant;
  readonly to: Instant;
  readonly reportCount: number;
  readonly buckets: readonly HealthBucket[];
  readonly unavailableSources: readonly UnavailableSource[];
}

export interface HealthHistoryArgs {
  /** Exclusive; null for 24 hours before `to`. */
  readonly from?: Instant | null | undefined;
  /** Inclusive; null for now. */
  readonly to?: Instant | null | undefined;
  readonly buckets: number;
}

/**
 * The health reports of a range in buckets of equal length; a bucket without reports is there, and empty. Null when the
 * project does not have the sensor.
 * @throws BadUserInput when `from` is after `to`; QueryTooComplex when the range has too many reports
 */
export async function healthHistory(
  ctx: UnifyContext,
  deviceId: DeviceId | null,
  { from = null, to = null, buckets: count }: HealthHistoryArgs,
): Promise<HealthHistory | null> {
  checkRange(from, to);
  const read = readerOf(ctx, deviceId);
  if (!read) return null;
  const nowMs = ctx.clock.wallMs();
  const end = to ?? Instant.fromMs(nowMs);
  const start = from ?? (to ? to.plusMs(-dayMs) : Instant.fromMs(plus(nowMs, -dayMs)));
  checkRange(start, end);
  // Known before any request: a window has 7 days at most.
  if (Math.min(end.ms, nowMs) - start.ms > limits.healthPageRequests * longestRangeMs) throw tooLong();
  const scanned = await scanHealthReports({
    read,
    from,
    to,
    nowMs,
    after: null,
    wanted: Number.POSITIVE_INFINITY,
    mostRequests: limits.healthPageRequests,
  });
  if (!scanned) return null;
  if (scanned.reached) throw tooLong();
  const lengthMs = (end.ms - start.ms) / count;
  const buckets: HealthBucket[] = [];
  let next = 0;
  for (let index = 1, begin = start; index <= count; index++) {
    const isLast = index === count;
    const until = isLast ? end : Instant.fromMs(asMoment(Math.round(start.ms + index * lengthMs)));
    const reports: HealthReport[] = [];
    buckets.push({ from: begin, to: until, reports });
    begin = until;
    for (let placed = scanned.reports[next]; placed; placed = scanned.reports[++next]) {
      // Without `to`, upstream can have reports that are later than now by our clock.
      if (!isLast && placed.report.timestamp.compare(until) > 0) break;
      reports.push(placed.report);
    }
  }
  return {
    from: start,
    to: end,
    reportCount: scanned.reports.length,
    buckets,
    unavailableSources: lossOf('PROJECT', scanned.unreadable),
  };
}

function tooLong() {
  return new QueryTooComplex(
    `The range has more reports than ${limits.healthPageRequests} requests to the service can read: give a shorter one`,
  );
}

/** Null when no report of the bucket has a value that can be read. */
export function summaryOf(
  { reports }: HealthBucket,
  read: (report: HealthReport) => Num,
): ValueSummary | null {
  let [min, max, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (const report of reports) {
    const value = known(read(report));
    if (value === null) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    count++;
  }
  return count === 0 ? null : { min, mean: sum / count, max, count };
}

/** Reads the signal strength of a report in one unit; null where it was reported in the other one. */
export function signalStrengthIn(unit: SignalStrength['unit']): (report: HealthReport) => Num {
  return ({ signalStrength }) => {
    if (signalStrength === null || isMalformed(signalStrength)) return null;
    return signalStrength.unit === unit ? signalStrength.value : null;
  };
}
