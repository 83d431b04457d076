import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueSensor, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

const startMs = Date.UTC(2026, 0, 1);

function gatewayOf(world: World, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway({
    clock: new ManualClock(startMs + 3_600_000),
    sandbox: { world, rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '1000' },
    ...options,
  });
}

function worldOf(...triggers: Parameters<typeof aTrigger>[0][]): World {
  const world = emptyWorld();
  world.project.sensors.push(aSensor());
  world.project.triggers.push(...triggers.map((fields) => aTrigger(fields)));
  return world;
}

const idsQuery = '{ triggers { nodes { id triggerId } } }';

describe('a trigger', () => {
  it('shows computed values with the digits that mean something, and given ones as they are', async () => {
    await using gw = await gatewayOf(worldOf({ pga_horizontal_mg: 12.3456789, pgv_ehz_mm_s: 1.23456789 }));
    const { triggers } = await gw.query(`{ triggers { nodes {
      mg: pgaHorizontal percentG: pgaHorizontal(unit: PERCENT_G) ms2: pgaHorizontal(unit: M_PER_S2)
      gal: pgaHorizontal(unit: GAL) cmS: pgvEhz(unit: CM_PER_S) estimatedIntensity { mmi }
      sensor { distanceKm(from: { latitude: 34.1, longitude: -118.4 }) }
    } } }`);
    const [{ estimatedIntensity, sensor, ...peaks }] = triggers.nodes;
    expect(peaks).toEqual({
      mg: 12.3456789,
      percentG: 1.23456789,
      ms2: 0.12107,
      gal: 12.107,
      cmS: 0.123456789,
    });
    expect(String(estimatedIntensity.mmi)).toMatch(/^\d\.\d{1,2}$/);
    expect(String(sensor.distanceKm)).toMatch(/^\d+\.\d{1,3}$/);
  });

  it('has every field of the list, in the unit asked for', async () => {
    await using gw = await gatewayOf(worldOf({ pga_horizontal_mg: 1000, pgv_ehz_mm_s: 30 }));
    const { triggers } = await gw.query(`{ triggers { nodes {
      triggerId deviceId stationCode locationName status startTime endTime peakTime durationS
      mg: pgaHorizontal percentG: pgaHorizontal(unit: PERCENT_G) ms2: pgaHorizontal(unit: M_PER_S2)
      gal: pgaHorizontal(unit: GAL) pgaHne pgaHnn pgaHnz
      mmS: pgvEhz cmS: pgvEhz(unit: CM_PER_S) mS: pgvEhz(unit: M_PER_S) peakEhzCounts peakFrequencyHz
      estimatedIntensity { roman shaking } sensor { stationCode deviceId } asOf
    } } }`);
    expect(triggers.nodes[0]).toEqual({
      triggerId: '1',
      deviceId: '001A2B3C4D5E',
      stationCode: 'TEST',
      locationName: 'Test vault',
      status: 'CLOSED',
      startTime: '2026-01-01T00:00:05Z',
      endTime: '2026-01-01T00:00:35Z',
      peakTime: '2026-01-01T00:00:09Z',
      durationS: 30,
      mg: 1000,
      percentG: 100,
      ms2: 9.80665,
      gal: 980.665,
      pgaHne: 3.2,
      pgaHnn: 2.6,
      pgaHnz: 1.9,
      mmS: 30,
      cmS: 3,
      mS: 0.03,
      peakEhzCounts: 48_000,
      peakFrequencyHz: 6.5,
      estimatedIntensity: { roman: 'IX', shaking: 'violent' },
      sensor: { stationCode: 'TEST', deviceId: '001A2B3C4D5E' },
      asOf: '2026-01-01T01:00:00.000Z',
    });
  });

  it('has nulls where upstream has, zero where upstream has zero, and UNKNOWN for a status not known', async () => {
    const bare = {
      station: null,
      location_name: null,
      end_time: null,
      peak_time: null,
      pga_horizontal_mg: null,
      pgv_ehz_mm_s: null,
      peak_hz: 0,
      peak_ehz_counts: -2_500_000_000,
      pga_hne_mg: -0.3,
      status: 'paused',
    };
    await using gw = await gatewayOf(worldOf(bare));
    const { triggers } =
      await gw.query(`{ triggers { nodes { stationCode locationName status endTime peakTime durationS
      pgaHorizontal pgaHne pgvEhz peakEhzCounts peakFrequencyHz estimatedIntensity { mmi } } } }`);
    expect(triggers.nodes[0]).toEqual({
      stationCode: null,
      locationName: null,
      status: 'UNKNOWN',
      endTime: null,
      peakTime: null,
      durationS: null,
      pgaHorizontal: null,
      pgaHne: -0.3,
      pgvEhz: null,
      peakEhzCounts: -2_500_000_000,
      peakFrequencyHz: 0,
      estimatedIntensity: null,
    });
  });

  it('loses only the field that upstream sent malformed', async () => {
    await using gw = await gatewayOf(worldOf({ id: 1 }, { id: 2 }));
    const rewrite = (body: unknown) => {
      const { data, ...page } = body as { data: Record<string, unknown>[] };
      return {
        ...page,
        data: data.map((row) =>
          row.id === 2 ? { ...row, pga_horizontal_mg: 'NaN', end_time: 'later' } : row,
        ),
      };
    };
    gw.sandbox.faults.add({ source: 'project', path: '/v1/triggers', rewrite });
    const { data, errors } = await gw.queryWithErrors(
      '{ triggers { nodes { triggerId pgaHorizontal endTime durationS estimatedIntensity { roman } } } }',
    );
    const [second, first] = data.triggers.nodes;
    expect(second).toEqual({
      triggerId: '2',
      pgaHorizontal: null,
      endTime: null,
      durationS: null,
      estimatedIntensity: expect.anything(),
    });
    expect(first.pgaHorizontal).toBe(4.1);
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['triggers.nodes.0.pgaHorizontal', 'UPSTREAM_UNAVAILABLE'],
      ['triggers.nodes.0.endTime', 'UPSTREAM_UNAVAILABLE'],
      ['triggers.nodes.0.durationS', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('has its sensor, or null when the project has none such, all with one request', async () => {
    const world = worldOf();
    const devices = Array.from({ length: 30 }, (_, index) =>
      (index + 0xa0).toString(16).toUpperCase().padStart(12, '0'),
    );
    world.project.sensors.push(
      ...devices.map((device_id, index) => aSensor({ device_id, station: `S${index}` })),
    );
    world.project.triggers.push(
      ...Array.from({ length: 100 }, (_, index) =>
        aTrigger({
          id: index + 1,
          device_id: index % 10 === 9 ? 'FFFFFFFFFFFF' : (devices[index % 30] ?? ''),
        }),
      ),
    );
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(
      '{ triggers(first: 100) { nodes { deviceId sensor { deviceId } } } }',
    );
    expect(triggers.nodes).toHaveLength(100);
    for (const { deviceId, sensor } of triggers.nodes) {
      expect(sensor).toEqual(deviceId === 'FFFFFFFFFFFF' ? null : { deviceId });
    }
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
  });

  it('withholds its location name while the project is masked, whatever was read before', async () => {
    const world = worldOf({});
    const clock = new ManualClock(startMs + 3_600_000);
    await using gw = await gatewayOf(world, { clock });
    const query = '{ triggers { nodes { locationName } } }';
    expect((await gw.query(query)).triggers.nodes).toEqual([{ locationName: 'Test vault' }]);
    world.project.project.location_masked = true;
    await clock.advance(31_000);
    expect((await gw.query(query)).triggers.nodes).toEqual([{ locationName: null }]);
  });
});

describe('a trigger by its global id', () => {
  it('is read with one request, and not asked for again once it is closed', async () => {
    const clock = new ManualClock(startMs + 3_600_000);
    const world = worldOf({ id: 7, start_time: '2026-01-01T00:00:05.123456Z' }, { id: 8 });
    await using gw = await gatewayOf(world, { clock });
    const { triggers } = await gw.query(idsQuery);
    gw.sandbox.forget();
    for (const { id, triggerId } of triggers.nodes) {
      const { trigger } = await gw.query('query ($id: ID!) { trigger(id: $id) { id triggerId } }', { id });
      expect(trigger).toEqual({ id, triggerId });
    }
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(2);
    await clock.advance(60_000);
    for (const { id } of triggers.nodes)
      await gw.query('query ($id: ID!) { trigger(id: $id) { id } }', { id });
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(2);
  });

  it('keeps its id while its values change', async () => {
    const clock = new ManualClock(startMs + 10_000);
    const world = worldOf({ status: 'open', end_time: null, pga_horizontal_mg: 1 });
    await using gw = await gatewayOf(world, { clock });
    const { triggers } = await gw.query(idsQuery);
    world.project.triggers[0] = aTrigger({ station: null });
    await clock.advance(3_600_000 + 3000);
    const { trigger } = await gw.query('query ($id: ID!) { trigger(id: $id) { id status pgaHorizontal } }', {
      id: triggers.nodes[0].id,
    });
    expect(trigger).toEqual({ id: triggers.nodes[0].id, status: 'CLOSED', pgaHorizontal: 4.1 });
  });

  it('is null when it is not there, and BAD_USER_INPUT when the id is none of a trigger', async () => {
    const world = worldOf({ id: 7 });
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(idsQuery);
    const { id } = triggers.nodes[0];
    const gone = Buffer.from(Buffer.from(id, 'base64url').toString().replace(':7:', ':99:')).toString(
      'base64url',
    );
    const query = 'query ($id: ID!) { trigger(id: $id) { id } }';
    expect(await gw.query(query, { id: gone })).toEqual({ trigger: null });
    for (const wrong of ['7', Buffer.from('Sensor:001A2B3C4D5E').toString('base64url'), '']) {
      const { data, errors } = await gw.queryWithErrors(query, { id: wrong });
      expect(data).toEqual({ trigger: null });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'id' } }]);
    }
  });

  it('is found by node, and many by nodes with one request when they lie close in time', async () => {
    const world = worldOf();
    world.project.triggers.push(
      ...Array.from({ length: 40 }, (_, index) =>
        aTrigger({ id: index + 1, start_time: new Date(startMs + index * 1000).toISOString() }),
      ),
    );
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(idsQuery);
    const ids = triggers.nodes.map(({ id }: { id: string }) => id);
    gw.sandbox.forget();
    const { nodes } = await gw.query(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Trigger { triggerId } } }',
      {
        ids: [...ids].reverse(),
      },
    );
    expect(nodes).toEqual([...triggers.nodes].reverse());
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
    const { node } = await gw.query('query ($id: ID!) { node(id: $id) { __typename id } }', { id: ids[3] });
    expect(node).toEqual({ __typename: 'Trigger', id: ids[3] });
  });

  it('is found when its sensor has moved away and upstream does not know the Device ID any more', async () => {
    await using gw = await gatewayOf(worldOf({ id: 7, device_id: 'FFFFFFFFFFFF', station: null }));
    const { triggers } = await gw.query(idsQuery);
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/triggers',
      status: 404,
      body: '{"error":{"code":"not_found","message":"no such sensor"}}',
    });
    const { trigger } = await gw.query('query ($id: ID!) { trigger(id: $id) { triggerId sensor { id } } }', {
      id: triggers.nodes[0].id,
    });
    expect(trigger).toEqual({ triggerId: '7', sensor: null });
  });
});

