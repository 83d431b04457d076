import { describe, expect, it } from 'vitest';
import { livingWorld } from '../../src/sandbox/simulation/living-world.js';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

describe('a Device ID that is none', () => {
  it.each([
    ['{ sensor(by: { deviceId: "ANZA" }) { id } }', 'by.deviceId'],
    ['{ sensor(by: { deviceId: "" }) { id } }', 'by.deviceId'],
    ['{ sensor(by: { deviceId: "001A2B3C4D5G" }) { id } }', 'by.deviceId'],
    ['{ sensor(by: { deviceId: "001A2B3C4D5E6F" }) { id } }', 'by.deviceId'],
    ['{ triggers(filter: { deviceId: "nothex" }) { nodes { id } } }', 'filter.deviceId'],
    [
      'subscription { triggerChanges(filter: { deviceIds: ["001A2B3C4D5E", "ANZA"] }) { cursor } }',
      'filter.deviceIds',
    ],
    ['subscription { sensorStatusChanges(filter: { deviceIds: [""] }) { status } }', 'filter.deviceIds'],
  ])('is wrong input before anything is asked upstream: %s', async (query, argument) => {
    await using gateway = await startGateway();
    await using socket = await openSocket(gateway, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query } });
    const answer = await socket.next();
    const [error] = answer.type === 'error' ? answer.payload : answer.payload.errors;
    expect(error.extensions).toEqual({ code: 'BAD_USER_INPUT', argument });
    expect(gateway.sandbox.requests).toEqual([]);
  });
});

describe('a value that graphql itself refuses', () => {
  it.each([
    ['a bad date', '{ events(filter: { from: "yesterday" }) { nodes { id } } }', undefined, 'filter.from'],
    [
      'a time without a zone',
      '{ events(filter: { from: "2026-03-08T10:00:00" }) { nodes { id } } }',
      undefined,
      'filter.from',
    ],
    ['text for a number', '{ events(first: "ten") { nodes { id } } }', undefined, 'first'],
    ['an unknown enum value', '{ events(orderBy: BIGGEST) { nodes { id } } }', undefined, 'orderBy'],
    ['two of one', '{ sensor(by: { deviceId: "A", catalogueId: "b" }) { id } }', undefined, 'by'],
    [
      'a bad date in a variable',
      'query ($from: DateTime) { events(filter: { from: $from }) { nodes { id } } }',
      { from: '2026-02-30' },
      'filter.from',
    ],
    [
      'a bad date inside a variable',
      'query ($filter: EventFilter) { events(filter: $filter) { nodes { id } } }',
      { filter: { from: 'at "filter.to"; ' } },
      'filter.from',
    ],
    [
      'a wrong element of a list in a variable',
      'query ($filter: SensorFilter) { sensors(filter: $filter) { nodes { id } } }',
      { filter: { stationCodes: ['ANZA', 7] } },
      'filter.stationCodes',
    ],
    ['a missing variable', 'query ($id: ID!) { trigger(id: $id) { id } }', {}, 'id'],
  ])('%s is wrong input, and its argument is named', async (_, query, variables, argument) => {
    await using gateway = await startGateway();
    const { errors } = await gateway.queryWithErrors(query, variables);
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT', argument }]);
    expect(gateway.sandbox.requests).toEqual([]);
  });
});

describe('null for an argument that may be left out', () => {
  it.each([
    ['orderBy', 'TriggerOrder', 'triggers(first: 3, orderBy: $v) { nodes { id } }'],
    ['orderBy', 'EventOrder', 'events(first: 3, orderBy: $v) { nodes { id } }'],
    ['unit', 'AccelerationUnit', 'triggers(first: 3) { nodes { pgaHorizontal(unit: $v) } }'],
    ['unit', 'VelocityUnit', 'triggers(first: 3) { nodes { pgvEhz(unit: $v) } }'],
  ])('is named where there is a default: %s of %s', async (argument, type, selection) => {
    const sandbox = { world: livingWorld({ seed: 1, startMs: Date.now() }) };
    await using gateway = await startGateway({ sandbox });
    const left = await gateway.queryWithErrors(`query ($v: ${type}) { ${selection} }`);
    expect(left.errors).toBeUndefined();
    const { errors } = await gateway.queryWithErrors(`query ($v: ${type}) { ${selection} }`, { v: null });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors?.[0]?.message).toContain(`"${argument}"`);
    const literal = await gateway.queryWithErrors(`{ ${selection.replace('$v', 'null')} }`);
    expect(literal.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', argument } });
  });

  it.each([
    ['first', 'Int', (value: string) => `sensors(first: ${value}) { nodes { id } }`],
    ['after', 'String', (value: string) => `triggers(first: 3, after: ${value}) { nodes { id } }`],
    ['filter', 'EventFilter', (value: string) => `events(first: 3, filter: ${value}) { nodes { id } }`],
    ['filter', 'SensorFilter', (value: string) => `sensors(first: 3, filter: ${value}) { nodes { id } }`],
    ['filter', 'TriggerFilter', (value: string) => `triggers(first: 3, filter: ${value}) { nodes { id } }`],
    [
      'from',
      'DateTime',
      (value: string) =>
        `sensors(first: 1) { nodes { healthReports(first: 3, from: ${value}) { nodes { timestamp } } } }`,
    ],
  ])('is as if it were left out: %s', async (_, type, selection) => {
    await using gateway = await startGateway();
    const literal = await gateway.queryWithErrors(`{ ${selection('null')} }`);
    expect(literal.errors).toBeUndefined();
    const variable = await gateway.queryWithErrors(`query ($v: ${type}) { ${selection('$v')} }`, { v: null });
    expect(variable.errors).toBeUndefined();
  });
});
