import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addSensor, deviceId, stationCode, whileTimePasses, worldOf } from './sensors-world.js';

const document = `{ sensors(first: 500) {
  nodes { stationCode sources } totalCount unavailableSources { source code message retryAfterS } pageInfo { hasNextPage }
} }`;

const list = async (gw: TestGateway) => {
  const { data, errors } = await gw.queryWithErrors(document);
  return { sensors: data?.sensors, errors };
};

/** Sensor 0 in both, 1 in the project alone, 2 in the catalogue alone. */
function mixedWorld() {
  const world = worldOf(1);
  addSensor(world, 1, { catalogue: null });
  addSensor(world, 2, { project: null });
  return world;
}

describe('a list of sensors', () => {
  it('has what the project knows when the catalogue is unavailable, and names it', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.faults.add({ source: 'catalogue', status: 503, times: 100 });
    const { sensors, errors } = await list(gw);
    expect(errors).toBeUndefined();
    expect(sensors.nodes.map((node: { stationCode: string }) => node.stationCode)).toEqual(
      [0, 1].map(stationCode),
    );
    expect(sensors.totalCount).toBeNull();
    expect(sensors.unavailableSources).toMatchObject([{ source: 'CATALOGUE', code: 'UPSTREAM_UNAVAILABLE' }]);
  });

  it('names it once for all of its items, whatever else the operation asks for, and a single sensor at each path', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.faults.add({ source: 'catalogue', status: 503, times: 100 });
    const one = `sensor(by: { stationCode: "${stationCode(0)}" }) { catalogueId serialNumber }`;
    const many = 'sensors { nodes { catalogueId serialNumber } unavailableSources { source } }';
    for (const fields of [
      [one, many],
      [many, one],
    ]) {
      const { data, errors } = await gw.queryWithErrors(`{ ${fields.join(' ')} }`);
      expect(data.sensors.unavailableSources).toEqual([{ source: 'CATALOGUE' }]);
      expect(errors?.map(({ path }) => path).sort()).toEqual([
        ['sensor', 'catalogueId'],
        ['sensor', 'serialNumber'],
      ]);
    }
  });

  it('has what the catalogue knows when the project is unavailable, and names it', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.revoke(gw.sandbox.projectKey);
    const { sensors, errors } = await list(gw);
    expect(errors).toBeUndefined();
    expect(sensors.nodes).toEqual([
      { stationCode: stationCode(0), sources: ['CATALOGUE'] },
      { stationCode: stationCode(2), sources: ['CATALOGUE'] },
    ]);
    expect(sensors.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'UPSTREAM_UNAUTHORIZED' }]);
  });

  it('is null with the error when neither can answer', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.faults.add({ source: 'catalogue', status: 403, times: 100 });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const { sensors, errors } = await list(gw);
    expect(sensors).toBeNull();
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['sensors'], 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('is null with the error when the only one that is configured cannot answer', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() }, project: false });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', status: 403, times: 100 });
    const { sensors, errors } = await list(gw);
    expect(sensors).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('does not name an interface that is not configured', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() }, catalogue: false });
    const { sensors } = await list(gw);
    expect(sensors).toMatchObject({ totalCount: 2, unavailableSources: [] });
  });

  it('that only one interface can answer is null with the error when that one is unavailable', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.faults.add({ source: 'catalogue', status: 500, times: 100 });
    const { data, errors } = await gw.queryWithErrors(`{
      network: sensors(filter: { networkId: "net_1" }) { totalCount }
      source: sensors(filter: { source: CATALOGUE }) { totalCount }
      other: sensors(filter: { source: PROJECT }) { totalCount unavailableSources { source } }
    }`);
    expect(data).toEqual({ network: null, source: null, other: { totalCount: 2, unavailableSources: [] } });
    expect(errors).toHaveLength(2);
  });

  it('has the rows of the pages that were read when another page is not what the interface describes', async () => {
    const bodies: Record<string, string> = {
      'a bare array': '[]',
      'an empty object': '{}',
      'no list': '{"data": null, "total": 600}',
    };
    for (const [name, body] of Object.entries(bodies)) {
      const world = worldOf(0);
      for (let n = 0; n < 600; n++) addSensor(world, n, { catalogue: null });
      await using gw = await startGateway({ sandbox: { world }, catalogue: false });
      gw.sandbox.faults.add({ source: 'project', path: '/v1/sensors', after: 1, times: 9, body });
      const { sensors } = await list(gw);
      expect(sensors.nodes, name).toHaveLength(500);
      expect(sensors.totalCount, name).toBeNull();
      expect(sensors.unavailableSources, name).toMatchObject([
        { source: 'PROJECT', code: 'UPSTREAM_UNAVAILABLE' },
      ]);
    }
  });

  it('loses only the row that has no identifier', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      rewrite: (body) => {
        const { data } = body as { data: Record<string, unknown>[] };
        if (data[1]) data[1].device_id = null;
        return body;
      },
    });
    const { sensors, errors } = await list(gw);
    expect(errors).toBeUndefined();
    expect(sensors.nodes.map(({ sources }: { sources: string[] }) => sources)).toEqual([
      ['PROJECT', 'CATALOGUE'],
      ['CATALOGUE'],
      ['PROJECT', 'CATALOGUE'],
    ]);
  });

  it('that was whole before stays so through an outage of a day, and then names the interface', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: mixedWorld() } });
    expect((await list(gw)).sensors.totalCount).toBe(3);
    gw.sandbox.faults.add({ source: 'catalogue', drop: true, times: 100_000 });
    for (const hours of [0.5, 2, 20]) {
      await clock.advance(hours * 3_600_000);
      const { sensors } = await whileTimePasses(clock, list(gw));
      expect(sensors).toMatchObject({ totalCount: 3, unavailableSources: [] });
    }
    await clock.advance(3 * 3_600_000);
    const { sensors } = await whileTimePasses(clock, list(gw));
    expect(sensors.totalCount).toBeNull();
    expect(sensors.unavailableSources).toMatchObject([{ source: 'CATALOGUE' }]);
  });

  it('has the one sensor that is looked up, too, when it was too long to be read for it', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: worldOf(600) }, isAlone: true });
    await list(gw);
    await clock.advance(600_000);
    const headers = { 'retry-after': '3000' };
    gw.sandbox.faults.add({ source: 'project', status: 429, headers, times: 100_000 });
    gw.sandbox.faults.add({ source: 'catalogue', status: 429, headers, times: 100_000 });
    for (const by of [`deviceId: "${deviceId(599)}"`, 'catalogueId: "sen_599"']) {
      const { sensor } = await gw.query(`{ sensor(by: { ${by} }) { stationCode } }`);
      expect(sensor).toEqual({ stationCode: stationCode(599) });
    }
  });

  it('is answered again as soon as the interface is back', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld() } });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', status: 403 });
    expect((await list(gw)).sensors.totalCount).toBeNull();
    expect((await list(gw)).sensors.totalCount).toBe(3);
  });

  it('shows nothing from memory that the key may no longer see', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: mixedWorld() } });
    await list(gw);
    gw.sandbox.revoke(gw.sandbox.projectKey);
    await clock.advance(11_000);
    // The refresh behind this answer learns that the key was revoked.
    await list(gw);
    await expect.poll(() => gw.sandbox.seen('project', '/v1/sensors').at(-1)?.status).toBe(401);
    const { sensors } = await list(gw);
    expect(sensors.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'UPSTREAM_UNAUTHORIZED' }]);
  });
});

