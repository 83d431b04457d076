import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aHealthReport, anEvent, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { ask } from './ask.js';

const now = Date.UTC(2026, 0, 2);

function start(world: World = smallWorld()) {
  return startSandbox({ world, clock: new ManualClock(now), rateLimits: false });
}

function smallWorld(): World {
  const world = emptyWorld();
  const { project } = world;
  project.sensors.push(
    aSensor({ device_id: 'BBBBBBBBBBBB', station: 'ZULU' }),
    aSensor({ device_id: 'AAAAAAAAAAAA', station: 'ALFA' }),
    aSensor({ device_id: 'CCCCCCCCCCCC', station: 'MIKE' }),
  );
  project.events.push(
    anEvent({ id: 'e2', issued_at: '2026-01-01T02:00:00Z', magnitude: 2 }),
    anEvent({ id: 'e1', issued_at: '2026-01-01T01:00:00Z', magnitude: -0.3 }),
    anEvent({ id: 'e3', issued_at: '2026-01-01T03:00:00.5Z', magnitude: null, origin: null }),
  );
  const at = (latitude: number, longitude: number) => ({
    ...{ id: 9, latitude, longitude, depth: 0, origin_time: 1767225600, issued_at: 1767225610 },
  });
  project.events.push(
    anEvent({ id: 'e4', issued_at: '2026-01-01T04:00:00Z', magnitude: 4, origin: at(0, 179.5) }),
    anEvent({ id: 'e5', issued_at: '2026-01-01T05:00:00Z', magnitude: 5, origin: at(0, 0) }),
  );
  project.triggers.push(
    aTrigger({ id: 2, start_time: '2026-01-01T02:00:00Z', device_id: 'AAAAAAAAAAAA' }),
    aTrigger({ id: 3, start_time: '2026-01-01T03:00:00Z', device_id: 'BBBBBBBBBBBB', station: null }),
    aTrigger({ id: 1, start_time: '2026-01-01T01:00:00Z', device_id: 'AAAAAAAAAAAA', status: 'open' }),
  );
  project.healthReports = {
    AAAAAAAAAAAA: [3, 1, 2].map((hour) => aHealthReport({ timestamp: `2026-01-01T0${hour}:00:00Z` })),
  };
  return world;
}

const ids = (body: { data: { id: unknown }[] }) => body.data.map((record) => record.id);

describe('wrong parameters of the project interface', () => {
  it.each([
    ['/v1/sensors?limit=0', 'invalid_parameter', 'limit'],
    ['/v1/sensors?limit=501', 'invalid_parameter', 'limit'],
    ['/v1/sensors?limit=1.5', 'invalid_parameter', 'limit'],
    ['/v1/sensors?limit=', 'invalid_parameter', 'limit'],
    ['/v1/sensors?limit=1&limit=2', 'invalid_parameter', 'limit'],
    ['/v1/sensors?offset=-1', 'invalid_parameter', 'offset'],
    ['/v1/sensors?page=2', 'invalid_parameter', 'page'],
    ['/v1/project?limit=1', 'invalid_parameter', 'limit'],
    ['/v1/sensors/ALFA?limit=1', 'invalid_parameter', 'limit'],
    ['/v1/events/e1?order=asc', 'invalid_parameter', 'order'],
    ['/v1/events?from=yesterday', 'invalid_parameter', 'from'],
    ['/v1/events?from=2026-02-30', 'invalid_parameter', 'from'],
    ['/v1/events?to=2026-01-01T25:00:00Z', 'invalid_parameter', 'to'],
    ['/v1/events?to=2026-01-01T01:00:00%2B02:00', 'invalid_parameter', 'to'],
    ['/v1/events?to=2026-01-01T01:00:00', 'invalid_parameter', 'to'],
    ['/v1/events?from=2026-01-02&to=2026-01-01', 'invalid_range', 'from'],
    ['/v1/events?min_magnitude=big', 'invalid_parameter', 'min_magnitude'],
    ['/v1/events?max_magnitude=2', 'invalid_parameter', 'max_magnitude'],
    ['/v1/events?order=newest', 'invalid_parameter', 'order'],
    ['/v1/events?bbox=1,2,3', 'invalid_parameter', 'bbox'],
    ['/v1/events?bbox=175,-10,-175,10', 'invalid_parameter', 'bbox'],
    ['/v1/events?bbox=-10,-91,10,10', 'invalid_parameter', 'bbox'],
    ['/v1/triggers?status=open', 'invalid_parameter', 'status'],
    ['/v1/triggers?limit=1000', 'invalid_parameter', 'limit'],
    ['/v1/triggers?from=2026-01-02&to=2026-01-01', 'invalid_range', 'from'],
    ['/v1/sensors/ALFA/soh?limit=5001', 'invalid_parameter', 'limit'],
    ['/v1/sensors/ALFA/soh?offset=1', 'invalid_parameter', 'offset'],
    ['/v1/sensors/ALFA/soh?from=2026-01-01&to=2026-01-08T00:00:01Z', 'invalid_range', 'from'],
    ['/v1/sensors/ALFA/soh?from=2026-01-03', 'invalid_range', 'from'],
  ])('%s is 400 %s naming %s', async (path, code, parameter) => {
    await using sandbox = await start();
    const { status, body } = await ask(sandbox, 'project', path);
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toContain(parameter);
  });
});

