import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { ProjectTrigger } from '../../src/sandbox/project/records.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { addSensor, deviceId, stationCode } from '../graph/sensors-world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const sensors = 6;

/**
 * Sensors at latitudes 34.0 to 34.5, in networks NA and NB by turns. The project leaves the code of sensor 4 and the
 * position of sensor 5 to the catalogue.
 */
function worldOfSensors(isMasked = false): World {
  const world = emptyWorld();
  world.project.project.location_masked = isMasked;
  for (let n = 0; n < sensors; n++) {
    const location = { latitude: 34 + n / 10, longitude: -118 };
    const network = n % 2 === 0 ? 'NA' : 'NB';
    addSensor(world, n, {
      project: {
        network: n === 4 ? null : network,
        location: n === 5 ? null : { ...location, elevation_m: 10, name: `Vault ${n}` },
      },
      catalogue: {
        network_id: `net_${network}`,
        network_code: network,
        location: { ...location, elevation: 10, site_name: `Site ${n}` },
      },
    });
  }
  return world;
}

const triggerAt = (n: number, fields: Partial<ProjectTrigger> = {}) => ({
  device_id: deviceId(n),
  station: stationCode(n),
  ...fields,
});

/** A subscription, and the triggers that it has delivered in the order in which they came. */
async function follow(gw: TestGateway, filter: object) {
  const socket = await openSocket(gw, { init: {} });
  const query =
    'subscription ($filter: TriggerChangeFilter) { triggerChanges(filter: $filter) { kind trigger { triggerId } } }';
  socket.send({ id: '1', type: 'subscribe', payload: { query, variables: { filter } } });
  const ids: string[] = [];
  const errors: unknown[] = [];
  void (async () => {
    for (;;) {
      const { type, payload } = await socket.next();
      if (type === 'next') ids.push(payload.data.triggerChanges.trigger.triggerId);
      else errors.push(payload);
    }
  })().catch(() => undefined);
  return { ids, errors, close: () => socket[Symbol.asyncDispose]() };
}

async function listed(gw: TestGateway, filter: object): Promise<string[]> {
  const { triggers } = await gw.query(
    'query ($filter: TriggerFilter) { triggers(first: 500, filter: $filter) { nodes { triggerId } } }',
    { filter },
    { headers: { 'cache-control': 'no-cache' } },
  );
  return triggers.nodes.map(({ triggerId }: { triggerId: string }) => triggerId);
}

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 0 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const all = Array.from({ length: sensors }, (_, n) => n);

const anyFilter = fc.record({
  deviceIds: optional(some([...all.map(deviceId), 'a1-00:00-000003', 'FFFFFFFFFFFF'])),
  stationCodes: optional(some([...all.map(stationCode), ' S00001 ', 'NONE'])),
  networkCodes: optional(some(['NA', 'NB', 'NC'])),
  within: optional(
    fc.record({
      latitude: fc.constantFrom(34, 34.2, 34.5),
      longitude: fc.constant(-118),
      radiusKm: fc.constantFrom(1, 12, 30),
    }),
  ),
  boundingBox: optional(
    fc.record({
      minLatitude: fc.constantFrom(33, 34.15, 34.3),
      maxLatitude: fc.constantFrom(34.35, 35),
      minLongitude: fc.constant(-119),
      maxLongitude: fc.constant(-117),
    }),
  ),
  status: optional(fc.constantFrom('OPEN', 'CLOSED')),
  minPgaMg: optional(fc.constantFrom(0, 5, 20)),
});

const anyTrigger = fc.record({
  n: fc.integer({ min: 0, max: sensors }),
  station: fc.constantFrom('own', 'own', 'none'),
  status: fc.constantFrom('open', 'closed'),
  pga_horizontal_mg: fc.constantFrom(null, 0, 4.9, 5, 30),
});

