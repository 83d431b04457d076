import { buildSchema } from 'graphql';
import { expect, it } from 'vitest';
import { anEvent } from '../../src/sandbox/builders.js';
import { startGateway } from '../support/gateway.js';
import { deviceId, stationCode, worldOf } from './sensors-world.js';

const env = { FEDERATION: 'true' };
const globalId = (typename: string, key: string) => Buffer.from(`${typename}:${key}`).toString('base64url');
const query = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Sensor { stationCode }
    ... on Event { projectEventId }
    ... on Network { networkId }
    ... on Project { name }
  }
}`;

it('the graph has no fields for a router unless FEDERATION is true', async () => {
  await using gw = await startGateway();
  const { errors } = await gw.queryWithErrors('{ _service { sdl } }');
  expect(errors?.[0]?.message).toContain('Cannot query field "_service"');
});

it('the SDL of the subgraph is valid beside the definitions of the directives that it imports', async () => {
  await using gw = await startGateway({ env });
  const { sdl } = (await gw.query('{ _service { sdl } }'))._service;
  const directives = `
    scalar link__Import
    directive @link(url: String!, import: [link__Import]) repeatable on SCHEMA
    directive @key(fields: String!) repeatable on OBJECT
    directive @shareable on OBJECT`;
  const schema = buildSchema(`${sdl}${directives}`);
  expect(schema.getType('Sensor')?.extensionASTNodes).toHaveLength(1);
  expect(sdl).toContain('extend type Sensor @key(fields: "id") @key(fields: "deviceId")');
  expect(sdl).not.toContain('_entities');
});

it('an entity is found by each of its keys', async () => {
  const world = worldOf(3);
  world.project.events.push(anEvent({ id: 'ev_1' }));
  await using gw = await startGateway({ sandbox: { world }, env });
  const { _entities } = await gw.query(query, {
    representations: [
      { __typename: 'Sensor', deviceId: deviceId(1) },
      { __typename: 'Sensor', id: globalId('Sensor', deviceId(2)) },
      { __typename: 'Sensor', deviceId: 'FFFFFFFFFFFF' },
      { __typename: 'Event', projectEventId: 'ev_1' },
      { __typename: 'Network', networkId: 'net_1' },
      { __typename: 'Project', id: globalId('Project', world.project.project.id) },
    ],
  });
  expect(_entities).toEqual([
    { __typename: 'Sensor', stationCode: stationCode(1) },
    { __typename: 'Sensor', stationCode: stationCode(2) },
    null,
    { __typename: 'Event', projectEventId: 'ev_1' },
    { __typename: 'Network', networkId: 'net_1' },
    { __typename: 'Project', name: world.project.project.name },
  ]);
});

it('a hundred sensors by Device ID are read together, and estimated so', async () => {
  await using gw = await startGateway({ sandbox: { world: worldOf(100) }, env: { ...env, MAX_COST: '4' } });
  const representations = Array.from({ length: 100 }, (_, n) => ({
    __typename: 'Sensor',
    deviceId: deviceId(n),
  }));
  const { _entities } = await gw.query(query, { representations });
  expect(_entities.map((sensor: { stationCode: string }) => sensor.stationCode)).toEqual(
    representations.map((_, n) => stationCode(n)),
  );
  const seen = [gw.sandbox.seen('project', /sensors/), gw.sandbox.seen('catalogue', /sensors/)].flat();
  expect(seen.length).toBeLessThanOrEqual(4);
});

it.each([
  ['a text', 'Sensor', 'needs objects with a `__typename`'],
  [
    'null as a key',
    { __typename: 'Sensor', deviceId: null },
    'has a Sensor without a key, which is id or deviceId',
  ],
  ['another type', { __typename: 'Origin', id: 'x' }, 'names a type that is no entity'],
  ['a name of every object', { __typename: 'constructor', id: 'x' }, 'names a type that is no entity'],
  ['an id of another type', { __typename: 'Sensor', id: globalId('Event', 'x') }, 'is the id of a Event'],
  ['a wrong Device ID', { __typename: 'Sensor', deviceId: 'x' }, 'deviceId'],
])('%s costs its own place alone', async (_, wrong, message) => {
  await using gw = await startGateway({ sandbox: { world: worldOf(2) }, env });
  const good = { __typename: 'Sensor', deviceId: deviceId(1) };
  const { data, errors } = await gw.queryWithErrors(query, { representations: [good, wrong, good] });
  const found = { __typename: 'Sensor', stationCode: stationCode(1) };
  expect(data._entities).toEqual([found, null, found]);
  expect(errors).toEqual([
    expect.objectContaining({
      path: ['_entities', 1],
      message: expect.stringContaining(message),
      extensions: { code: 'BAD_USER_INPUT', argument: 'representations' },
    }),
  ]);
});

it('more than 500 representations are refused by name', async () => {
  await using gw = await startGateway({ env });
  const representations = Array(501).fill({ __typename: 'Sensor', deviceId: deviceId(1) });
  const { errors } = await gw.queryWithErrors(query, { representations });
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('at most 500'),
    extensions: { code: 'BAD_USER_INPUT', argument: 'representations' },
  });
});

it('different events by an identifier are estimated each', async () => {
  await using gw = await startGateway({ env });
  const equal = Array(500).fill({ __typename: 'Event', projectEventId: 'x' });
  expect((await gw.query(query, { representations: equal }))._entities).toEqual(Array(500).fill(null));
  const representations = Array.from({ length: 51 }, (_, n) => ({
    __typename: 'Event',
    projectEventId: `x${n}`,
  }));
  const { errors } = await gw.queryWithErrors(query, { representations });
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('204 upstream requests'),
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  });
});
