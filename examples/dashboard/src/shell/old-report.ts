import type { SensorItem } from '../data/world.js';
import type { Format } from '../texts/format.js';

const oldReportMs = 3_600_000;
// Within the hour, so that a page that stays open does not take a station for silent.
export const reportAgainMs = 600_000;

/**
 * The age, in words, of the report that battery, charging, signal, temperature and clock are from, where it is old: a silent
 * station must not look as if this were its present state. Null without such values, and where the report is recent.
 * @param report null or undefined where none was read: nothing that a station reported is later than its last contact
 */
export function oldReportAge(
  { power, connectivity, lastSeenAt }: Pick<SensorItem, 'power' | 'connectivity' | 'lastSeenAt'>,
  report: { readonly timestamp: string } | null | undefined,
  nowMs: number,
  format: Pick<Format, 'ageOf'>,
): string | null {
  const hasValues = report || connectivity?.signalStrength || typeof power?.batteryVolts === 'number';
  const reportedAt = report?.timestamp ?? lastSeenAt;
  if (!hasValues || reportedAt === null || nowMs - Date.parse(reportedAt) <= oldReportMs) return null;
  return format.ageOf(reportedAt, nowMs);
}
