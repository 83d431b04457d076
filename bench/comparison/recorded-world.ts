import { aCatalogueEvent, aHealthReport, anEvent, aTrigger } from '../../src/sandbox/builders.js';
import { crowdedWorld } from '../../src/sandbox/crowded-world.js';
import type { ProjectSensor } from '../../src/sandbox/project/records.js';
import { textOf } from '../../src/sandbox/time.js';
import type { World } from '../../src/sandbox/world.js';

const sensors = 100;
const hourMs = 3_600_000;
const healthEveryMs = 10 * 60_000;
const seenEveryMs = 30_000;
const epicentre = { latitude: 34.2, longitude: -118.1 };

/**
 * A hundred sensors in both interfaces, an earthquake two hours before `nowMs` that each of them has recorded, a hundred
 * small ones before it, and a day of health reports. Sensors are heard of every 30 s; nothing else changes.
 */
export function recordedWorld(nowMs: number): World {
  const world = crowdedWorld({ nowMs: nowMs - 3 * hourMs, sensors, events: 100 });
  const { project, catalogue } = world;
  const originMs = Math.floor(nowMs / 1000) * 1000 - 2 * hourMs;
  const issuedMs = originMs + 60_000;
  const magnitude = 6.4;
  project.events.push(
    anEvent({
      id: 'evt_recorded',
      issued_at: textOf(issuedMs),
      magnitude,
      origin: {
        id: 'org_recorded',
        ...epicentre,
        depth: 8,
        origin_time: originMs / 1000,
        issued_at: issuedMs / 1000,
      },
    }),
  );
  catalogue.events.push(
    aCatalogueEvent({ id: 'evt_recorded', ...epicentre, magnitude, origin_time: textOf(originMs, 6) }),
  );
  project.sensors.forEach((sensor, index) => {
    project.triggers.push(triggerAt(sensor, index, originMs));
  });
  project.healthReports = (_deviceId, afterMs, toMs) => reportsBetween(afterMs, Math.min(toMs, nowMs));
  world.advance = (ms) => {
    const last_seen = textOf(Math.floor(ms / seenEveryMs) * seenEveryMs, 0);
    for (const sensor of [...project.sensors, ...catalogue.sensors]) sensor.last_seen = last_seen;
  };
  return world;
}

function triggerAt({ device_id, station, location }: ProjectSensor, index: number, originMs: number) {
  const { latitude = 0, longitude = 0 } = location ?? {};
  const north = (latitude - epicentre.latitude) * 111;
  const east = (longitude - epicentre.longitude) * 92;
  const km = Math.hypot(north, east);
  // With the S wave.
  const startMs = originMs + Math.round((km / 3.5) * 1000);
  return aTrigger({
    id: index + 1,
    device_id,
    station,
    location_name: location?.name ?? null,
    start_time: textOf(startMs),
    end_time: textOf(startMs + 40_000),
    peak_time: textOf(startMs + 4_000),
    pga_horizontal_mg: Math.round(40_000 / (km + 20)) / 10,
    pgv_ehz_mm_s: Math.round(20_000 / (km + 20)) / 10,
  });
}

function* reportsBetween(afterMs: number, toMs: number) {
  const first = Math.floor(afterMs / healthEveryMs) + 1;
  for (let ms = first * healthEveryMs; ms <= toMs; ms += healthEveryMs) {
    const battery_volts = 12 + ((ms / healthEveryMs) % 10) / 10;
    yield aHealthReport({ timestamp: textOf(ms, 0), received_at: textOf(ms + 2_000, 0), battery_volts });
  }
}
