import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueEvent, aCatalogueSensor, aNetwork } from '../../src/sandbox/builders.js';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { ask } from './ask.js';

const now = Date.UTC(2026, 0, 2);

function start(options: SandboxOptions = {}) {
  const world = emptyWorld();
  const { catalogue } = world;
  catalogue.networks.push(aNetwork(), aNetwork({ id: 'net_2', name: 'Second' }));
  catalogue.sensors.push(
    aCatalogueSensor({ id: 's1' }),
    aCatalogueSensor({ id: 's2', status: 'offline', network_id: 'net_2' }),
    aCatalogueSensor({ id: 's3', status: 'maintenance', location: null }),
  );
  const event = (id: string, hour: number, magnitude: number | null, latitude: number, longitude: number) =>
    aCatalogueEvent({ id, origin_time: `2026-01-01T0${hour}:00:00.000000Z`, magnitude, latitude, longitude });
  catalogue.events.push(
    event('e1', 1, -0.3, 0, 0),
    event('e2', 2, 0, 0, 0.5),
    event('e3', 3, null, 0, 179.9),
    event('e4', 4, 4.5, 0, -179.9),
    { ...event('e5', 5, 6, 89.9, 90), network_id: 'net_2' },
  );
  return startSandbox({ world, clock: new ManualClock(now), rateLimits: false, ...options });
}

const sorted = (body: { data: { id: string }[] }) => body.data.map((record) => record.id).sort();

describe('wrong parameters of the catalogue interface', () => {
  const data = '/v1/sensors/s1/data?channel=HNZ';
  it.each([
    ['/v1/sensors?limit=101', 'limit'],
    ['/v1/sensors?limit=0', 'limit'],
    ['/v1/sensors?page=0', 'page'],
    ['/v1/sensors?offset=10', 'offset'],
    ['/v1/sensors?status=maintenance', 'status'],
    ['/v1/sensors/s1?page=1', 'page'],
    ['/v1/networks?page=1', 'page'],
    ['/v1/networks/net_1/stats?days=30', 'days'],
    ['/v1/events?limit=101', 'limit'],
    ['/v1/events?start=2026-01-01', 'start'],
    ['/v1/events?start=2026-01-01T00:00:00', 'start'],
    ['/v1/events?from=2026-01-01T00:00:00Z', 'from'],
    ['/v1/events?start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z', 'start'],
    ['/v1/events?min_magnitude=x', 'min_magnitude'],
    ['/v1/events?min_magnitude=3&max_magnitude=2', 'min_magnitude'],
    ['/v1/events?lat=1&lon=1', 'radius'],
    ['/v1/events?radius=1', 'radius'],
    ['/v1/events?lat=91&lon=1&radius=1', 'lat'],
    ['/v1/events?lat=1&lon=181&radius=1', 'lon'],
    ['/v1/events?lat=1&lon=1&radius=-1', 'radius'],
    ['/v1/sensors/s1/data?start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:01Z', 'channel'],
    [`${data}&end=2026-01-01T00:00:01Z`, 'start'],
    [`${data}&start=2026-01-01T00:00:00Z`, 'end'],
    [`${data}&start=2026-01-01T00:00:01Z&end=2026-01-01T00:00:01Z`, 'start'],
    [`${data}&start=2026-01-01T00:00:00Z&end=2026-01-01T03:00:01Z`, 'end'],
    [`${data}&start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:01Z&format=sac`, 'format'],
    ['/v1/sensors/s1/data?channel=EHZ&start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:01Z', 'channel'],
  ])('%s is 400 invalid_request naming %s', async (path, parameter) => {
    await using sandbox = await start();
    const { status, body } = await ask(sandbox, 'catalogue', path);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toContain(parameter);
    expect(body.error.details).toEqual({ parameter });
  });
});

