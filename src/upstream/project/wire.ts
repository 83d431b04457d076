import { z } from 'zod';
import {
  anyList,
  bool,
  boolOf,
  identifier,
  isMalformed,
  num,
  numOf,
  part,
  seedCode,
  text,
  textOf,
} from '../decode/fields.js';
import { listTime, readTime, unixSeconds } from '../decode/time.js';

/**
 * Shapes as docs/interfaces.md P2 spells them. Unknown fields are ignored, unknown values pass, anything may be null.
 */

export const projectShape = z.object({
  id: identifier<'project'>(),
  name: text,
  network_code: seedCode,
  sensor_count: num,
  location_masked: bool,
  api_key_id: text,
});
export type WireProject = z.output<typeof projectShape>;

export const sensorShape = z.object({
  device_id: identifier<'device'>(),
  station: seedCode,
  network: seedCode,
  sensor_type: text,
  firmware: text,
  /** `online`, or any other text (docs/interfaces.md P3). */
  status: text,
  last_seen: text,
  location: part({ latitude: num, longitude: num, elevation_m: num, name: text, masked: bool }),
  power: part({ battery_volts: num, charging: bool, source: text }),
  /** `signal_strength` is dBm when negative, percent otherwise. */
  connectivity: part({ type: text, signal_strength: num }),
});
export type WireSensor = z.output<typeof sensorShape>;

const healthFields = {
  received_at: textOf,
  firmware: textOf,
  power_source: textOf,
  connection_type: textOf,
  signal_strength: numOf,
  uptime_s: numOf,
  reboot_reason: textOf,
  clock_quality: textOf,
  sync_age_s: numOf,
  data_tx_bytes: numOf,
  data_rx_bytes: numOf,
  battery_volts: numOf,
  charging: boolOf,
  temperature_c: numOf,
  free_heap_bytes: numOf,
  buffer_usage_pct: numOf,
};
const healthDecoders = Object.entries(healthFields);

/** The fields of a health report that docs/interfaces.md P2 names. */
export const healthFieldNames: ReadonlySet<string> = new Set(['timestamp', ...Object.keys(healthFields)]);

export type WireHealthReport = Readonly<Record<string, unknown>> & { readonly timestamp: string } & {
  readonly [Name in keyof typeof healthFields]: ReturnType<(typeof healthFields)[Name]>;
};

/**
 * Loose: the names of the GPS position fields are not documented, so every other field passes. One step for the whole
 * record: a page has 5,000 of them (docs/interfaces.md P4), and a schema for each field takes several times as long.
 */
export const healthReportShape = z.custom<{ timestamp: string }>(hasTimestamp).transform((raw) => {
  const report: Record<string, unknown> = { ...raw };
  report.timestamp = listTime.parse(raw.timestamp);
  for (const [name, decode] of healthDecoders) report[name] = decode(report[name]);
  return report as WireHealthReport;
});

function hasTimestamp(raw: unknown): boolean {
  return (
    typeof raw === 'object' && raw !== null && 'timestamp' in raw && listTime.safeParse(raw.timestamp).success
  );
}

/** The response of `GET /v1/sensors/{id}/soh` around its `data`. */
export interface WireHealthPage {
  readonly reports: readonly WireHealthReport[];
  /** The `from` of the next page, with the same `to`; null when all has been returned. */
  readonly nextFrom: string | null;
  /** One name for each report that was dropped; left out where there is none. */
  readonly unreadable?: readonly string[];
}

const originShape = part({
  id: text,
  latitude: num,
  longitude: num,
  /** Kilometres. */
  depth: num,
  /** Unix seconds. */
  origin_time: unixSeconds,
  /** Unix seconds. */
  issued_at: unixSeconds,
});

export const eventShape = z.object({
  id: identifier<'event of the project'>(),
  /** RFC 3339. */
  issued_at: text,
  magnitude: num,
  origin: originShape,
  station_count: num,
  pick_stations: anyList,
});
export type WireEvent = z.output<typeof eventShape>;

/**
 * An event of a list. One without an origin is not located yet; one whose origin or issue time cannot be read is
 * dropped and counted, since it would vanish from every list without a word (docs/behaviour.md 5.12).
 */
export const listedEventShape = z
  .looseObject({ origin: z.record(z.string(), z.unknown()).nullish() })
  .pipe(eventShape)
  .refine(
    ({ issued_at, origin }) =>
      ![origin?.origin_time, origin?.latitude, origin?.longitude].some(isMalformed) &&
      (typeof issued_at !== 'string' ||
        issued_at.trim() === '' ||
        readTime(issued_at) !== null ||
        typeof origin?.issued_at === 'number'),
  );

/** The layout of the elements is not documented, nor if the list fields are repeated (docs/interfaces.md P2). */
export const eventDetailShape = z.object({
  origins: anyList,
  magnitudes: anyList,
  picks: anyList,
  amplitudes: anyList,
  descriptions: anyList,
});
export interface WireEventDetail extends z.output<typeof eventDetailShape> {
  /** The list fields, where the detail repeats them. */
  readonly event: WireEvent | null;
}

export const triggerShape = z.object({
  id: identifier<'trigger'>(),
  device_id: identifier<'device'>(),
  station: seedCode,
  location_name: text,
  start_time: listTime,
  end_time: text,
  peak_time: text,
  pga_horizontal_mg: num,
  pga_hne_mg: num,
  pga_hnn_mg: num,
  pga_hnz_mg: num,
  pgv_ehz_mm_s: num,
  peak_ehz_counts: num,
  peak_hz: num,
  /** `open`, `closed`, or any other text. */
  status: text,
});
export type WireTrigger = z.output<typeof triggerShape>;
