import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueSensor, aHealthReport, aSensor } from '../../src/sandbox/builders.js';
import type { HealthReport } from '../../src/sandbox/project/records.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

const nowMs = Date.UTC(2026, 2, 8, 12);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const device = '001A2B3C4D5E';
const soh = `/v1/sensors/${device}/soh`;
const ago = (ms: number) => new Date(nowMs - ms).toISOString();

function worldOf(reports: readonly Partial<HealthReport>[]): World {
  const world = emptyWorld();
  world.project.sensors.push(aSensor({ last_seen: ago(30_000) }));
  world.project.healthReports = { [device]: reports.map((fields) => aHealthReport(fields)) };
  return world;
}

function every(intervalMs: number, count: number): Partial<HealthReport>[] {
  return Array.from({ length: count }, (_, index) => ({ timestamp: ago((count - 1 - index) * intervalMs) }));
}

function gatewayOf(world: World, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway({
    clock: new ManualClock(nowMs),
    sandbox: { world, rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '1000' },
    ...options,
  });
}

const rangeQuery = `query ($from: DateTime, $to: DateTime, $first: Int, $after: String) {
  sensor(by: { deviceId: "${device}" }) { healthReports(from: $from, to: $to, first: $first, after: $after) {
    nodes { timestamp } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`;

const timestampsOf = (answer: { sensor: { healthReports: { nodes: { timestamp: string }[] } } }) =>
  answer.sensor.healthReports.nodes.map(({ timestamp }) => timestamp);

