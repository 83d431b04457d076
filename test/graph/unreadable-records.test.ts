import { describe, expect, it } from 'vitest';
import { anEvent, aTrigger } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const unavailable = 'unavailableSources { source code message }';
const trigger = '{ nodes { triggerId } unavailableSources { source code message } }';

/** Makes the first element of each list at the path unreadable. */
function breakFirst(gw: TestGateway, source: 'project' | 'catalogue', path: string | RegExp, broken: object) {
  gw.sandbox.faults.add({
    source,
    path,
    times: 100,
    rewrite: (body) => {
      const { data, ...rest } = body as { data: object[] };
      return { ...rest, data: data.map((element, at) => (at === 0 ? { ...element, ...broken } : element)) };
    },
  });
}

const said = (source: string) => [
  {
    source,
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/sent 1 record that cannot be read/),
  },
];

describe('a list that lost a record because it cannot be read', () => {
  it.each([
    [
      'triggers',
      'project',
      '/v1/triggers',
      { start_time: 'noon' },
      `{ list: triggers(first: 5) ${trigger} }`,
    ],
    [
      'triggers with a filter of the gateway',
      'project',
      '/v1/triggers',
      { start_time: 'noon' },
      `{ list: triggers(first: 5, filter: { status: CLOSED }) ${trigger} }`,
    ],
    [
      'events of the project',
      'project',
      '/v1/events',
      { issued_at: {}, origin: { origin_time: 'noon' } },
      `{ list: events(first: 5) { nodes { id } ${unavailable} } }`,
    ],
    [
      'events of the catalogue',
      'catalogue',
      '/v1/events',
      { origin_time: 'noon' },
      `{ list: events(first: 5) { nodes { id } ${unavailable} } }`,
    ],
    [
      'sensors of the project',
      'project',
      '/v1/sensors',
      { device_id: null },
      `{ list: sensors { nodes { id } totalCount ${unavailable} } }`,
    ],
    [
      'sensors of the catalogue',
      'catalogue',
      '/v1/sensors',
      { id: null },
      `{ list: sensors { nodes { id } totalCount ${unavailable} } }`,
    ],
  ] as const)('says so: %s', async (_, source, path, broken, document) => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    breakFirst(gw, source, path, broken);
    const { list } = await gw.query(document);
    expect(list.nodes.length).toBeGreaterThan(0);
    expect(list.unavailableSources).toEqual(said(source.toUpperCase()));
    if ('totalCount' in list) expect(list.totalCount).toBeNull();
  });

  it('says so: health reports, and triggers of one sensor', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    breakFirst(gw, 'project', /soh$/, { timestamp: 'noon' });
    breakFirst(gw, 'project', '/v1/triggers', { start_time: 'noon' });
    const { sensors } = await gw.query(`{
      sensors(first: 1, filter: { source: PROJECT }) {
        nodes { healthReports { nodes { timestamp } ${unavailable} } triggers(first: 1) ${trigger} }
      }
    }`);
    const [sensor] = sensors.nodes;
    expect(sensor.healthReports.nodes.length).toBeGreaterThan(0);
    expect(sensor.healthReports.unavailableSources).toEqual(said('PROJECT'));
    expect(sensor.triggers.unavailableSources).toEqual(said('PROJECT'));
  });

  it('and names no interface where all could be read', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const { triggers, events, sensors } = await gw.query(
      `{ triggers(first: 5) ${trigger} events(first: 5) { ${unavailable} } sensors { ${unavailable} } }`,
    );
    for (const list of [triggers, events, sensors]) expect(list.unavailableSources).toEqual([]);
  });
});

describe('a look-up of what exists but cannot be read', () => {
  it('never says that a trigger does not exist', async () => {
    const world = emptyWorld();
    const start_time = '2026-01-02T03:04:05.000Z';
    for (const id of [1, 2]) world.project.triggers.push(aTrigger({ id, start_time }));
    await using gw = await startGateway({ sandbox: { world } });
    const { triggers } = await gw.query('{ triggers(first: 2) { nodes { id triggerId } } }');
    const id = triggers.nodes.find((node: { triggerId: string }) => node.triggerId === '1').id;
    let isBroken = true;
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/triggers',
      times: 100,
      rewrite: (body) => {
        const { data, ...rest } = body as { data: { id: number }[] };
        return {
          ...rest,
          data: data.map((row) => (row.id === 1 && isBroken ? { ...row, start_time: 'noon' } : row)),
        };
      },
    });
    const query = `query ($id: ID!) { trigger(id: $id) { triggerId } node(id: $id) { id } }`;
    await using another = await startGateway({ behind: gw.sandbox });
    const { data, errors } = await another.queryWithErrors(query, { id });
    expect(data).toEqual({ trigger: null, node: null });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['trigger'], 'UPSTREAM_UNAVAILABLE'],
      [['node'], 'UPSTREAM_UNAVAILABLE'],
    ]);
    isBroken = false;
    await using third = await startGateway({ behind: gw.sandbox });
    expect((await third.query(query, { id })).trigger).toEqual({ triggerId: '1' });
  });

  it.each([
    ['has none yet', null, 'No interface has located this event yet'],
    [
      'has one that cannot be read',
      { latitude: 'north' },
      /sent a location of this event that cannot be read/,
    ],
  ])('says why an event has no location: it %s', async (_, origin, message) => {
    const world = emptyWorld();
    world.project.events.push(anEvent({ id: 'e1' }));
    await using gw = await startGateway({ sandbox: { world } });
    const broken = (element: { origin?: object }) => ({
      ...element,
      origin: origin && { ...element.origin, ...origin },
    });
    gw.sandbox.faults.add({
      source: 'project',
      path: /^\/v1\/events/,
      times: 100,
      rewrite: (body) => {
        const { data, ...rest } = body as { data?: object[]; origins?: object[] };
        if (!data)
          return {
            id: 'e1',
            issued_at: '2026-01-02T03:04:05Z',
            ...broken({ origin: { origin_time: 1.7e9 } }),
          };
        return { ...rest, data: data.map(broken) };
      },
    });
    const { data, errors } = await gw.queryWithErrors(
      '{ event(by: { projectEventId: "e1" }) { originTime } }',
    );
    expect(data).toEqual({ event: null });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['event', 'originTime'], 'UPSTREAM_UNAVAILABLE'],
    ]);
    expect(errors?.[0]?.message).toMatch(message);
  });
});
