import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aHealthReport, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { distanceKm } from '../../src/sandbox/geodesy.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { ask } from './ask.js';

function maskedWorld() {
  const world = emptyWorld();
  const { project } = world;
  for (let index = 0; index < 200; index++) {
    const device_id = index.toString(16).toUpperCase().padStart(12, '0');
    const latitude = -89.9 + (index * 179.8) / 199;
    const longitude = index % 2 ? 179.999 : -179.999;
    project.sensors.push(
      aSensor({
        device_id,
        station: `S${index}`,
        location: { latitude, longitude, elevation_m: index * 13, name: 'Vault' },
      }),
    );
  }
  project.triggers.push(aTrigger());
  const gps = { latitude: 1, longitude: 2, elevation_m: 3, satellites: 9 };
  project.healthReports = { '000000000000': [aHealthReport({ gps })] };
  return world;
}

const start = () => startSandbox({ world: maskedWorld(), clock: new ManualClock(), rateLimits: false });

describe('location masking', () => {
  it('moves every sensor by 500 to 1000 m, the same way each time, and withholds name and height', async () => {
    await using sandbox = await start();
    sandbox.world.project.project.location_masked = true;
    const { body } = await ask(sandbox, 'project', '/v1/sensors?limit=500');
    expect(body.data).toHaveLength(200);
    for (const sensor of body.data) {
      const truth = sandbox.world.project.sensors.find(
        (known) => known.device_id === sensor.device_id,
      )?.location;
      if (!truth) throw new Error('unknown sensor');
      const km = distanceKm(truth, sensor.location);
      expect(km).toBeGreaterThan(0.5);
      expect(km).toBeLessThan(1);
      expect(sensor.location).toMatchObject({ name: null, masked: true });
      expect(sensor.location.elevation_m % 100).toBe(0);
      expect(Math.abs(sensor.location.elevation_m - (truth.elevation_m ?? 0))).toBeLessThanOrEqual(50);
    }
    expect((await ask(sandbox, 'project', '/v1/sensors?limit=500')).body).toEqual(body);
    const one = await ask(sandbox, 'project', `/v1/sensors/${body.data[7].device_id}`);
    expect(one.body).toEqual(body.data[7]);
  });

  it('is obeyed from the next answer on when it is switched, in health reports and triggers too', async () => {
    await using sandbox = await start();
    const read = async () => [
      (await ask(sandbox, 'project', '/v1/project')).body.location_masked,
      (await ask(sandbox, 'project', '/v1/sensors/S0')).body.location.masked,
      (await ask(sandbox, 'project', '/v1/sensors/S0/soh')).body.data[0].gps?.satellites ?? null,
      (await ask(sandbox, 'project', '/v1/triggers')).body.data[0].location_name,
    ];
    expect(await read()).toEqual([false, false, 9, 'Test vault']);
    sandbox.world.project.project.location_masked = true;
    expect(await read()).toEqual([true, true, null, null]);
    sandbox.world.project.project.location_masked = false;
    expect(await read()).toEqual([false, false, 9, 'Test vault']);
  });

  it('is on in the second project of every world', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/project', { key: sandbox.maskedProjectKey });
    expect(body.location_masked).toBe(true);
  });
});
