import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueEvent, aHealthReport, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { crowdedWorld } from '../../src/sandbox/crowded-world.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { textOf } from '../../src/sandbox/time.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { ask } from './ask.js';

const now = Date.UTC(2026, 0, 8);

const start = () => startSandbox({ world: emptyWorld(), clock: new ManualClock(now), rateLimits: false });

describe('walking a list to its end', () => {
  it('finds every trigger once, in order, by offset', async () => {
    await using sandbox = await start();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        async (minutes, limit, order) => {
          sandbox.world.project.triggers = minutes.map((minute, id) =>
            aTrigger({ id, start_time: textOf(now - minute * 60_000) }),
          );
          const paged: { id: number; start_time: string }[] = [];
          for (let offset = 0; ; offset += limit) {
            const path = `/v1/triggers?order=${order}&limit=${limit}&offset=${offset}`;
            const { body } = await ask(sandbox, 'project', path);
            expect(body.total).toBe(minutes.length);
            paged.push(...body.data);
            if (body.data.length < limit) break;
          }
          expect(new Set(paged.map((trigger) => trigger.id)).size).toBe(minutes.length);
          const times = paged.map((trigger) => trigger.start_time);
          expect(times).toEqual(order === 'asc' ? times.toSorted() : times.toSorted().toReversed());
        },
      ),
      { numRuns: 30 },
    );
  });

  it('finds every event of the catalogue once, by page', async () => {
    await using sandbox = await start();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 25 }),
        async (count, limit) => {
          sandbox.world.catalogue.events = Array.from({ length: count }, (_, id) =>
            aCatalogueEvent({ id: `e${id}` }),
          );
          const paged: string[] = [];
          for (let page = 1; paged.length < count; page++) {
            const { body } = await ask(sandbox, 'catalogue', `/v1/events?page=${page}&limit=${limit}`);
            expect(body.pagination).toEqual({ page, limit, total: count });
            expect(body.data.length).toBe(Math.min(limit, count - paged.length));
            paged.push(...body.data.map((event: { id: string }) => event.id));
          }
          expect(new Set(paged).size).toBe(count);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('finds every health report of a range once, by next_from, whatever the limit', async () => {
    await using sandbox = await start();
    sandbox.world.project.sensors.push(aSensor({ device_id: 'AAAAAAAAAAAA', station: 'ALFA' }));
    const hours = fc.uniqueArray(fc.integer({ min: 0, max: 168 }), { maxLength: 40 });
    const edge = fc.integer({ min: 0, max: 168 });
    await fc.assert(
      fc.asyncProperty(
        hours,
        edge,
        edge,
        fc.integer({ min: 1, max: 7 }),
        async (reported, one, other, limit) => {
          const timeOf = (hour: number) => textOf(now - (168 - hour) * 3_600_000);
          sandbox.world.project.healthReports = {
            AAAAAAAAAAAA: reported.map((hour) => aHealthReport({ timestamp: timeOf(hour) })),
          };
          const [fromHour, toHour] = [Math.min(one, other), Math.max(one, other)];
          const paged: string[] = [];
          for (let from: string | null = timeOf(fromHour); from !== null; ) {
            const path = `/v1/sensors/ALFA/soh?from=${from}&to=${timeOf(toHour)}&limit=${limit}`;
            const { body } = await ask(sandbox, 'project', path);
            expect(body.data.length).toBeLessThanOrEqual(limit);
            paged.push(...body.data.map((report: { timestamp: string }) => report.timestamp));
            from = body.next_from;
          }
          const expected = reported.filter((hour) => hour > fromHour && hour <= toHour).sort((a, b) => a - b);
          expect(paged).toEqual(expected.map(timeOf));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a world of 50,000 triggers and as many events', () => {
  it('serves any page of them', async () => {
    const world = crowdedWorld({ nowMs: now, sensors: 300, events: 50_000, triggers: 50_000 });
    await using sandbox = await startSandbox({ world, clock: new ManualClock(now), rateLimits: false });
    const deep = await ask(sandbox, 'project', '/v1/triggers?limit=2&offset=30000');
    expect(deep.body.total).toBe(50_000);
    expect(deep.body.data.map((trigger: { start_time: string }) => trigger.start_time)).toEqual([
      textOf(now - 30_001_000),
      textOf(now - 30_002_000),
    ]);
    const from = textOf(now - 600_000);
    expect((await ask(sandbox, 'project', `/v1/triggers?from=${from}`)).body.total).toBe(600);
    expect((await ask(sandbox, 'catalogue', `/v1/events?start=${from}`)).body.pagination.total).toBe(10);
    const sensors = await ask(sandbox, 'project', '/v1/sensors?limit=500');
    expect(sensors.body.total).toBe(300);
    const partner = await ask(sandbox, 'catalogue', '/v1/sensors/sen_299');
    expect(partner.body.data.serial_number).toBe(sensors.body.data[299].device_id);
  });
});
