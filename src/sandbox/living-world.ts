import { aCatalogueEvent, aCatalogueSensor, aNetwork, anEvent, aSensor, aTrigger } from './builders.js';
import { textOf } from './time.js';
import { emptyWorld, type World } from './world.js';

export interface LivingWorldOptions {
  readonly seed: number;
  readonly startMs: number;
}

/** A seeded network in which things happen. */
export function livingWorld({ startMs }: LivingWorldOptions): World {
  const world = emptyWorld();
  world.catalogue.networks.push(aNetwork({ sensor_count: 45 }));
  for (let i = 0; i < 45; i++) {
    const device_id = (0xa0000 + i * 7919).toString(16).toUpperCase().padStart(12, '0');
    const station = `SX${String(i).padStart(2, '0')}`;
    const latitude = 33 + (i % 9) * 0.3;
    const longitude = -118.5 + Math.floor(i / 9) * 0.4;
    const last = textOf(startMs - 20_000, 0);
    world.project.sensors.push(
      aSensor({
        device_id,
        station,
        last_seen: last,
        location: { latitude, longitude, elevation_m: 100 + i, name: `Site ${i}` },
      }),
    );
    world.catalogue.sensors.push(
      aCatalogueSensor({
        id: `sen_${i}`,
        serial_number: device_id,
        station_code: station,
        last_seen: last,
        location: { latitude, longitude, elevation: 100 + i, site_name: `Site ${i}` },
      }),
    );
  }
  for (let i = 0; i < 500; i++) {
    const ms = startMs - 420_000 - i * 1_200_000;
    const latitude = 33 + (i % 25) * 0.1;
    const longitude = -118.5 + (i % 17) * 0.1;
    const magnitude = 1 + (i % 30) / 10;
    const id = `ev${i}`;
    const origin = {
      id: `org${i}`,
      latitude,
      longitude,
      depth: 8,
      origin_time: ms / 1000,
      issued_at: ms / 1000 + 20,
    };
    world.project.events.push(anEvent({ id, issued_at: textOf(ms + 20_000), magnitude, origin }));
    world.catalogue.events.push(
      aCatalogueEvent({
        id,
        origin_time: textOf(ms, 6),
        latitude,
        longitude,
        magnitude,
        created_at: textOf(ms + 60_000),
      }),
    );
    const sensor = world.project.sensors[i % 45];
    if (!sensor) continue;
    world.project.triggers.push(
      aTrigger({
        id: 3_000_000_000 + i,
        device_id: sensor.device_id,
        station: sensor.station,
        start_time: textOf(ms + 5000),
        end_time: textOf(ms + 40_000),
        peak_time: textOf(ms + 9000),
      }),
    );
  }
  return world;
}
