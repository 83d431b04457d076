import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueSensor } from '../../src/sandbox/builders.js';
import { miniseed } from '../../src/sandbox/catalogue/miniseed.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { countsPerMg } from '../../src/sandbox/simulation/motion/synthesis.js';
import { instantOf, textOf } from '../../src/sandbox/time.js';
import { ask } from './ask.js';
import { readMiniseed } from './read-miniseed.js';

const start = (clock = new ManualClock()) => startSandbox({ clock, rateLimits: false });

async function readSamples(sandbox: Sandbox, id: string, channel: string, startMs: number, endMs: number) {
  const path = `/v1/sensors/${id}/data?channel=${channel}&start=${textOf(startMs)}&end=${textOf(endMs)}`;
  const { body } = await ask(sandbox, 'catalogue', path);
  return body.data as { samples: number[]; start_time: string; end_time: string; sample_rate: number };
}

const idOf = (sandbox: Sandbox, index = 0) => sandbox.world.catalogue.sensors[index]?.id ?? '';

describe('waveforms', () => {
  it('have a sample for each hundredth of a second from the start to before the end', async () => {
    const clock = new ManualClock();
    await using sandbox = await start(clock);
    const [from, to] = [clock.wallMs() - 60_000, clock.wallMs() - 50_000];
    const data = await readSamples(sandbox, idOf(sandbox), 'HNE', from, to);
    expect(data).toMatchObject({ sensor_id: idOf(sandbox), channel: 'HNE', sample_rate: 100 });
    expect(data.samples).toHaveLength(1000);
    expect(instantOf(data.start_time)).toBe(from);
    expect(instantOf(data.end_time)).toBe(to - 10);
  });

  it('are the same whatever window they are read through', async () => {
    const clock = new ManualClock();
    await using sandbox = await start(clock);
    const from = clock.wallMs() - 600_000;
    const whole = await readSamples(sandbox, idOf(sandbox), 'HNZ', from, from + 60_000);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 5998 }),
        fc.integer({ min: 1, max: 6000 }),
        async (first, count) => {
          const last = Math.min(6000, first + count);
          const part = await readSamples(sandbox, idOf(sandbox), 'HNZ', from + first * 10, from + last * 10);
          expect(part.samples).toEqual(whole.samples.slice(first, last));
        },
      ),
      { numRuns: 20 },
    );
    const other = await readSamples(sandbox, idOf(sandbox), 'HNN', from, from + 60_000);
    expect(other.samples).not.toEqual(whole.samples);
  });

  it('have none of the future', async () => {
    const clock = new ManualClock();
    await using sandbox = await start(clock);
    const ends = await readSamples(
      sandbox,
      idOf(sandbox),
      'HNZ',
      clock.wallMs() - 1000,
      clock.wallMs() + 60_000,
    );
    expect(ends.samples).toHaveLength(100);
    const future = await readSamples(
      sandbox,
      idOf(sandbox),
      'HNZ',
      clock.wallMs() + 1000,
      clock.wallMs() + 2000,
    );
    expect(future.samples).toEqual([]);
  });

  it('are 404 for a sensor that records nothing', async () => {
    await using sandbox = await start();
    const silent = sandbox.world.catalogue.sensors.find(
      (sensor) => sensor.network_id === 'net_partner' && sensor.station_code === 'MARI',
    );
    const path = '/v1/sensors/none/data?channel=HNZ&start=2025-12-31T00:00:00Z&end=2025-12-31T00:00:01Z';
    expect((await ask(sandbox, 'catalogue', path)).status).toBe(404);
    expect(silent).toBeDefined();
    expect((await ask(sandbox, 'catalogue', path.replace('none', silent?.id ?? ''))).status).toBe(404);
  });

  it('show the peak of each trigger of an earthquake on its channels, at its time', async () => {
    await using sandbox = await start();
    const { project, catalogue } = sandbox.world;
    const ids = new Map(
      catalogue.sensors.map((sensor) => [`${sensor.network_code} ${sensor.station_code}`, sensor.id]),
    );
    const misses: number[] = [];
    for (const { station, status, peak_time, pga_hne_mg, pga_hnz_mg, pgv_ehz_mm_s } of project.triggers) {
      const id = ids.get(`SG ${station}`);
      const peakMs = instantOf(peak_time ?? '');
      if (status !== 'closed' || id === undefined || peakMs === undefined || !pga_hne_mg || !pga_hnz_mg)
        continue;
      // Below this the noise of the instrument counts; and a lorry has much acceleration but little velocity.
      if (pga_hne_mg < 0.5 || (pgv_ehz_mm_s ?? 0) < pga_hne_mg * 0.09) continue;
      for (const [channel, peakMg] of [
        ['HNE', pga_hne_mg],
        ['HNZ', pga_hnz_mg],
      ] as const) {
        const { samples } = await readSamples(sandbox, id, channel, peakMs - 400, peakMs + 400);
        misses.push(Math.abs(Math.max(...samples.map(Math.abs)) / countsPerMg / peakMg - 1));
      }
    }
    expect(misses.length).toBeGreaterThan(20);
    // Now and then the waves of two earthquakes add up.
    expect(misses.filter((miss) => miss < 0.12).length / misses.length).toBeGreaterThan(0.95);
  });
});

