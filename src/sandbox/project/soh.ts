import { dayMs } from '../../clock.js';
import { ParameterError, type Parameters } from '../http/parameters.js';
import { ascending } from '../http/sorted.js';
import { instantOf, textOf } from '../time.js';
import type { ProjectData } from '../world.js';
import { maskedHealthReport } from './masking.js';
import type { HealthReport, ProjectSensor } from './records.js';

/** A page of health reports (docs/interfaces.md P4): oldest first, `from` exclusive, `to` inclusive, `next_from` while more remain. */
export function healthPage(window: HealthWindow, data: ProjectData, sensor: ProjectSensor): object {
  const { fromMs, toMs, limit } = window;
  const page: HealthReport[] = [];
  let nextFrom: string | null = null;
  for (const report of reportsOf(data, sensor.device_id, fromMs, toMs)) {
    if (page.length === limit) {
      nextFrom = page[limit - 1]?.timestamp ?? null;
      break;
    }
    page.push(data.project.location_masked ? maskedHealthReport(report) : report);
  }
  return {
    device_id: sensor.device_id,
    station: sensor.station,
    from: textOf(fromMs),
    to: textOf(toMs),
    next_from: nextFrom,
    data: page,
  };
}

export interface HealthWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

/** docs/interfaces.md P4: by default the 24 hours before `to`, and `to` is now; at most 7 days. */
export function healthWindow(query: Parameters, nowMs: number): HealthWindow {
  const toMs = query.utcTimeOrDate('to') ?? nowMs;
  const fromMs = query.utcTimeOrDate('from') ?? toMs - dayMs;
  const limit = query.integer('limit', { min: 1, max: 5000, fallback: 1000 });
  // Assumed: a window that ends before it begins is a range that is wrong, as one that is too long.
  if (fromMs > toMs) throw new ParameterError('from', 'is after to', 'range');
  if (toMs - fromMs > 7 * dayMs) throw new ParameterError('from', 'is more than 7 days before to', 'range');
  return { fromMs, toMs, limit };
}

function reportsOf(
  data: ProjectData,
  deviceId: string,
  afterMs: number,
  toMs: number,
): Iterable<HealthReport> {
  if (typeof data.healthReports === 'function') return data.healthReports(deviceId, afterMs, toMs);
  return (data.healthReports[deviceId] ?? [])
    .map((report) => ({ report, ms: instantOf(report.timestamp) ?? Number.NaN }))
    .filter(({ ms }) => ms > afterMs && ms <= toMs)
    .sort((a, b) => ascending(a.ms, b.ms))
    .map(({ report }) => report);
}
