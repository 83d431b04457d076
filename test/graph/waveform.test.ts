import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueSensor, aSensor } from '../../src/sandbox/builders.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

const nowMs = Date.UTC(2026, 2, 8, 12);

/** One sensor in both interfaces, with a peak of 9999 in a ramp of samples at 100 Hz. */
function worldOf(): World {
  const world = emptyWorld();
  world.project.sensors.push(aSensor());
  world.catalogue.sensors.push(aCatalogueSensor({ id: 'sen 1' }));
  world.catalogue.waveforms = {
    rateHz: 100,
    samples: (_sensor, _channel, firstIndex, count) =>
      Int32Array.from({ length: count }, (_, index) =>
        (firstIndex + index) % 1000 === 123 ? 9999 : index % 50,
      ),
  };
  return world;
}

function gatewayOf(world: World, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway({ clock: new ManualClock(nowMs), sandbox: { world, rateLimits: false }, ...options });
}

const window = { channel: 'HNZ', start: '2026-03-08T11:00:00Z', end: '2026-03-08T11:01:00Z' };
const query = (fields: string) => `query ($channel: Channel!, $start: DateTime!, $end: DateTime!) {
  sensor(by: { deviceId: "001A2B3C4D5E" }) { waveform(channel: $channel, start: $start, end: $end) { ${fields} } } }`;

describe('a waveform', () => {
  it('has its samples, an envelope and a miniSEED path from one request', async () => {
    await using gw = await gatewayOf(worldOf());
    const { sensor } = await gw.query(
      query(`channel startTime endTime sampleRateHz sampleCount samples miniseedPath
        envelope(points: 60) { points secondsPerPoint min max } all: envelope { points }`),
      window,
    );
    const { samples, envelope, ...rest } = sensor.waveform;
    expect(rest).toMatchObject({
      channel: 'HNZ',
      startTime: '2026-03-08T11:00:00.000000Z',
      sampleRateHz: 100,
      sampleCount: 6000,
      all: { points: 1000 },
      miniseedPath:
        '/waveforms/sen%201/HNZ.mseed?start=2026-03-08T11%3A00%3A00Z&end=2026-03-08T11%3A01%3A00Z',
    });
    expect(samples).toHaveLength(6000);
    expect(envelope).toMatchObject({ points: 60, secondsPerPoint: 1 });
    for (let span = 0; span < 60; span++) {
      const part = samples.slice(span * 100, span * 100 + 100);
      expect(envelope.min[span]).toBe(Math.min(...part));
      expect(envelope.max[span]).toBe(Math.max(...part));
    }
    expect(Math.max(...envelope.max)).toBe(9999);
    expect(gw.sandbox.requests.filter(({ path }) => path.endsWith('/data'))).toHaveLength(1);
  });

  it('streams as miniSEED from the path it names', async () => {
    await using gw = await gatewayOf(worldOf());
    const { sensor } = await gw.query(query('miniseedPath'), window);
    const response = await gw.fetch(sensor.waveform.miniseedPath);
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });

  it('shows a gap as null and does not bridge it', async () => {
    await using gw = await gatewayOf(worldOf());
    const rewrite = (body: unknown) => {
      const answer = body as { data: object };
      return { ...answer, data: { ...answer.data, samples: [1, -2, null, null, 7, 8] } };
    };
    gw.sandbox.faults.add({ source: 'catalogue', path: /\/data$/, rewrite });
    const { sensor } = await gw.query(query('sampleCount samples envelope(points: 3) { min max }'), window);
    expect(sensor.waveform).toEqual({
      sampleCount: 6,
      samples: [1, -2, null, null, 7, 8],
      envelope: { min: [-2, null, 7], max: [1, null, 8] },
    });
  });

  it('is empty where there is nothing', async () => {
    const world = worldOf();
    world.catalogue.waveforms = { rateHz: 100, samples: () => new Int32Array(0) };
    await using gw = await gatewayOf(world);
    const { sensor } = await gw.query(
      query('sampleCount samples envelope { points secondsPerPoint min max }'),
      window,
    );
    expect(sensor.waveform).toEqual({
      sampleCount: 0,
      samples: [],
      envelope: { points: 0, secondsPerPoint: 0, min: [], max: [] },
    });
  });

  it('of the past is not asked for again', async () => {
    const clock = new ManualClock(nowMs + 7_200_000);
    await using gw = await gatewayOf(worldOf(), { clock });
    await gw.query(query('sampleCount'), window);
    await clock.advance(600_000);
    await gw.query(query('samples'), window);
    expect(gw.sandbox.requests.filter(({ path }) => path.endsWith('/data'))).toHaveLength(1);
  });

  it('is null for a sensor that the catalogue does not have', async () => {
    const world = worldOf();
    world.catalogue.sensors = [];
    await using gw = await gatewayOf(world);
    expect(await gw.query(query('sampleCount'), window)).toEqual({ sensor: { waveform: null } });
  });

  it('is NOT_CONFIGURED without a catalogue, beside what else the sensor has', async () => {
    await using gw = await gatewayOf(worldOf(), { catalogue: false });
    const { data: answer, errors } = await gw.queryWithErrors(
      query('sampleCount').replace('{ waveform', '{ stationCode waveform'),
      window,
    );
    expect(answer).toEqual({ sensor: { stationCode: 'TEST', waveform: null } });
    expect(errors).toMatchObject([{ path: ['sensor', 'waveform'], extensions: { code: 'NOT_CONFIGURED' } }]);
  });

  it.each([
    [{ end: window.start }, 'start'],
    [{ end: '2026-03-08T10:00:00Z' }, 'start'],
    [{ channel: 'EHZ' }, 'channel'],
    [{ start: 'now' }, 'start'],
  ])('refuses %j as BAD_USER_INPUT naming %s', async (wrong, argument) => {
    await using gw = await gatewayOf(worldOf());
    const { errors } = await gw.queryWithErrors(query('sampleCount'), { ...window, ...wrong });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }]);
    expect(gw.sandbox.requests.filter(({ path }) => path.endsWith('/data'))).toHaveLength(0);
  });

  it.each([0, -1, 100_001])('refuses an envelope of %i points', async (points) => {
    await using gw = await gatewayOf(worldOf());
    const { errors } = await gw.queryWithErrors(query(`envelope(points: ${points}) { points }`), window);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'points' } }]);
  });
});
