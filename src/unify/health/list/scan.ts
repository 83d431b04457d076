import { dayMs, earliest, hourMs, plus, type UnixMs } from '../../../clock.js';
import { UpstreamUnavailable } from '../../../errors.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { HealthQuery } from '../../../upstream/project/client.js';
import type { WireHealthPage } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import { Instant, later } from '../../time/instant.js';
import { ceilMs, fitsMs, floorMs } from '../../time/millisecond.js';
import { type HealthReport, healthReportOf } from '../report.js';
import { type HealthPosition, HealthSeam } from './seam.js';
import { longestRangeMs, windowEndMs } from './windows.js';

export interface HealthScan {
  readonly read: (query: HealthQuery) => Promise<Read<WireHealthPage> | null>;
  /** Exclusive; null for upstream's default, 24 hours before `to`. */
  readonly from: Instant | null;
  /** Inclusive; null for now by upstream's clock. */
  readonly to: Instant | null;
  readonly nowMs: UnixMs;
  readonly after: HealthPosition | null;
  readonly wanted: number;
  /** True to decode only the last report of each page. */
  readonly onlyLast?: boolean;
  /** Most upstream requests. */
  readonly mostRequests: number;
}

export interface ScannedReports {
  /** In the order of the scan, at most `wanted`. */
  readonly reports: readonly PositionedReport[];
  /** True when more may follow, also when the scan ended at `mostRequests`. */
  readonly more: boolean;
  /** Position that a scan ended by `mostRequests` has reached, from which to continue. Null for other scans. */
  readonly reached: HealthPosition | null;
  /** Number of records of the pages that could not be read. */
  readonly unreadable: number;
}

type ScannedPages = Omit<ScannedReports, 'unreadable'>;

export interface PositionedReport {
  readonly report: HealthReport;
  readonly position: HealthPosition;
}

/**
 * Scans health reports over a range of any length, oldest first: in windows of at most 7 days, and within a window by
 * `next_from` with the same `to` (docs/interfaces.md P4). Upstream's `from` is exclusive and its `to` inclusive, so
 * adjacent windows share no report and lose none. Null when the project does not have the sensor.
 * @throws UpstreamUnavailable when `next_from` does not advance
 */
export async function scanHealthReports(scan: HealthScan): Promise<ScannedReports | null> {
  const unreadable = new Set<string>();
  const scanned = await scanPages({
    ...scan,
    async read(query) {
      const page = await scan.read(query);
      for (const name of page?.value.unreadable ?? []) unreadable.add(name);
      return page;
    },
  });
  return scanned && { ...scanned, unreadable: unreadable.size };
}

async function scanPages(scan: HealthScan): Promise<ScannedPages | null> {
  const found: PositionedReport[] = [];
  const seam = new HealthSeam(scan.after);
  // Assumed: no sensor dates a report more than a day ahead. Windows beyond that would be empty.
  const toMs = earliest(scan.to ? ceilMs(scan.to) : scan.nowMs, plus(scan.nowMs, dayMs));
  let start = startOf(scan, toMs);
  // End of the current window; `next_from` must be followed with the same `to`.
  let end: End | null = null;

  for (let requests = 0; start.ms < toMs; requests++) {
    if (requests === scan.mostRequests) return { ...cut(found, scan.wanted, true), reached: seam.position };
    end ??= endOf(scan, start, toMs);
    const again = requests === 0 && scan.after?.rank ? scan.after.rank + 2 : 0;
    const limit = Math.min(largestPage.healthReports, scan.wanted - found.length + 1 + again);
    const from = start.text ?? (end.ms < toMs ? textOf(start.ms) : undefined);
    const page = await scan.read({ from, to: end.text, limit });
    if (page === null) return null;
    seam.beginPage();
    for (const record of scan.onlyLast ? lastOf(scan, page) : page.value.reports) {
      const report = healthReportOf(record, page.readAtMs);
      const position = report && isWithin(scan, report.timestamp) ? seam.pass(report) : null;
      if (report && position) found.push({ report, position });
    }
    const { nextFrom } = page.value;
    // `next_from` already shows that more reports follow; no further read is needed.
    const more = found.length > scan.wanted || (found.length === scan.wanted && nextFrom !== null);
    if (more) return cut(found, scan.wanted, true);
    start = nextFrom === null ? { ms: end.ms, text: textOf(end.ms) } : advanced(from, nextFrom);
    if (nextFrom === null) end = null;
    seam.reach(instantAt(start));
  }
  return cut(found, scan.wanted, false);
}

