import { dayMs } from '../../clock.js';
import type { CatalogueSensor } from '../catalogue/records.js';
import type { ProjectSensor } from '../project/records.js';
import { randomOf } from '../random.js';
import { textOf } from '../time.js';
import type { Health } from './health.js';
import type { Station } from './network.js';

/** The project's record of a station as of `nowMs`. */
export function projectSensor(station: Station, health: Health, nowMs: number): ProjectSensor {
  const { latitude, longitude, elevationM } = station;
  const { status, lastSeen } = stateOf(station, health, nowMs);
  return {
    device_id: station.deviceId,
    station: station.code,
    network: station.network,
    sensor_type: modelOf(station),
    firmware: health.firmware,
    status,
    last_seen: lastSeen,
    // One that has never been installed anywhere.
    location:
      station.index === 42 ? null : { latitude, longitude, elevation_m: elevationM, name: station.siteName },
    power: station.index === 42 ? null : health.power(nowMs),
    connectivity: station.index === 42 ? null : health.connectivity(nowMs),
  };
}

/** The catalogue's record of the same station. */
export function catalogueSensor(
  station: Station,
  id: string,
  health: Health,
  nowMs: number,
): CatalogueSensor {
  const random = randomOf('catalogue record', station.deviceId);
  const { status, lastSeen } = stateOf(station, health, nowMs);
  return {
    id,
    serial_number: station.serialNumber,
    type: modelOf(station),
    station_code: station.code,
    network_id: station.networkId,
    // docs/interfaces.md C3 knows two; a third comes as it would from a service that grows.
    status: station.index === 15 ? 'decommissioned' : status,
    location: {
      latitude: round(station.latitude, 4),
      longitude: round(station.longitude, 4),
      elevation: station.index === 6 ? null : station.elevationM,
      site_name: station.siteName,
    },
    last_seen: lastSeen,
    network_code: station.network,
    location_code: random.pick(['00', '00', '10', '']),
    firmware_version: random.chance(0.95) ? health.firmware : null,
    created_at: textOf(Date.UTC(2021, 0, 1) + random.integer(0, 1500) * dayMs, 0),
  };
}

// docs/interfaces.md P3: online while it reported within the last 150 seconds. The other values are not shown.
function stateOf(
  station: Station,
  health: Health,
  nowMs: number,
): { status: string; lastSeen: string | null } {
  if (station.index === 42) return { status: 'provisioning', lastSeen: null };
  const heardMs = health.presence.lastHeardMs(nowMs);
  const lastSeen = textOf(heardMs, 0);
  if (nowMs - heardMs <= 150_000) return { status: 'online', lastSeen };
  return { status: station.index % 16 === 9 ? 'maintenance' : 'offline', lastSeen };
}

const modelOf = (station: Station) =>
  randomOf('model', station.deviceId).pick([
    'SA-3',
    'SA-3',
    'SA-3 Rev B',
    'QuakeBox 4D',
    'Gelände-Logger µ2',
  ]);

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;