describe('health reports', () => {
  it('are those of the last 24 hours, oldest first, a hundred of them, unless told otherwise', async () => {
    await using gw = await gatewayOf(worldOf(every(10 * minuteMs, 200)));
    const answer = await gw.query(rangeQuery);
    expect(timestampsOf(answer)).toHaveLength(100);
    expect(timestampsOf(answer)[0]).toBe(ago(dayMs - 10 * minuteMs));
    const { pageInfo } = answer.sensor.healthReports;
    expect(pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const rest = await gw.query(rangeQuery, { after: pageInfo.endCursor });
    expect(timestampsOf(rest)).toHaveLength(44);
    expect(timestampsOf(rest).at(-1)).toBe(ago(0));
    expect(rest.sensor.healthReports.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  });

  it('of 30 days come in order and once each, in five requests', async () => {
    const reports = every(10 * minuteMs, 30 * 144);
    await using gw = await gatewayOf(worldOf(reports));
    const answer = await gw.query(rangeQuery, { from: ago(30 * dayMs), first: 5000 });
    expect(timestampsOf(answer)).toEqual(reports.map(({ timestamp }) => timestamp));
    expect(gw.sandbox.seen('project', soh)).toHaveLength(5);
    expect(gw.sandbox.seen('project', soh).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('are paged from the end by `last` and `before`, the latest for one request', async () => {
    const reports = every(10 * minuteMs, 300).map(({ timestamp }) => timestamp);
    await using gw = await gatewayOf(worldOf(every(10 * minuteMs, 300)));
    const pageBefore = (before: string | null) =>
      gw.query(
        `query ($before: String) { sensor(by: { deviceId: "${device}" }) {
          latestHealthReport { timestamp }
          healthReports(from: "2026-01-01", last: 70, before: $before) {
            nodes { timestamp } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
        { before },
      );
    const latest = await pageBefore(null);
    expect(timestampsOf(latest)).toEqual(reports.slice(-70));
    expect(latest.sensor.latestHealthReport.timestamp).toBe(reports.at(-1));
    expect(gw.sandbox.seen('project', soh)).toHaveLength(1);
    expect(latest.sensor.healthReports.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const paged = timestampsOf(latest);
    for (let page = latest; page.sensor.healthReports.pageInfo.hasPreviousPage; ) {
      page = await pageBefore(page.sensor.healthReports.pageInfo.startCursor);
      expect(page.sensor.healthReports.pageInfo.hasNextPage).toBe(true);
      paged.unshift(...timestampsOf(page));
    }
    expect(paged).toEqual(reports);
    const { endCursor } = (await pageBefore(latest.sensor.healthReports.pageInfo.startCursor)).sensor
      .healthReports.pageInfo;
    const forward = await gw.query(rangeQuery, { from: '2026-01-01', first: 500, after: endCursor });
    expect(timestampsOf(forward)).toEqual(reports.slice(-70));
  });

  it('come the latest first by TIMESTAMP_DESC, in pages of both directions', async () => {
    const reports = every(10 * minuteMs, 50).map(({ timestamp }) => timestamp);
    await using gw = await gatewayOf(worldOf(every(10 * minuteMs, 50)));
    const list = async (args: string) =>
      (
        await gw.query(`{ sensor(by: { deviceId: "${device}" }) { healthReports(orderBy: TIMESTAMP_DESC, ${args}) {
          nodes { timestamp } pageInfo { startCursor endCursor } } } }`)
      ).sensor.healthReports;
    const first = await list('first: 20');
    expect(first.nodes.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(
      reports.slice(-20).toReversed(),
    );
    const second = await list(`first: 20, after: "${first.pageInfo.endCursor}"`);
    expect(second.nodes[0].timestamp).toBe(reports.at(-21));
    const back = await list(`last: 20, before: "${second.pageInfo.startCursor}"`);
    expect(back.nodes).toEqual(first.nodes);
    const last = await list('last: 3');
    expect(last.nodes.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(
      reports.slice(0, 3).toReversed(),
    );
  });

  it.each([
    ['first: 1, last: 1', 'last'],
    ['last: 0', 'last'],
    ['last: 5001', 'last'],
    ['last: 1, after: "x"', 'after'],
    ['first: 1, before: "x"', 'before'],
  ])('refuse (%s), naming `%s`', async (args, argument) => {
    await using gw = await gatewayOf(worldOf([]));
    const { errors } = await gw.queryWithErrors(
      `{ sensor(by: { deviceId: "${device}" }) { healthReports(${args}) { nodes { timestamp } } } }`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }]);
  });

  it('on the seam of two ranges belong to the earlier one alone', async () => {
    await using gw = await gatewayOf(
      worldOf([{ timestamp: ago(dayMs) }, { timestamp: ago(dayMs / 2) }, { timestamp: ago(0) }]),
    );
    expect(timestampsOf(await gw.query(rangeQuery, { from: ago(dayMs), to: ago(dayMs / 2) }))).toEqual([
      ago(dayMs / 2),
    ]);
    expect(timestampsOf(await gw.query(rangeQuery, { from: ago(dayMs / 2), to: ago(0) }))).toEqual([ago(0)]);
  });

  it('of several windows of the past are not asked for again', async () => {
    const clock = new ManualClock(nowMs);
    await using gw = await gatewayOf(worldOf(every(hourMs, 30 * 24)), { clock });
    await gw.query(rangeQuery, { from: ago(30 * dayMs), first: 5000 });
    await clock.advance(10 * minuteMs);
    gw.sandbox.forget();
    const later = await gw.query(rangeQuery, { from: ago(30 * dayMs - 10 * minuteMs), first: 5000 });
    expect(timestampsOf(later)).toHaveLength(720);
    // The first window begins later, and the last one has not ended.
    expect(gw.sandbox.seen('project', soh).length).toBeLessThanOrEqual(2);
  });

  it('are asked for no further than `first` needs', async () => {
    await using gw = await gatewayOf(worldOf(every(hourMs, 30 * 24)));
    const answer = await gw.query(rangeQuery, { from: ago(30 * dayMs), first: 5 });
    expect(timestampsOf(answer)).toHaveLength(5);
    expect(gw.sandbox.seen('project', soh)).toHaveLength(1);
  });

  it('with different arguments are different lists, with equal ones one request', async () => {
    await using gw = await gatewayOf(worldOf(every(10 * minuteMs, 100)));
    const { sensor } = await gw.query(`{ sensor(by: { deviceId: "${device}" }) {
      a: healthReports(first: 1) { nodes { timestamp } }
      b: healthReports(first: 50) { nodes { timestamp } }
      c: healthReports(first: 50) { nodes { timestamp } } } }`);
    expect([sensor.a, sensor.b, sensor.c].map(({ nodes }) => nodes.length)).toEqual([1, 50, 50]);
    expect(gw.sandbox.seen('project', soh)).toHaveLength(2);
  });

  it('stop after twenty requests without a report, with a cursor that goes on behind them', async () => {
    await using gw = await gatewayOf(worldOf([{ timestamp: ago(hourMs) }]));
    const empty = await gw.query(rangeQuery, { from: ago(200 * dayMs) });
    expect(timestampsOf(empty)).toEqual([]);
    expect(empty.sensor.healthReports.pageInfo.hasNextPage).toBe(true);
    expect(gw.sandbox.seen('project', soh)).toHaveLength(20);
    const { endCursor } = empty.sensor.healthReports.pageInfo;
    const next = await gw.query(rangeQuery, { from: ago(200 * dayMs), after: endCursor });
    expect(timestampsOf(next)).toEqual([ago(hourMs)]);
    expect(next.sensor.healthReports.pageInfo.hasNextPage).toBe(false);
  });

  it('have every field as upstream wrote it, counters beyond 32 bits included', async () => {
    const report = {
      timestamp: ago(hourMs),
      received_at: ago(hourMs - 1500),
      connection_type: 'satellite',
      signal_strength: 0,
      uptime_s: 3_000_000_000,
      data_tx_bytes: 5_000_000_000,
      data_rx_bytes: 0,
      battery_volts: 0,
      charging: null,
      temperature_c: -12.5,
      free_heap_bytes: null,
      buffer_usage_pct: 0,
      gps: { latitude: 34.05, longitude: -118.25, elevation_m: 93, satellites: 11 },
    };
    await using gw = await gatewayOf(
      worldOf([report, { timestamp: ago(0), signal_strength: -61, connection_type: 'cell' }]),
    );
    const { sensor } = await gw.query(`{ sensor(by: { deviceId: "${device}" }) { healthReports { nodes {
      timestamp receivedAt firmwareVersion powerSource connectionType connectionTypeText signalStrength { value unit }
      uptimeS rebootReason clockQuality syncAgeS dataTxBytes dataRxBytes batteryVolts charging temperatureC freeHeapBytes
      bufferUsagePct gps } } } }`);
    const [first, second] = sensor.healthReports.nodes;
    expect(first).toEqual({
      timestamp: ago(hourMs),
      receivedAt: ago(hourMs - 1500),
      firmwareVersion: '4.2.1',
      powerSource: 'solar',
      connectionType: 'UNKNOWN',
      connectionTypeText: 'satellite',
      signalStrength: { value: 0, unit: 'PERCENT' },
      uptimeS: 3_000_000_000,
      rebootReason: 'power_on',
      clockQuality: 'locked',
      syncAgeS: 3,
      dataTxBytes: 5_000_000_000,
      dataRxBytes: 0,
      batteryVolts: 0,
      charging: null,
      temperatureC: -12.5,
      freeHeapBytes: null,
      bufferUsagePct: 0,
      gps: report.gps,
    });
    expect(second).toMatchObject({
      connectionType: 'CELL',
      signalStrength: { value: -61, unit: 'DBM' },
      gps: null,
    });
  });

  it('lose only the value that upstream sent malformed', async () => {
    await using gw = await gatewayOf(worldOf(every(minuteMs, 10)));
    const rewrite = (body: unknown) => {
      const page = body as { data: object[] };
      return {
        ...page,
        data: page.data.map((row, index) => (index === 3 ? { ...row, temperature_c: 'NaN' } : row)),
      };
    };
    gw.sandbox.faults.add({ source: 'project', path: soh, rewrite });
    const { data, errors } = await gw.queryWithErrors(
      `{ sensor(by: { deviceId: "${device}" }) { healthReports { nodes { temperatureC batteryVolts } } } }`,
    );
    const { nodes } = data.sensor.healthReports;
    expect(nodes).toHaveLength(10);
    expect(nodes[3]).toEqual({ temperatureC: null, batteryVolts: 12.6 });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['sensor.healthReports.nodes.3.temperatureC']);
  });

  it('are UPSTREAM_UNAVAILABLE when a body has a bare NaN', async () => {
    await using gw = await gatewayOf(worldOf(every(minuteMs, 3)));
    gw.sandbox.faults.add({
      source: 'project',
      path: soh,
      times: 5,
      body: '{"data":[{"temperature_c":NaN}]}',
    });
    const { data, errors } = await gw.queryWithErrors(rangeQuery);
    expect(data.sensor.healthReports).toBeNull();
    expect(errors).toMatchObject([
      { path: ['sensor', 'healthReports'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
    ]);
  });

  it('show no GPS position while the project is masked, whatever was read before', async () => {
    const gps = { latitude: 34.05, longitude: -118.25, elevation_m: 93, satellites: 11 };
    const world = worldOf([{ timestamp: ago(0), gps }]);
    const clock = new ManualClock(nowMs);
    await using gw = await gatewayOf(world, { clock });
    const query = `{ sensor(by: { deviceId: "${device}" }) { healthReports { nodes { gps } } } }`;
    expect((await gw.query(query)).sensor.healthReports.nodes).toEqual([{ gps }]);
    world.project.project.location_masked = true;
    await clock.advance(31_000);
    expect((await gw.query(query)).sensor.healthReports.nodes).toEqual([{ gps: null }]);
  });

  it('are an empty list for a sensor without any, and null for one that the project does not have', async () => {
    const world = worldOf([]);
    world.catalogue.sensors.push(
      aCatalogueSensor({ id: 'sen_9', serial_number: 'ABCDEF012345', station_code: 'ZED' }),
    );
    await using gw = await gatewayOf(world);
    const { sensors } = await gw.query(
      '{ sensors { nodes { stationCode healthReports { nodes { timestamp } } latestHealthReport { timestamp } } } }',
    );
    expect(sensors.nodes).toEqual([
      { stationCode: 'TEST', healthReports: { nodes: [] }, latestHealthReport: null },
      { stationCode: 'ZED', healthReports: null, latestHealthReport: null },
    ]);
  });

  it('fail for one sensor without taking the others along', async () => {
    const world = emptyWorld();
    const timestamp = new Date(Date.now() - minuteMs).toISOString();
    const devices = Array.from({ length: 10 }, (_, index) => `A0000000000${index}`);
    world.project.sensors = devices.map((device_id, index) => aSensor({ device_id, station: `S${index}` }));
    world.project.healthReports = Object.fromEntries(
      devices.map((id) => [id, [aHealthReport({ timestamp })]]),
    );
    // Upstream is asked again after a moment: by the real clock.
    await using gw = await startGateway({ sandbox: { world, rateLimits: false } });
    gw.sandbox.faults.add({
      source: 'project',
      path: `/v1/sensors/${devices[3]}/soh`,
      times: 9,
      status: 500,
    });
    gw.sandbox.faults.add({
      source: 'project',
      path: `/v1/sensors/${devices[6]}/soh`,
      times: 9,
      status: 404,
    });
    const { data, errors } = await gw.queryWithErrors(
      '{ sensors { nodes { latestHealthReport { timestamp } } } }',
    );
    const found = data.sensors.nodes.map(
      (node: { latestHealthReport: object | null }) => node.latestHealthReport !== null,
    );
    expect(found).toEqual(devices.map((_, index) => index !== 3 && index !== 6));
    expect(errors).toMatchObject([
      { path: ['sensors', 'nodes', 3, 'latestHealthReport'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
    ]);
  });

  it.each([
    [{ first: 0 }, 'first'],
    [{ first: 5001 }, 'first'],
    [{ from: ago(0), to: ago(1) }, 'from'],
    [{ from: 'soon' }, 'from'],
  ])('refuse %j as BAD_USER_INPUT', async (variables, argument) => {
    await using gw = await gatewayOf(worldOf([]));
    const { errors } = await gw.queryWithErrors(rangeQuery, variables);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }]);
    expect(gw.sandbox.seen('project', soh)).toHaveLength(0);
  });

  it('refuse the cursor of another list', async () => {
    await using gw = await gatewayOf(worldOf([]));
    const after = Buffer.from('["triggers:desc",["2026-01-01T00:00:00Z","1"]]').toString('base64url');
    const { errors } = await gw.queryWithErrors(rangeQuery, { after });
    expect(errors).toMatchObject([{ extensions: { code: 'CURSOR_INVALID', argument: 'after' } }]);
  });
});

describe('the latest health report', () => {
  it('of 20 sensors costs 20 requests, and none within the next minute', async () => {
    const world = worldOf([]);
    const devices = Array.from({ length: 20 }, (_, index) =>
      (index + 0xb0).toString(16).toUpperCase().padStart(12, '0'),
    );
    world.project.sensors = devices.map((device_id, index) =>
      aSensor({ device_id, station: `S${String(index).padStart(2, '0')}`, last_seen: ago(30_000) }),
    );
    world.project.healthReports = Object.fromEntries(
      devices.map((id, index) => [
        id,
        [
          aHealthReport({ timestamp: ago(hourMs) }),
          ...(index % 2 === 0 ? [aHealthReport({ timestamp: ago(index * 1000) })] : []),
        ],
      ]),
    );
    const clock = new ManualClock(nowMs);
    await using gw = await gatewayOf(world, { clock });
    const query = '{ sensors { nodes { latestHealthReport { timestamp } } } }';
    const asked = () => gw.sandbox.requests.filter(({ path }) => path.endsWith('/soh'));
    const { sensors } = await gw.query(query);
    expect(sensors.nodes).toEqual(
      devices.map((_, index) => ({
        latestHealthReport: { timestamp: index % 2 === 0 ? ago(index * 1000) : ago(hourMs) },
      })),
    );
    expect(asked()).toHaveLength(20);
    await clock.advance(55_000);
    await gw.query(query);
    expect(asked()).toHaveLength(20);
  });

  it('of a sensor that has been silent for days is its last one, with one request', async () => {
    const world = worldOf([{ timestamp: ago(4 * dayMs) }, { timestamp: ago(3 * dayMs) }]);
    world.project.sensors = [aSensor({ last_seen: ago(3 * dayMs), status: 'offline' })];
    await using gw = await gatewayOf(world);
    const { sensor } = await gw.query(
      `{ sensor(by: { deviceId: "${device}" }) { latestHealthReport { timestamp } } }`,
    );
    expect(sensor.latestHealthReport).toEqual({ timestamp: ago(3 * dayMs) });
    expect(gw.sandbox.seen('project', soh)).toHaveLength(1);
  });

  it('is found although the record of the sensor says that it was heard of long ago', async () => {
    const world = worldOf([{ timestamp: ago(hourMs) }]);
    world.project.sensors = [aSensor({ last_seen: ago(300 * dayMs), status: 'offline' })];
    await using gw = await gatewayOf(world);
    const { sensor } = await gw.query(
      `{ sensor(by: { deviceId: "${device}" }) { latestHealthReport { timestamp } } }`,
    );
    expect(sensor.latestHealthReport).toEqual({ timestamp: ago(hourMs) });
  });
});
