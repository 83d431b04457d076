/** The records of the two interfaces as far as the compared operations need them, and what the graph makes of them. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
}

export interface Envelope<T> {
  readonly data: readonly T[];
}

export interface WireSensor {
  readonly device_id: string;
  readonly station: string;
  readonly network: string;
  readonly sensor_type: string;
  readonly firmware: string;
  readonly status: string;
  readonly location: { readonly latitude: number; readonly longitude: number };
}

export interface WireTrigger {
  readonly id: number;
  readonly device_id: string;
  readonly station: string;
  readonly start_time: string;
  readonly status: string;
  readonly pga_horizontal_mg: number;
  readonly pgv_ehz_mm_s: number;
}

export interface WireHealthReport {
  readonly timestamp: string;
  readonly battery_volts: number | null;
  readonly temperature_c: number | null;
}

export interface WireProjectEvent {
  readonly id: string;
}

export interface WireCatalogueEvent {
  readonly id: string;
  readonly origin_time: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly magnitude: number;
  readonly magnitude_type: string;
  readonly location_description: string;
}

export interface WireNetwork {
  readonly name: string;
  readonly sensor_count: number;
}

export type Sensor = ReturnType<typeof sensorOf>;
export type Trigger = ReturnType<typeof triggerOf>;
export type Event = ReturnType<typeof eventOf>;

export function sensorOf(wire: WireSensor) {
  const { latitude, longitude } = wire.location;
  return {
    deviceId: wire.device_id,
    stationCode: wire.station,
    networkCode: wire.network,
    model: wire.sensor_type,
    firmwareVersion: wire.firmware,
    status: wire.status.toUpperCase(),
    location: { latitude, longitude, masked: false },
  };
}

export function triggerOf(wire: WireTrigger, sensor: Sensor | undefined) {
  return {
    triggerId: String(wire.id),
    stationCode: wire.station,
    startTime: wire.start_time,
    status: wire.status.toUpperCase(),
    pgaMg: wire.pga_horizontal_mg,
    pgvMmPerS: wire.pgv_ehz_mm_s,
    sensor: sensor ?? null,
  };
}

export function healthReportOf(wire: WireHealthReport) {
  return {
    timestamp: wire.timestamp,
    batteryVolts: wire.battery_volts,
    temperatureC: wire.temperature_c,
  };
}

export function eventOf(wire: WireCatalogueEvent, alsoIn: readonly WireProjectEvent[]) {
  return {
    id: wire.id,
    originTime: wire.origin_time,
    latitude: wire.latitude,
    longitude: wire.longitude,
    magnitude: wire.magnitude,
    magnitudeType: wire.magnitude_type,
    place: wire.location_description,
    sources: alsoIn.some(({ id }) => id === wire.id) ? ['PROJECT', 'CATALOGUE'] : ['CATALOGUE'],
  };
}

export function networkOf(wire: WireNetwork) {
  return { name: wire.name, sensorCount: wire.sensor_count };
}

const legend = [
  ['I', 'not felt'],
  ['II', 'weak'],
  ['III', 'weak'],
  ['IV', 'light'],
  ['V', 'moderate'],
  ['VI', 'strong'],
  ['VII', 'very strong'],
  ['VIII', 'severe'],
  ['IX', 'violent'],
  ['X', 'extreme'],
];

/** Worden et al. (2012), the larger of what acceleration and velocity say. */
export function intensityOf({ pgaMg, pgvMmPerS }: Trigger) {
  const pga = Math.log10(pgaMg * 0.980665);
  const pgv = Math.log10(pgvMmPerS / 10);
  const ofPga = pga <= 1.57 ? 1.78 + 1.55 * pga : -1.6 + 3.7 * pga;
  const ofPgv = pgv <= 0.53 ? 3.78 + 1.47 * pgv : 2.89 + 3.16 * pgv;
  const mmi = Math.min(10, Math.max(1, ofPga, ofPgv));
  const [roman, shaking] = legend[Math.round(mmi) - 1] ?? [];
  return { roman, shaking };
}

/** On a sphere, which is within half a percent of the ellipsoid. */
export function distanceKm(a: Place, b: Place): number {
  const rad = Math.PI / 180;
  const [phiA, phiB] = [a.latitude * rad, b.latitude * rad];
  const north = Math.sin((phiB - phiA) / 2) ** 2;
  const east = Math.sin(((b.longitude - a.longitude) * rad) / 2) ** 2;
  return 2 * 6371 * Math.asin(Math.sqrt(north + Math.cos(phiA) * Math.cos(phiB) * east));
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}