describe('miniSEED', () => {
  it('has records of 512 bytes with the samples of the JSON form', async () => {
    const clock = new ManualClock();
    await using sandbox = await start(clock);
    const sensor = sandbox.world.catalogue.sensors[0];
    const [from, to] = [clock.wallMs() - 60_000, clock.wallMs() - 55_000];
    const path = `/v1/sensors/${sensor?.id}/data?channel=HNZ&start=${textOf(from)}&end=${textOf(to)}&format=miniseed`;
    const response = await fetch(sandbox.catalogueUrl + path, {
      headers: { authorization: `Bearer ${sandbox.catalogueKey}` },
    });
    expect(response.headers.get('content-type')).toBe('application/vnd.fdsn.mseed');
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.length % 512).toBe(0);
    const records = readMiniseed(bytes);
    const json = await readSamples(sandbox, sensor?.id ?? '', 'HNZ', from, to);
    expect(records.flatMap((record) => record.samples)).toEqual(json.samples);
    expect(records[0]).toMatchObject({ sequence: '000001', quality: 'D ', rateHz: 100, startMs: from });
    expect(records[0]?.source).toBe(`SG.${sensor?.station_code}.${sensor?.location_code}.HNZ`);
    for (const [index, record] of records.entries()) {
      const before = records[index - 1];
      if (before) expect(record.startMs).toBeCloseTo(before.startMs + before.samples.length * 10, 3);
    }
  });

  it('says the start of every record to a ten-thousandth of a second', () => {
    const counting = {
      rateHz: 100,
      samples: (_id: string, _channel: string, first: number, count: number) =>
        Int32Array.from({ length: count }, (_, at) => first + at),
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20_000_000 }),
        fc.integer({ min: 1, max: 300 }),
        (firstIndex, count) => {
          const bytes = Buffer.concat([
            ...miniseed(aCatalogueSensor(), 'HNN', counting, { firstIndex, count }),
          ]);
          const records = readMiniseed(bytes);
          expect(records.flatMap((record) => record.samples)).toEqual(
            Array.from({ length: count }, (_, at) => firstIndex + at),
          );
          for (const record of records) expect(record.startMs).toBeCloseTo((record.samples[0] ?? 0) * 10, 3);
        },
      ),
    );
  });

  it('streams a day of samples, and stops when the client goes', async () => {
    const clock = new ManualClock();
    await using sandbox = await start(clock);
    const path = `/v1/sensors/${idOf(sandbox)}/data?channel=HNZ&format=miniseed`;
    const range = `&start=${textOf(clock.wallMs() - 86_400_000)}&end=${textOf(clock.wallMs())}`;
    const client = new AbortController();
    const response = await fetch(sandbox.catalogueUrl + path + range, {
      headers: { authorization: `Bearer ${sandbox.catalogueKey}` },
      signal: client.signal,
    });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    client.abort();
    await expect.poll(() => sandbox.seen('catalogue').at(-1)).toMatchObject({ status: 200, aborted: true });
    expect(sandbox.inFlight('catalogue')).toBe(0);
  });
});
