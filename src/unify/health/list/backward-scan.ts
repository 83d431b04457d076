import { dayMs, floorTo, hourMs, plus, type UnixMs } from '../../../clock.js';
import { QueryTooComplex } from '../../../errors.js';
import { earlier, Instant, later } from '../../time/instant.js';
import { type HealthScan, type PositionedReport, type ScannedReports, scanHealthReports } from './scan.js';
import type { HealthPosition } from './seam.js';
import { longestRangeMs, windowStartMs } from './windows.js';

export interface BackwardHealthScan extends Omit<HealthScan, 'after' | 'onlyLast'> {
  /** Position to continue from; null for the end of the range. */
  readonly before: HealthPosition | null;
}

// A window that needs more requests is read again at a quarter of its length.
const mostWindowRequests = 4;

/**
 * Scans health reports from the latest to the earliest. Upstream lists them oldest first, so each window is read whole:
 * the last 24 hours, then windows of up to 7 days. Null when the project does not have the sensor.
 * @throws QueryTooComplex when the reports lie too densely for that
 */
export async function scanHealthReportsBackward(scan: BackwardHealthScan): Promise<ScannedReports | null> {
  const { to, before, wanted, nowMs, mostRequests } = scan;
  const lower = scan.from ?? (to ?? Instant.fromMs(nowMs)).plusMs(-dayMs);
  const found: PositionedReport[] = [];
  let unreadable = 0;
  let requests = 0;
  const read: HealthScan['read'] = (query) => {
    requests++;
    return scan.read(query);
  };
  let end = before ? earlier(before.timestamp, to ?? before.timestamp) : to;
  let lengthMs = dayMs;
  let reached = before;

  for (;;) {
    const start = later(lower, startOf(end, lengthMs, nowMs));
    const isLast = start.compare(lower) === 0;
    // Without a range, as the latest report of a sensor is read, so that both share one cached response.
    const isDefault = end === null && lengthMs === dayMs && (!isLast || scan.from === null);
    const window = await scanHealthReports({
      read,
      from: isDefault ? null : start,
      to: end,
      nowMs,
      after: null,
      wanted: Number.POSITIVE_INFINITY,
      mostRequests: Math.min(mostWindowRequests, mostRequests - requests),
    });
    if (window === null) return null;
    const isWhole = window.reached === null;
    if (isWhole) {
      unreadable += window.unreadable;
      const limit = found.at(-1)?.position ?? before;
      found.push(...window.reports.filter((placed) => isBefore(placed.position, limit)).reverse());
      // Upstream's clock decides where the last 24 hours begin: the next window overlaps them.
      const oldest = isDefault ? found.at(-1) : undefined;
      end = oldest?.report.timestamp ?? (isDefault ? start.plusMs(hourMs) : start);
      reached = oldest?.position ?? { timestamp: end, rank: null };
    }
    const more = found.length > wanted;
    if (more || (isWhole && isLast)) {
      return { reports: found.slice(0, wanted), more, reached: null, unreadable };
    }
    if (requests >= mostRequests) {
      if (reached === before) throw tooDense();
      return { reports: found, more: true, reached, unreadable };
    }
    if (!isWhole) lengthMs /= 4;
    else if (lengthMs === dayMs) lengthMs = longestRangeMs;
  }
}

/** Windows of the greatest length begin on a grid, so that overlapping ranges share them. */
function startOf(end: Instant | null, lengthMs: number, nowMs: UnixMs): Instant {
  const endMs = end?.ms ?? nowMs;
  return Instant.fromMs(
    lengthMs === longestRangeMs ? windowStartMs(endMs) : floorTo(1, plus(endMs, -lengthMs)),
  );
}

function isBefore(position: HealthPosition, limit: HealthPosition | null): boolean {
  if (limit === null) return true;
  const order = position.timestamp.compare(limit.timestamp);
  if (order !== 0) return order < 0;
  return limit.rank === null || (position.rank !== null && position.rank < limit.rank);
}

function tooDense() {
  return new QueryTooComplex(
    'The sensor sent too many reports to read the latest of this range first: give a later `from`, or order them by TIMESTAMP_ASC',
  );
}
