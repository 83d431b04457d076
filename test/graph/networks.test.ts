import { describe, expect, it } from 'vitest';
import { aNetwork } from '../../src/sandbox/builders.js';
import { startGateway } from '../support/gateway.js';
import { addSensor, stationCode, worldOf } from './sensors-world.js';

const globalId = (networkId: string) => Buffer.from(`Network:${networkId}`).toString('base64url');

describe('a network', () => {
  it('has what the catalogue says, its code from one of its sensors, and its statistics', async () => {
    const world = worldOf(4, ['net_1', 'net_2']);
    world.catalogue.stats.net_2 = {
      network_id: 'net_2',
      ...{ total_sensors: 2, online_sensors: 0, offline_sensors: 2, events_30d: 0, data_completeness: 0 },
    };
    await using gw = await startGateway({ sandbox: { world } });
    const { network } = await gw.query(`{ network(networkId: "net_2") {
      id networkId code name description organizationId sensorCount createdAt
      statistics { totalSensors onlineSensors offlineSensors events30d dataCompleteness }
      sensors { totalCount nodes { stationCode } }
    } }`);
    expect(network).toEqual({
      id: globalId('net_2'),
      networkId: 'net_2',
      code: 'N2',
      name: 'Name of net_2',
      description: 'Sensors of the tests',
      organizationId: 'org_1',
      sensorCount: 1,
      createdAt: '2024-01-01T00:00:00Z',
      statistics: { totalSensors: 2, onlineSensors: 0, offlineSensors: 2, events30d: 0, dataCompleteness: 0 },
      sensors: { totalCount: 2, nodes: [{ stationCode: stationCode(1) }, { stationCode: stationCode(3) }] },
    });
  });

  it('that does not exist is null', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    const query = `{ network(networkId: "net_9") { name } node(id: "${globalId('net_9')}") { id } }`;
    expect(await gw.query(query)).toEqual({ network: null, node: null });
  });

  it('is a node, and the same by look-up, list and sensor', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    const answer = await gw.query(`{
      node(id: "${globalId('net_1')}") { id ... on Network { name } }
      network(networkId: "net_1") { id name }
      networks { id name }
      sensors { nodes { network { id name } } }
    }`);
    const network = { id: globalId('net_1'), name: 'Name of net_1' };
    expect(answer).toEqual({
      node: network,
      network,
      networks: [network],
      sensors: { nodes: [{ network }] },
    });
    expect(gw.sandbox.seen('catalogue', /^\/v1\/networks/)).toHaveLength(1);
  });

  it('of a sensor that the list does not have is read by itself', async () => {
    const world = worldOf(2, ['net_1', 'net_2']);
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({
      source: 'catalogue',
      path: '/v1/networks',
      rewrite: (body) => {
        const answer = body as { data: unknown[] };
        return { ...answer, data: answer.data.slice(0, 1) };
      },
    });
    const { sensors } = await gw.query('{ sensors { nodes { network { name } } } }');
    expect(sensors.nodes).toEqual([
      { network: { name: 'Name of net_1' } },
      { network: { name: 'Name of net_2' } },
    ]);
  });

  it('whose sensors have no code has none', async () => {
    const world = worldOf(1);
    world.catalogue.networks.push(aNetwork({ id: 'net_empty' }), aNetwork({ id: 'net_silent' }));
    addSensor(world, 1, { project: null, catalogue: { network_id: 'net_silent', network_code: null } });
    await using gw = await startGateway({ sandbox: { world } });
    const { networks } = await gw.query('{ networks { networkId code } }');
    expect(networks).toEqual([
      { networkId: 'net_1', code: 'N1' },
      { networkId: 'net_empty', code: null },
      { networkId: 'net_silent', code: null },
    ]);
  });

  it('lists its own sensors whatever network its filter names', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(4, ['net_1', 'net_2']) } });
    const { network } = await gw.query(`{ network(networkId: "net_1") {
      own: sensors(filter: { networkId: "net_1" }) { totalCount }
      other: sensors(filter: { networkId: "net_2" }) { totalCount }
      page: sensors(first: 1) { nodes { stationCode } pageInfo { hasNextPage endCursor } }
    } }`);
    expect(network).toMatchObject({ own: { totalCount: 2 }, other: { totalCount: 0 } });
    expect(network.page.pageInfo.hasNextPage).toBe(true);
    const { data, errors } = await gw.queryWithErrors(`{ network(networkId: "net_1") {
      empty: sensors(filter: { networkId: "net_2" }, after: "${network.page.pageInfo.endCursor}") { totalCount }
      wrong: sensors(filter: { networkId: "net_2" }, after: "garbage") { totalCount }
    } }`);
    expect(data.network).toMatchObject({ empty: { totalCount: 0 }, wrong: null });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'CURSOR_INVALID', argument: 'after' });
  });
});

describe('where the catalogue cannot answer', () => {
  it('networks are null with its error, and the rest is answered', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    gw.sandbox.faults.add({ source: 'catalogue', path: /^\/v1\/networks/, status: 403, times: 100 });
    const { data, errors } = await gw.queryWithErrors(
      '{ networks { name } project { name } sensors { nodes { network { networkId name } } } }',
    );
    expect(data.networks).toBeNull();
    expect(data.project).toEqual({ name: 'Sandbox network' });
    expect(data.sensors.nodes).toEqual([{ network: { networkId: 'net_1', name: null } }]);
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort()).toEqual([
      ['networks', 'FORBIDDEN'],
      ['sensors.nodes.0.network.name', 'FORBIDDEN'],
    ]);
  });

  it('one failing part of a network leaves the others', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/networks/net_1/stats', status: 500, times: 100 });
    const { data, errors } = await gw.queryWithErrors(
      '{ networks { name code statistics { totalSensors } } }',
    );
    expect(data.networks).toEqual([{ name: 'Name of net_1', code: 'N1', statistics: null }]);
    expect(errors?.map(({ path }) => path)).toEqual([['networks', 0, 'statistics']]);
  });

  it('a count that is none is an error at its own path', async () => {
    const world = worldOf(1);
    const counts = { total_sensors: 1.5, online_sensors: 2 ** 31, offline_sensors: null, events_30d: -1 };
    world.catalogue.stats.net_1 = { network_id: 'net_1', ...counts, data_completeness: 0.5 };
    await using gw = await startGateway({ sandbox: { world } });
    const { data, errors } = await gw.queryWithErrors(
      '{ networks { statistics { totalSensors onlineSensors offlineSensors events30d dataCompleteness } } }',
    );
    const [{ statistics }] = data.networks;
    expect(Object.values(statistics)).toEqual([null, null, null, -1, 0.5]);
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['totalSensors', 'UPSTREAM_UNAVAILABLE'],
      ['onlineSensors', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('because it is not configured, they are null and say so', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) }, catalogue: false });
    const { data, errors } = await gw.queryWithErrors(
      '{ networks { name } network(networkId: "net_1") { name } }',
    );
    expect(data).toEqual({ networks: null, network: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_CONFIGURED', 'NOT_CONFIGURED']);
  });
});