describe('a filter of triggers', () => {
  let id = 100;
  const gateway = startGateway({ env: quick, sandbox: { world: worldOfSensors(), rateLimits: false } });
  afterAll(async () => (await gateway).close());

  it('selects the same triggers in a list and in the feed', { timeout: 60_000 }, async () => {
    const gw = await gateway;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFilter, { minLength: 8, maxLength: 8 }),
        fc.array(anyTrigger, { minLength: 12, maxLength: 12 }),
        async (filters, triggers) => {
          const firstId = id;
          const followers = await Promise.all([{}, ...filters].map((filter) => follow(gw, filter)));
          await polling(gw.sandbox);
          for (const { n, station, ...fields } of triggers) {
            const end = fields.status === 'open' ? { end_time: null } : {};
            addTrigger(gw.sandbox, {
              ...triggerAt(n, { id: id++, ...fields, ...end }),
              ...(station === 'none' && { station: null }),
            });
          }
          const lists = await Promise.all(filters.map((filter) => listed(gw, filter)));
          // Those of earlier rounds are in the lists as well.
          const wanted = lists.map((ids) => ids.filter((one) => Number(one) >= firstId).toSorted());
          await vi.waitFor(() => expect(followers[0]?.ids).toHaveLength(triggers.length), 10_000);
          const got = () => followers.slice(1).map(({ ids }) => ids.toSorted());
          await vi.waitFor(() => expect(got()).toEqual(wanted), 5_000);
          expect(followers.flatMap(({ errors }) => errors)).toEqual([]);
          await Promise.all(followers.map(({ close }) => close()));
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('a place in a filter of triggers', () => {
  const near = (n: number, radiusKm = 2) => ({
    within: { latitude: 34 + n / 10, longitude: -118, radiusKm },
  });
  const searched = (gw: TestGateway) => gw.sandbox.seen('project', '/v1/triggers').length;

  it('finds a masked sensor where the project shows it, and nowhere else', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { world: worldOfSensors(true) } });
    const { sensors: shown } = await gw.query(
      '{ sensors { nodes { deviceId location { latitude longitude masked } } } }',
    );
    const sensor = shown.nodes.find((one: { deviceId: string }) => one.deviceId === deviceId(1));
    expect(sensor.location.masked).toBe(true);
    const { latitude, longitude } = sensor.location;
    const [trueSite, shownSite, unlocated] = await Promise.all([
      follow(gw, near(1, 0.1)),
      follow(gw, { within: { latitude, longitude, radiusKm: 0.1 } }),
      follow(gw, near(5, 40)),
    ]);
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, triggerAt(1, { id: 1 }));
    addTrigger(gw.sandbox, triggerAt(5, { id: 5 }));
    await vi.waitFor(() => expect(shownSite.ids).toEqual(['1']), 10_000);
    // The catalogue has a position of sensor 5, which the project withholds.
    expect(await listed(gw, near(5, 5))).toEqual([]);
    expect(await listed(gw, near(1, 0.1))).toEqual([]);
    addTrigger(gw.sandbox, triggerAt(1, { id: 6 }));
    await vi.waitFor(() => expect(shownSite.ids).toEqual(['1', '6']), 10_000);
    expect([trueSite.ids, unlocated.ids.filter((id) => id === '5')]).toEqual([[], []]);
  });

  it('asks upstream for one sensor where it leaves one, and for none where it leaves none', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOfSensors() } });
    addTrigger(gw.sandbox, triggerAt(2, { id: 2 }));
    expect(await listed(gw, near(2))).toEqual(['2']);
    expect(gw.sandbox.seen('project', '/v1/triggers').at(-1)?.query).toMatchObject({
      device_id: deviceId(2),
    });
    const before = searched(gw);
    expect(await listed(gw, { ...near(2), deviceIds: [deviceId(3)] })).toEqual([]);
    expect(await listed(gw, { networkCodes: [] })).toEqual([]);
    expect(searched(gw)).toBe(before);
  });

  it('reads the catalogue only where the project leaves a code or a position open', async () => {
    const world = worldOfSensors();
    for (const sensor of world.project.sensors) {
      sensor.network ??= 'NA';
      sensor.location ??= { latitude: 34.5, longitude: -118, elevation_m: 10, name: 'Vault' };
    }
    await using gw = await startGateway({ sandbox: { world } });
    addTrigger(gw.sandbox, triggerAt(5, { id: 5 }));
    expect(await listed(gw, { ...near(5), networkCodes: ['NB'] })).toEqual(['5']);
    expect(gw.sandbox.seen('catalogue', '/v1/sensors')).toHaveLength(0);
  });

  it('names the catalogue where that could have had a code, and holds back no change', async () => {
    // Another worker would not know of the change yet (docs/behaviour.md 5.7).
    await using gw = await startGateway({ env: quick, sandbox: { world: worldOfSensors() }, isAlone: true });
    gw.sandbox.faults.add({ source: 'catalogue', status: 500, times: 1000 });
    const follower = await follow(gw, { networkCodes: ['NA'] });
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, triggerAt(2, { id: 2 }));
    await vi.waitFor(() => expect(follower.ids).toEqual(['2']), 10_000);
    const { triggers } = await gw.query(
      '{ triggers(filter: { networkCodes: ["NA"] }) { nodes { triggerId } unavailableSources { source } } }',
    );
    expect(triggers).toEqual({ nodes: [{ triggerId: '2' }], unavailableSources: [{ source: 'CATALOGUE' }] });
  });

  it('keeps a change waiting until the sensors can be read', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { world: worldOfSensors() } });
    const follower = await follow(gw, near(2));
    await polling(gw.sandbox);
    const outage = gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      status: 500,
      times: 1000,
    });
    addTrigger(gw.sandbox, triggerAt(2, { id: 2 }));
    addTrigger(gw.sandbox, triggerAt(3, { id: 3 }));
    await vi.waitFor(() => {
      const waits = gw.logLines.filter(({ msg }) => String(msg).includes('cannot be selected'));
      expect(waits.length).toBeGreaterThan(0);
    }, 10_000);
    expect(follower.ids).toEqual([]);
    outage.remove();
    await vi.waitFor(() => expect(follower.ids).toEqual(['2']), 10_000);
  });

  it('keeps a change waiting while the list of sensors can be read in part alone', async () => {
    const world = emptyWorld();
    // The first and the last have the network; the last is on the second page of the list.
    const count = 503;
    for (let n = 0; n < count; n++) {
      const network = n === 0 || n === count - 1 ? 'NX' : 'NA';
      addSensor(world, n, { project: { network } });
    }
    await using gw = await startGateway({ env: quick, sandbox: { world } });
    const follower = await follow(gw, { networkCodes: ['NX'] });
    await polling(gw.sandbox);
    const outage = gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      rewrite: (body) => ((body as { offset: number }).offset > 0 ? {} : body),
      times: 1000,
    });
    for (const n of [0, 1, count - 1]) addTrigger(gw.sandbox, triggerAt(n, { id: n + 1 }));
    await vi.waitFor(() => {
      const waits = gw.logLines.filter(({ msg }) => String(msg).includes('cannot be selected'));
      expect(waits.length).toBeGreaterThan(1);
    }, 20_000);
    expect(follower.ids).toEqual([]);
    outage.remove();
    await vi.waitFor(() => expect(follower.ids).toEqual(['1', `${count}`]), 20_000);
  }, 60_000);
});

it('a search by place is estimated with the reads of the sensors that it needs', async () => {
  await using gw = await startGateway({ env: { MAX_COST: '12' } });
  const ask = (filter: string) => gw.queryWithErrors(`{ triggers(filter: { ${filter} }) { nodes { id } } }`);
  expect((await ask('status: CLOSED')).errors).toBeUndefined();
  const { errors } = await ask('networkCodes: ["NA"]');
  expect(errors?.[0]?.message).toMatch(/needs 13 upstream requests/);
});