describe('the triggers of a sensor', () => {
  const query = `query ($filter: TriggerFilter) { sensors { nodes { stationCode triggers(filter: $filter) {
    totalCount nodes { triggerId } pageInfo { hasNextPage } } } } }`;

  it('are its own, and null for a sensor that the project does not have', async () => {
    const world = worldOf({ id: 1 }, { id: 2, device_id: '0F1A2B3C4D5E' });
    world.catalogue.sensors.push(
      aCatalogueSensor({ id: 'sen_9', serial_number: 'ABCDEF012345', station_code: 'ZED' }),
    );
    await using gw = await gatewayOf(world);
    const { sensors } = await gw.query(query);
    expect(sensors.nodes).toEqual([
      {
        stationCode: 'TEST',
        triggers: { totalCount: 1, nodes: [{ triggerId: '1' }], pageInfo: { hasNextPage: false } },
      },
      { stationCode: 'ZED', triggers: null },
    ]);
  });

  it('of many sensors come from one page where it holds enough of each, and else from one request each', async () => {
    const world = worldOf();
    const devices = Array.from({ length: 40 }, (_, index) =>
      (index + 0xa0).toString(16).toUpperCase().padStart(12, '0'),
    );
    world.project.sensors = devices.map((device_id, index) =>
      aSensor({ device_id, station: `S${String(index).padStart(2, '0')}` }),
    );
    for (let index = 0; index < 1200; index++) {
      const start_time = new Date(startMs + index * 1000).toISOString();
      // Sensor 0 has felt nothing for long, and sensor 1 three times.
      const early = index < 100 ? index % 2 : 2 + (index % 38);
      const device_id = devices[[750, 800, 900].includes(index) ? 1 : early] ?? '';
      world.project.triggers.push(aTrigger({ id: index + 1, device_id, start_time }));
    }
    await using gw = await gatewayOf(world);
    const { sensors } = await gw.query(`{ sensors { nodes { deviceId triggers(first: 3) {
      nodes { triggerId deviceId } pageInfo { hasNextPage endCursor } } } } }`);
    for (const [index, { deviceId, triggers }] of sensors.nodes.entries()) {
      const own = world.project.triggers.filter(({ device_id }) => device_id === deviceId).reverse();
      expect(triggers.nodes.map((node: { triggerId: string }) => Number(node.triggerId))).toEqual(
        own.slice(0, 3).map(({ id }) => id),
      );
      expect(triggers.pageInfo.hasNextPage).toBe(true);
      if (index > 3) continue;
      const { sensor } = await gw.query(
        `query ($after: String) { sensor(by: { deviceId: "${deviceId}" }) { triggers(first: 3, after: $after) { nodes { triggerId } } } }`,
        { after: triggers.pageInfo.endCursor },
      );
      expect(sensor.triggers.nodes.map((node: { triggerId: string }) => Number(node.triggerId))).toEqual(
        own.slice(3, 6).map(({ id }) => id),
      );
    }
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1 + 2 + 4);
  });

  it('are none when the filter names another sensor, and its own in any spelling of its Device ID', async () => {
    await using gw = await gatewayOf(worldOf({ id: 1 }, { id: 2, device_id: '0F1A2B3C4D5E' }));
    const other = await gw.query(query, { filter: { deviceId: '0F1A2B3C4D5E' } });
    expect(other.sensors.nodes[0].triggers).toEqual({
      totalCount: 0,
      nodes: [],
      pageInfo: { hasNextPage: false },
    });
    const own = await gw.query(query, { filter: { deviceId: '00:1a:2b:3c:4d:5e' } });
    expect(own.sensors.nodes[0].triggers.nodes).toEqual([{ triggerId: '1' }]);
  });
});
