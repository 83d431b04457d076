import { minuteMs } from '../clock.js';
import { aCatalogueEvent, aCatalogueSensor, aNetwork, anEvent, aSensor, aTrigger } from './builders.js';
import { textOf } from './time.js';
import { emptyWorld, type World } from './world.js';

export interface CrowdOptions {
  readonly nowMs: number;
  readonly sensors?: number;
  readonly events?: number;
  readonly triggers?: number;
}

/**
 * A world of any size that stands still, for measuring: every sensor and event in both interfaces, an event each
 * minute and a closed trigger each second before `nowMs`, the triggers going round the sensors.
 */
export function crowdedWorld({ nowMs, sensors = 0, events = 0, triggers = 0 }: CrowdOptions): World {
  const world = emptyWorld();
  const { project, catalogue } = world;
  const lastSeen = textOf(nowMs - 10_000, 0);
  catalogue.networks.push(aNetwork({ sensor_count: sensors }));
  for (let index = 0; index < sensors; index++) {
    const device_id = (2 ** 44 + index).toString(16).toUpperCase();
    const station = `S${String(index).padStart(4, '0')}`;
    const point = { latitude: 32 + (index % 97) * 0.05, longitude: -120 + (index % 89) * 0.05 };
    const location = { ...point, elevation_m: index % 2000, name: `Site ${index}` };
    project.sensors.push(aSensor({ device_id, station, last_seen: lastSeen, location }));
    catalogue.sensors.push(
      aCatalogueSensor({
        id: `sen_${index}`,
        serial_number: device_id,
        station_code: station,
        last_seen: lastSeen,
        location: { ...point, elevation: index % 2000, site_name: `Site ${index}` },
      }),
    );
  }
  for (let index = 0; index < events; index++) {
    const originMs = nowMs - minuteMs * (index + 1);
    const id = `evt_${index}`;
    const point = { latitude: 32 + (index % 101) * 0.05, longitude: -120 + (index % 83) * 0.05 };
    const magnitude = (index % 50) / 10;
    const [origin_time, issued_at] = [originMs / 1000, originMs / 1000 + 20];
    const origin = { id: `org_${index}`, ...point, depth: 8, origin_time, issued_at };
    project.events.push(anEvent({ id, issued_at: textOf(originMs + 20_000), magnitude, origin }));
    catalogue.events.push(aCatalogueEvent({ id, ...point, magnitude, origin_time: textOf(originMs, 6) }));
  }
  for (let index = 0; index < triggers; index++) {
    const startMs = nowMs - 1000 * (index + 1);
    const sensor = project.sensors[index % Math.max(1, sensors)];
    project.triggers.push(
      aTrigger({
        id: triggers - index,
        ...(sensor && { device_id: sensor.device_id, station: sensor.station }),
        location_name: sensor?.location?.name ?? null,
        start_time: textOf(startMs),
        end_time: textOf(startMs + 900),
        peak_time: textOf(startMs + 300),
      }),
    );
  }
  return world;
}