describe('what the project interface does not have', () => {
  it.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v2/project',
    '/v1/sensors/NOPE',
    '/v1/sensors/NOPE/soh',
    '/v1/sensors/ALFA/data',
    '/v1/sensors/ALFA/soh/1',
    '/v1/sensors/%E0%A4%A',
    '/v1/sensors/aaaaaaaaaaaa',
    '/v1/events/e9',
    '/v1/events/',
    '/v1/triggers/1',
    '/v1/project/1',
  ])('%s is 404 not_found', async (path) => {
    await using sandbox = await start();
    const { status, body } = await ask(sandbox, 'project', path);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  it('refuses every method but GET', async () => {
    await using sandbox = await start();
    const { status, headers } = await ask(sandbox, 'project', '/v1/sensors', { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('the lists of the project interface', () => {
  it('answers the project with its key id and the number of its sensors', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/project');
    expect(body).toEqual({
      id: 'prj_1',
      name: 'Sandbox network',
      network_code: 'SX',
      sensor_count: 3,
      location_masked: false,
      api_key_id: 'key_1',
    });
  });

  it('orders sensors by station code and says what it paged by', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/sensors?limit=2&offset=1');
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 1 });
    expect(body.data.map((sensor: { station: string }) => sensor.station)).toEqual(['MIKE', 'ZULU']);
    expect(body.data[0].location).toMatchObject({ masked: false, name: 'Test vault' });
    expect((await ask(sandbox, 'project', '/v1/sensors')).body).toMatchObject({ limit: 100, offset: 0 });
  });

  it('finds a sensor by Device ID and by station code', async () => {
    await using sandbox = await start();
    const byDevice = await ask(sandbox, 'project', '/v1/sensors/CCCCCCCCCCCC');
    const byStation = await ask(sandbox, 'project', '/v1/sensors/MIKE');
    expect(byDevice.body).toEqual(byStation.body);
    expect(byDevice.body.device_id).toBe('CCCCCCCCCCCC');
  });

  it.each([
    ['', ['e5', 'e4', 'e3', 'e2', 'e1']],
    ['?order=asc', ['e1', 'e2', 'e3', 'e4', 'e5']],
    ['?from=2026-01-01T02:00:00Z&to=2026-01-01T04:00:00Z', ['e4', 'e3', 'e2']],
    ['?from=2026-01-01T03:00:00.500Z&to=2026-01-01T03:00:00.500Z', ['e3']],
    ['?from=2026-01-02', []],
    ['?to=2026-01-01', []],
    ['?min_magnitude=0', ['e5', 'e4', 'e2']],
    ['?min_magnitude=-0.3', ['e5', 'e4', 'e2', 'e1']],
    ['?bbox=170,-5,180,5', ['e4']],
    ['?bbox=0,0,0,0', ['e5']],
    ['?bbox=-5,-5,180,5&min_magnitude=4.5', ['e5']],
    ['?limit=2&offset=1', ['e4', 'e3']],
    ['?offset=9', []],
  ])('lists of events%s are %j', async (search, expected) => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', `/v1/events${search}`);
    expect(ids(body)).toEqual(expected);
  });

  it('counts in total what the filters let through, not what the page holds', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/events?min_magnitude=0&limit=1');
    expect(body).toMatchObject({ total: 3, limit: 1, offset: 0 });
  });

  it('leaves the solutions to the detail of an event', async () => {
    await using sandbox = await start();
    const list = await ask(sandbox, 'project', '/v1/events?limit=1&order=asc');
    expect(Object.keys(list.body.data[0]).sort()).toEqual(
      ['id', 'issued_at', 'magnitude', 'origin', 'pick_stations', 'station_count'].sort(),
    );
    const detail = await ask(sandbox, 'project', '/v1/events/e1');
    expect(detail.body).toMatchObject({ ...list.body.data[0], origins: [{ id: 'org_1' }], picks: [] });
  });

  it('can leave the fields of the list out of the detail', async () => {
    const world = smallWorld();
    world.project.detailRepeatsListFields = false;
    await using sandbox = await start(world);
    const { body } = await ask(sandbox, 'project', '/v1/events/e1');
    expect(Object.keys(body).sort()).toEqual(
      ['amplitudes', 'descriptions', 'id', 'magnitudes', 'origins', 'picks'].sort(),
    );
  });

  it.each([403, 404] as const)('answers events with %i on a plan without detection', async (status) => {
    const world = smallWorld();
    world.project.eventsStatus = status;
    await using sandbox = await start(world);
    expect((await ask(sandbox, 'project', '/v1/events')).status).toBe(status);
    expect((await ask(sandbox, 'project', '/v1/events/e1')).status).toBe(status);
    expect((await ask(sandbox, 'project', '/v1/triggers')).status).toBe(200);
  });

  it.each([
    ['', [3, 2, 1]],
    ['?order=asc', [1, 2, 3]],
    ['?device_id=AAAAAAAAAAAA', [2, 1]],
    ['?device_id=ALFA', []],
    ['?from=2026-01-01T02:00:00Z', [3, 2]],
    ['?to=2026-01-01T02:00:00Z', [2, 1]],
  ])('lists of triggers%s are %j', async (search, expected) => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', `/v1/triggers${search}`);
    expect(ids(body)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  it('shows an edit of the world at the next request', async () => {
    await using sandbox = await start();
    await ask(sandbox, 'project', '/v1/triggers');
    const { triggers } = sandbox.world.project;
    triggers.push(aTrigger({ id: 4, start_time: '2026-01-01T00:30:00Z' }));
    expect(ids((await ask(sandbox, 'project', '/v1/triggers')).body)).toEqual([3, 2, 1, 4]);
    const last = triggers.find((trigger) => trigger.id === 4);
    if (last) last.start_time = '2026-01-01T09:00:00Z';
    expect(ids((await ask(sandbox, 'project', '/v1/triggers')).body)).toEqual([4, 3, 2, 1]);
    // In the place of one of the same time.
    triggers[0] = aTrigger({ id: 5, start_time: '2026-01-01T02:00:00Z' });
    expect(ids((await ask(sandbox, 'project', '/v1/triggers')).body)).toEqual([4, 3, 5, 1]);
  });
});

describe('health reports', () => {
  const hours = (body: { data: { timestamp: string }[] }) =>
    body.data.map((report) => Number(report.timestamp.slice(11, 13)));

  it('leaves out the start of the range and includes its end', async () => {
    await using sandbox = await start();
    const path = '/v1/sensors/ALFA/soh?from=2026-01-01T01:00:00Z&to=2026-01-01T03:00:00Z';
    const { body } = await ask(sandbox, 'project', path);
    expect(hours(body)).toEqual([2, 3]);
    expect(body).toMatchObject({ device_id: 'AAAAAAAAAAAA', station: 'ALFA', next_from: null });
    expect(body.from).toBe('2026-01-01T01:00:00.000Z');
    expect(body.to).toBe('2026-01-01T03:00:00.000Z');
  });

  it('covers the last 24 hours when no range is given', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/sensors/AAAAAAAAAAAA/soh');
    expect(hours(body)).toEqual([1, 2, 3]);
    expect(body).toMatchObject({ from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' });
  });

  it('takes exactly seven days', async () => {
    await using sandbox = await start();
    const { status } = await ask(sandbox, 'project', '/v1/sensors/ALFA/soh?from=2025-12-26&to=2026-01-02');
    expect(status).toBe(200);
  });

  it('is empty for a sensor that never reported', async () => {
    await using sandbox = await start();
    const { body } = await ask(sandbox, 'project', '/v1/sensors/ZULU/soh');
    expect(body).toMatchObject({ data: [], next_from: null });
  });
});