describe('the envelope', () => {
  it('has another request id in every answer, and the time only in those that succeed', async () => {
    await using sandbox = await start();
    const found = await ask(sandbox, 'catalogue', '/v1/networks/net_1');
    const again = await ask(sandbox, 'catalogue', '/v1/networks/net_1');
    const missing = await ask(sandbox, 'catalogue', '/v1/networks/none');
    expect(found.body).toEqual({
      data: aNetwork(),
      meta: { request_id: expect.stringMatching(/^req_/), timestamp: '2026-01-02T00:00:00.000Z' },
    });
    expect(again.body.meta.request_id).not.toBe(found.body.meta.request_id);
    expect(missing.body.meta).toEqual({ request_id: expect.stringMatching(/^req_/) });
    expect(missing.body.error).toMatchObject({ code: 'not_found', details: {} });
  });

  it.each([
    ['/v1/nothing', {}, 404],
    ['/v1/events/none', {}, 404],
    ['/v1/sensors/none', {}, 404],
    ['/v1/networks/none/stats', {}, 404],
    ['/v1/sensors/s1/data/x', {}, 404],
    ['/v1/openapi.yaml', {}, 404],
    ['/v1/networks', { key: null }, 401],
    ['/v1/networks', { key: 'wrong' }, 401],
    ['/v1/networks', { method: 'POST' }, 405],
  ] as const)('%s with %j is %i with request id and rate headers', async (path, options, status) => {
    await using sandbox = await start();
    const answer = await ask(sandbox, 'catalogue', path, options);
    expect(answer.status).toBe(status);
    expect(answer.body.meta.request_id).toMatch(/^req_/);
    for (const name of ['limit', 'remaining', 'reset']) {
      expect(answer.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    }
  });
});

describe('the lists of the catalogue interface', () => {
  it.each([
    ['', ['s1', 's2', 's3']],
    ['?status=online', ['s1']],
    ['?status=offline', ['s2']],
    ['?network_id=net_2', ['s2']],
    ['?network_id=net_9', []],
  ])('sensors%s are %j', async (search, expected) => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'catalogue', `/v1/sensors${search}`);
    expect(sorted(body)).toEqual(expected);
    expect(body.pagination).toMatchObject({ page: 1, limit: 20, total: expected.length });
  });

  it('counts the pages of the sensor list, which the event list leaves out', async () => {
    await using sandbox = await start();
    const sensors = await ask(sandbox, 'catalogue', '/v1/sensors?limit=2&page=2');
    expect(sensors.body.pagination).toEqual({ page: 2, limit: 2, total: 3, pages: 2 });
    const events = await ask(sandbox, 'catalogue', '/v1/events?limit=2');
    expect(events.body.pagination).toEqual({ page: 1, limit: 2, total: 5 });
    const networks = await ask(sandbox, 'catalogue', '/v1/networks');
    expect(Object.keys(networks.body).sort()).toEqual(['data', 'meta']);
  });

  it('keeps the detail of sensors and events to the detail', async () => {
    await using sandbox = await start();
    const sensors = await ask(sandbox, 'catalogue', '/v1/sensors?status=online');
    expect(sensors.body.data[0]).toEqual({
      id: 's1',
      serial_number: '001A2B3C4D5E',
      type: 'accelerograph',
      station_code: 'TEST',
      network_id: 'net_1',
      status: 'online',
      location: { latitude: 34.05, longitude: -118.25, elevation: 93 },
      last_seen: '2026-01-01T00:00:00Z',
    });
    const sensor = await ask(sandbox, 'catalogue', '/v1/sensors/s1');
    expect(sensor.body.data).toEqual(aCatalogueSensor({ id: 's1' }));
    const events = await ask(sandbox, 'catalogue', '/v1/events?max_magnitude=-0.1');
    expect(Object.keys(events.body.data[0])).not.toContain('stations');
    const event = await ask(sandbox, 'catalogue', '/v1/events/e1');
    expect(event.body.data).toMatchObject({
      ...events.body.data[0],
      stations: [],
      quality: { stations_used: 8 },
    });
  });

  it.each([
    ['', ['e1', 'e2', 'e3', 'e4', 'e5']],
    ['?network_id=net_2', ['e5']],
    ['?start=2026-01-01T02:00:00Z&end=2026-01-01T03:00:00Z', ['e2', 'e3']],
    ['?start=2026-01-01T05:00:00%2B01:00', ['e4', 'e5']],
    ['?min_magnitude=0', ['e2', 'e4', 'e5']],
    ['?min_magnitude=-1&max_magnitude=0', ['e1', 'e2']],
    ['?lat=0&lon=0&radius=60', ['e1', 'e2']],
    ['?lat=0&lon=0&radius=0', ['e1']],
    ['?lat=0&lon=180&radius=20', ['e3', 'e4']],
    ['?lat=90&lon=-30&radius=20', ['e5']],
  ])('events%s are %j', async (search, expected) => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'catalogue', `/v1/events${search}`);
    expect(sorted(body)).toEqual(expected);
    expect(body.pagination.total).toBe(expected.length);
  });

  it('lists events in an order that is the same for a seed and follows no time', async () => {
    const orders: string[] = [];
    for (const seed of [1, 1, 2, 3, 4]) {
      await using sandbox = await start({ seed });
      const { body } = await ask(sandbox, 'catalogue', '/v1/events');
      orders.push(body.data.map((event: { id: string }) => event.id).join());
    }
    expect(orders[0]).toBe(orders[1]);
    expect(new Set(orders).size).toBeGreaterThan(2);
  });

  it.each([
    ['newest', ['e5', 'e4', 'e3', 'e2', 'e1']],
    ['oldest', ['e1', 'e2', 'e3', 'e4', 'e5']],
  ] as const)('can list events %s first', async (catalogueOrder, expected) => {
    await using sandbox = await start({ catalogueOrder });
    const { body } = await ask(sandbox, 'catalogue', '/v1/events');
    expect(body.data.map((event: { id: string }) => event.id)).toEqual(expected);
  });

  it('can cut a limit over the maximum down instead of refusing it', async () => {
    await using sandbox = await start({ catalogueChoices: { overMaximum: 'clamp', eventsMaxLimit: 3 } });
    const { status, body } = await ask(sandbox, 'catalogue', '/v1/events?limit=500');
    expect(status).toBe(200);
    expect(body.pagination).toEqual({ page: 1, limit: 3, total: 5 });
    expect(body.data).toHaveLength(3);
  });

  it('counts the statistics of a network from its records, unless they are given', async () => {
    await using sandbox = await start();
    const counted = await ask(sandbox, 'catalogue', '/v1/networks/net_1/stats');
    expect(counted.body.data).toEqual({
      network_id: 'net_1',
      total_sensors: 2,
      online_sensors: 1,
      offline_sensors: 1,
      events_30d: 4,
      data_completeness: 0.5,
    });
    const given = { ...counted.body.data, total_sensors: null, data_completeness: 0.98 };
    sandbox.world.catalogue.stats.net_1 = given;
    expect((await ask(sandbox, 'catalogue', '/v1/networks/net_1/stats')).body.data).toEqual(given);
  });
});
