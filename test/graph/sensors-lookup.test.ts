import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addSensor, deviceId, stationCode, worldOf } from './sensors-world.js';

const by = async (gw: TestGateway, lookup: object, fields = 'deviceId catalogueId') =>
  gw.queryWithErrors(`query ($by: SensorLookup!) { sensor(by: $by) { ${fields} } }`, { by: lookup });

const sensorBy = async (gw: TestGateway, lookup: object, fields?: string) => {
  const { data, errors } = await by(gw, lookup, fields);
  expect(errors).toBeUndefined();
  return data.sensor;
};

const errorBy = async (gw: TestGateway, lookup: object, fields?: string) => {
  const { data, errors } = await by(gw, lookup, fields);
  expect(data?.sensor ?? null).toBeNull();
  expect(errors).toHaveLength(1);
  return errors?.[0];
};

const globalId = (key: string) => Buffer.from(`Sensor:${key}`).toString('base64url');

describe('a look-up that one interface can answer', () => {
  it('is one request: a Device ID in any spelling', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    const spelled = deviceId(1)
      .toLowerCase()
      .replace(/..(?=.)/g, '$&:');
    expect(
      await sensorBy(gw, { deviceId: spelled }, 'deviceId stationCode firmwareVersion status'),
    ).toMatchObject({
      deviceId: deviceId(1),
    });
    expect(gw.sandbox.requests.map(({ path }) => path)).toEqual([`/v1/sensors/${deviceId(1)}`]);
  });

  it('is one request: a catalogue id', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    const found = await sensorBy(
      gw,
      { catalogueId: 'sen_1' },
      'catalogueId serialNumber locationCode createdAt',
    );
    expect(found).toMatchObject({ catalogueId: 'sen_1', locationCode: '00' });
    expect(gw.sandbox.requests.map(({ path }) => path)).toEqual(['/v1/sensors/sen_1']);
  });

  it('is one request: station and network code of a sensor of the project', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    const station = { stationCode: stationCode(1), networkCode: 'N1' };
    expect(await sensorBy(gw, { station }, 'deviceId')).toEqual({ deviceId: deviceId(1) });
    expect(gw.sandbox.requests).toHaveLength(1);
  });

  it('does not wait for a list of ten thousand sensors', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(10_000) } });
    expect(await sensorBy(gw, { deviceId: deviceId(9_999) }, 'stationCode')).toEqual({
      stationCode: stationCode(9_999),
    });
    expect(gw.sandbox.requests).toHaveLength(1);
  });
});

describe('a look-up of what does not exist', () => {
  it('is null, whatever it was named by', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(2) } });
    for (const lookup of [
      { deviceId: 'FFFFFFFFFFFF' },
      { catalogueId: 'sen_9' },
      { catalogueId: '../sensors' },
      { catalogueId: '' },
      { stationCode: 'NONE' },
      { stationCode: '' },
      { stationCode: deviceId(1) },
      { station: { stationCode: stationCode(1), networkCode: 'ZZ' } },
      { id: globalId('FFFFFFFFFFFF') },
      { id: globalId('c:sen_9') },
      { id: globalId('anything') },
    ]) {
      expect(await sensorBy(gw, lookup), JSON.stringify(lookup)).toBeNull();
    }
  });

  it('is no longer null soon after it appears upstream', async () => {
    const clock = new ManualClock();
    const world = worldOf(2);
    await using gw = await startGateway({ clock, sandbox: { world } });
    await gw.query('{ sensors { nodes { id } } }');
    expect(await sensorBy(gw, { deviceId: deviceId(7) })).toBeNull();
    addSensor(world, 7);
    await clock.advance(11_000);
    expect(await sensorBy(gw, { deviceId: deviceId(7) }, 'stationCode')).toEqual({
      stationCode: stationCode(7),
    });
  });
});

describe('a station code', () => {
  it('that two networks share is refused, naming them', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: { station: 'AAA', network: 'SX' }, catalogue: null });
    addSensor(world, 2, {
      project: null,
      catalogue: { station_code: 'AAA', network_id: 'net_2', network_code: 'SY' },
    });
    await using gw = await startGateway({ sandbox: { world } });
    const error = await errorBy(gw, { stationCode: 'AAA' });
    expect(error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'by.stationCode' });
    expect(error?.message).toContain('SX, SY');
    expect(await sensorBy(gw, { station: { stationCode: 'AAA', networkCode: 'SX' } })).toEqual({
      deviceId: deviceId(1),
      catalogueId: null,
    });
    expect(await sensorBy(gw, { station: { stationCode: 'AAA', networkCode: 'SY' } })).toEqual({
      deviceId: null,
      catalogueId: 'sen_2',
    });
  });

  it('that two sensors of the project share is refused as well', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: { station: 'AAA', network: 'SX' }, catalogue: null });
    addSensor(world, 2, { project: { station: 'AAA', network: 'SY' }, catalogue: null });
    await using gw = await startGateway({ sandbox: { world } });
    expect((await errorBy(gw, { stationCode: 'AAA' }))?.message).toContain('SX, SY');
    for (const [n, networkCode] of [
      [1, 'SX'],
      [2, 'SY'],
    ] as const) {
      const found = await sensorBy(gw, { station: { stationCode: 'AAA', networkCode } }, 'deviceId');
      expect(found).toEqual({ deviceId: deviceId(n) });
    }
  });

  it('that looks like a Device ID means the station, not the device', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: { station: 'AAA' }, catalogue: null });
    addSensor(world, 2, { project: { station: deviceId(1) }, catalogue: null });
    await using gw = await startGateway({ sandbox: { world } });
    expect(await sensorBy(gw, { stationCode: deviceId(1) }, 'deviceId')).toEqual({ deviceId: deviceId(2) });
    const station = { stationCode: deviceId(1), networkCode: 'SX' };
    expect(await sensorBy(gw, { station }, 'deviceId')).toEqual({ deviceId: deviceId(2) });
    expect(await sensorBy(gw, { deviceId: deviceId(1) }, 'stationCode')).toEqual({ stationCode: 'AAA' });
  });

  it('means where a moved sensor stands now', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: { station: 'NEW' }, catalogue: { station_code: 'OLD' } });
    await using gw = await startGateway({ sandbox: { world } });
    expect(await sensorBy(gw, { stationCode: 'NEW' })).toEqual({
      deviceId: deviceId(1),
      catalogueId: 'sen_1',
    });
    expect(await sensorBy(gw, { stationCode: 'OLD' })).toBeNull();
  });
});

