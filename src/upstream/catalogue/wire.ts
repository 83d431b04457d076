import { z } from 'zod';
import { identifier, isMalformed, locationCode, num, part, seedCode, text } from '../decode/fields.js';
import { readTime } from '../decode/time.js';

/**
 * Shapes as docs/interfaces.md C2 spells them. Unknown fields are ignored, unknown values pass, anything may be null.
 */

const sensorListFields = {
  id: identifier<'sensor of the catalogue'>(),
  serial_number: text,
  type: text,
  station_code: seedCode,
  network_id: text,
  status: text,
  last_seen: text,
};

export const sensorShape = z.object({
  ...sensorListFields,
  /** `elevation` in metres. */
  location: part({ latitude: num, longitude: num, elevation: num }),
});
export type WireSensor = z.output<typeof sensorShape>;

export const sensorDetailShape = z.object({
  ...sensorListFields,
  location: part({ latitude: num, longitude: num, elevation: num, site_name: text }),
  network_code: seedCode,
  location_code: locationCode,
  firmware_version: text,
  created_at: text,
});
export type WireSensorDetail = z.output<typeof sensorDetailShape>;

export const waveformShape = z.object({
  sensor_id: text,
  channel: text,
  start_time: z.string(),
  end_time: z.string(),
  /** Hertz. */
  sample_rate: z.number().positive(),
  /** A million of these are common: they are checked in one loop by the client, not one by one by zod. */
  samples: z.custom<readonly number[]>(Array.isArray),
});
export type WireWaveform = z.output<typeof waveformShape>;

export const eventShape = z.object({
  id: identifier<'event of the catalogue'>(),
  origin_time: text,
  latitude: num,
  longitude: num,
  depth_km: num,
  magnitude: num,
  magnitude_type: text,
  location_description: text,
  status: text,
  network_id: text,
});
export type WireEvent = z.output<typeof eventShape>;

/** An event of a list: one whose origin cannot be read is dropped and counted (docs/behaviour.md 5.12). */
export const listedEventShape = eventShape.refine(
  ({ origin_time, latitude, longitude }) =>
    ![origin_time, latitude, longitude].some(isMalformed) &&
    (typeof origin_time !== 'string' || readTime(origin_time) !== null),
);

export const arrivalShape = z.object({
  station_code: identifier<'station code'>().transform((code) => code.trim()),
  distance_km: num,
  p_arrival: text,
  s_arrival: text,
});
export type WireArrival = z.output<typeof arrivalShape>;

export const eventDetailShape = eventShape.extend({
  depth_uncertainty_km: num,
  horizontal_uncertainty_km: num,
  magnitude_uncertainty: num,
  quality: part({ stations_used: num, azimuthal_gap: num, rms_residual: num }),
  /** Decoded one by one by the client, so that a bad arrival loses only itself. */
  stations: z.array(z.unknown()).nullish().catch(null),
  created_at: text,
});
export interface WireEventDetail extends Omit<z.output<typeof eventDetailShape>, 'stations'> {
  readonly stations: readonly WireArrival[] | null;
}

export const networkShape = z.object({
  id: identifier<'network'>(),
  name: text,
  description: text,
  organization_id: text,
  sensor_count: num,
  created_at: text,
});
export type WireNetwork = z.output<typeof networkShape>;

export const networkStatisticsShape = z.object({
  network_id: text,
  total_sensors: num,
  online_sensors: num,
  offline_sensors: num,
  events_30d: num,
  /** Fraction between 0 and 1. */
  data_completeness: num,
});
export type WireNetworkStatistics = z.output<typeof networkStatisticsShape>;