describe('a client’s own key', () => {
  it('sees the cached list only while upstream accepts it', async () => {
    const clock = new ManualClock();
    const world = mixedWorld();
    await using gw = await startGateway({ clock, sandbox: { world }, env: { AUTH_MODE: 'passthrough' } });
    const headers = { authorization: `Bearer ${gw.sandbox.projectKey}` };
    const ask = () => gw.queryWithErrors('{ sensors { nodes { stationCode } } }', undefined, { headers });
    expect((await ask()).data.sensors.nodes).toHaveLength(2);
    gw.sandbox.revoke(gw.sandbox.projectKey);
    await clock.advance(9_000);
    expect((await ask()).data.sensors.nodes).toHaveLength(2);
    await clock.advance(2_000);
    const { data, errors } = await ask();
    expect(data?.sensors ?? null).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });

  it('that upstream refuses does not take along what the other key can read', async () => {
    await using gw = await startGateway({
      sandbox: { world: mixedWorld() },
      env: { AUTH_MODE: 'passthrough' },
    });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', latencyMs: 100 });
    const headers = { authorization: 'Bearer svc_sk_wrong', 'x-catalogue-key': gw.sandbox.catalogueKey };
    const { data } = await gw.queryWithErrors(document, undefined, { headers });
    expect(data.sensors.nodes).toHaveLength(2);
    expect(data.sensors.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'UNAUTHENTICATED' }]);
  });

  it('never sees what another key read', async () => {
    const world = mixedWorld();
    addSensor(world, 7, { catalogue: null });
    world.maskedProject.sensors = world.project.sensors.splice(2, 1);
    await using gw = await startGateway({ sandbox: { world }, env: { AUTH_MODE: 'passthrough' } });
    const ask = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const { sensors } = await gw.query('{ sensors { nodes { stationCode } } }', undefined, { headers });
      return sensors.nodes.map((node: { stationCode: string }) => node.stationCode);
    };
    const { projectKey, maskedProjectKey } = gw.sandbox;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask(index % 2 ? projectKey : maskedProjectKey)),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer).toEqual(index % 2 ? [0, 1].map(stationCode) : [stationCode(7)]);
    }
  });
});