describe('a global id', () => {
  it('leads to the sensor in either interface, also when the other is unavailable', async () => {
    const world = emptyWorld();
    addSensor(world, 1);
    addSensor(world, 2, { project: null });
    addSensor(world, 3, { project: null, catalogue: { serial_number: 'SN-3' } });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query('{ sensors { nodes { id catalogueId } } }');
    const ids = sensors.nodes.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([globalId(deviceId(1)), globalId(deviceId(2)), globalId('c:sen_3')]);

    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Sensor { id stationCode } } }';
    await using fresh = await startGateway({ sandbox: { world } });
    const expected = ids.map((id: string, index: number) => ({ id, stationCode: stationCode(index + 1) }));
    expect((await fresh.query(nodes, { ids })).nodes).toEqual(expected);

    await using catalogueAlone = await startGateway({ sandbox: { world } });
    catalogueAlone.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const answer = await catalogueAlone.queryWithErrors(nodes, { ids });
    expect(answer.data.nodes).toEqual(expected);

    await using projectAlone = await startGateway({ sandbox: { world } });
    projectAlone.sandbox.faults.add({ source: 'catalogue', drop: true, times: 100 });
    const partial = await projectAlone.queryWithErrors(nodes, { ids });
    expect(partial.data.nodes).toEqual([expected[0], null, null]);
    expect(partial.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['nodes', 1], 'UPSTREAM_UNAVAILABLE'],
      [['nodes', 2], 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('of something else is refused', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    const id = Buffer.from('Network:net_1').toString('base64url');
    expect((await errorBy(gw, { id }))?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'by.id',
    });
    expect((await errorBy(gw, { id: 'nonsense' }))?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    for (const text of ['nonsense', 'Foo:1', 'SensorLocation:1', 'Query:1']) {
      const { errors } = await gw.queryWithErrors('query ($id: ID!) { node(id: $id) { id } }', {
        id: Buffer.from(text).toString('base64url'),
      });
      expect(errors?.[0]?.extensions, text).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'id' });
    }
  });

  it('of a sensor whose serial number another one has is its own', async () => {
    const world = emptyWorld();
    for (const n of [1, 2, 3])
      addSensor(world, n, { project: null, catalogue: { serial_number: '000000000000' } });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query('{ sensors { nodes { id catalogueId } } }');
    const ids = sensors.nodes.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(3);
    const { nodes } = await gw.query(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Sensor { catalogueId } } }',
      { ids },
    );
    expect(nodes).toEqual(sensors.nodes.map(({ catalogueId }: { catalogueId: string }) => ({ catalogueId })));
  });
});

describe('where an interface cannot answer', () => {
  it('a look-up that only the other one, not configured, could answer says so', async () => {
    await using project = await startGateway({ sandbox: { world: worldOf(1) }, catalogue: false });
    expect((await errorBy(project, { catalogueId: 'sen_0' }))?.extensions.code).toBe('NOT_CONFIGURED');
    expect(await sensorBy(project, { stationCode: stationCode(0) }, 'deviceId')).toEqual({
      deviceId: deviceId(0),
    });
    await using catalogue = await startGateway({ sandbox: { world: worldOf(1) }, project: false });
    expect((await errorBy(catalogue, { deviceId: deviceId(0) }))?.extensions.code).toBe('NOT_CONFIGURED');
    expect(await sensorBy(catalogue, { stationCode: stationCode(0) }, 'catalogueId')).toEqual({
      catalogueId: 'sen_0',
    });
  });

  it('is an error where the sensor may be its, and no null that may be wrong', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { catalogue: null });
    addSensor(world, 2, { project: null });
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({ source: 'catalogue', status: 500, times: 100 });
    expect((await errorBy(gw, { stationCode: stationCode(2) }))?.extensions.code).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
    // What the other interface can answer is answered.
    expect(await sensorBy(gw, { stationCode: stationCode(1) }, 'deviceId')).toEqual({
      deviceId: deviceId(1),
    });
    const { data, errors } = await by(
      gw,
      { deviceId: deviceId(1) },
      'stationCode catalogueId sources asOf status',
    );
    expect(data.sensor).toMatchObject({
      stationCode: stationCode(1),
      catalogueId: null,
      sources: ['PROJECT'],
    });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['sensor.catalogueId', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });
});