/** The last readable report in the range, of thousands in order: at most one. */
function lastOf(scan: HealthScan, { value: { reports }, readAtMs }: Read<WireHealthPage>) {
  const at = reports.findLastIndex((record) => {
    const report = healthReportOf(record, readAtMs);
    return report !== null && isWithin(scan, report.timestamp);
  });
  return at < 0 ? [] : reports.slice(at, at + 1);
}

interface Start {
  readonly ms: UnixMs;
  /** Undefined for upstream's default. */
  readonly text: string | undefined;
}

interface End {
  readonly ms: UnixMs;
  /** Undefined for now. */
  readonly text: string | undefined;
}

function endOf(scan: HealthScan, start: Start, toMs: UnixMs): End {
  const ms = windowEndMs(start.ms, toMs);
  return { ms, text: ms < toMs ? textOf(ms) : lastEnd(scan, start.ms, toMs) };
}

function startOf({ from, to, nowMs, after }: HealthScan, toMs: UnixMs): Start {
  const lower = from ?? (to ? to.plusMs(-dayMs) : null);
  const passed = after && afterStart(after);
  const start = passed && lower ? later(passed, lower) : (passed ?? lower);
  if (!start) return { ms: plus(nowMs, -dayMs), text: undefined };
  if (fitsMs(start)) return { ms: floorMs(start), text: start.toString() };
  // If upstream compares by the millisecond, it would drop later reports of the same millisecond.
  const ms = plus(floorMs(start), -1);
  return { ms, text: textOf(earliest(ms, toMs)) };
}

// Starts one millisecond earlier: reports with the timestamp or millisecond of the last one are repeated and then
// counted off.
function afterStart({ timestamp, rank }: HealthPosition): Instant {
  return rank === null ? timestamp : Instant.fromMs(plus(floorMs(timestamp), -1));
}

// Without `to`, equal queries about the present share one cached response. An hour of margin allows for clock
// differences: the range must not exceed 7 days by upstream's clock.
function lastEnd({ to }: HealthScan, startMs: UnixMs, toMs: UnixMs): string | undefined {
  if (!to) return toMs - startMs <= longestRangeMs - hourMs ? undefined : textOf(toMs);
  return fitsMs(to) && floorMs(to) === toMs ? to.toString() : textOf(toMs);
}

function isWithin({ from, to }: HealthScan, timestamp: Instant): boolean {
  if (from && timestamp.compare(from) <= 0) return false;
  return !to || timestamp.compare(to) <= 0;
}

function advanced(from: string | undefined, nextFrom: string): Start {
  const next = Instant.parse(nextFrom);
  const before = from === undefined ? null : Instant.parse(from);
  if (!next || (before && next.compare(before) <= 0)) {
    throw new UpstreamUnavailable(
      'The health reports of the project do not advance: `next_from` is not after `from`',
    );
  }
  return { ms: floorMs(next), text: nextFrom };
}

function instantAt({ ms, text }: Start): Instant {
  return (text === undefined ? null : Instant.parse(text)) ?? Instant.fromMs(ms);
}

function cut(found: readonly PositionedReport[], wanted: number, more: boolean): ScannedPages {
  return { reports: found.slice(0, wanted), more: more || found.length > wanted, reached: null };
}

function textOf(ms: UnixMs): string {
  return Instant.fromMs(ms).toString();
}
