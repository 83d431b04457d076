import { describe, expect, it, vi } from 'vitest';
import { aCatalogueEvent, aSensor } from '../../src/sandbox/builders.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket, type RawSocket } from '../support/raw-socket.js';
import { noRedis, startRedis } from '../support/redis.js';
import { addTrigger, earlierMs, issueEvent, polling, quick } from './live-gateway.js';

const start = (env: object = {}, world = emptyWorld()) =>
  startGateway({ env: { ...quick, ...env }, sandbox: { world, rateLimits: false }, isAlone: true });
const subscribe = (query: string) => ({ id: '1', type: 'subscribe', payload: { query } });
const triggerChanges = subscribe('subscription { triggerChanges { kind trigger { id triggerId asOf } } }');
const list = '{ triggers(first: 50) { totalCount nodes { triggerId status asOf } } }';
const at = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();

const idsOf = (data: { triggers: { nodes: { triggerId: string }[] } }) =>
  data.triggers.nodes.map(({ triggerId }) => triggerId);

/** Cached, and the answer cached as a whole. */
async function warm(gw: TestGateway, ...queries: string[]): Promise<void> {
  for (const query of queries) for (let time = 0; time < 3; time++) await gw.query(query);
}

async function delivered(socket: RawSocket, gw: TestGateway, id: number) {
  addTrigger(gw.sandbox, { id, status: 'open' });
  const { trigger } = (await socket.next()).payload.data.triggerChanges;
  expect(trigger.triggerId).toBe(String(id));
  return trigger;
}

describe('what triggerChanges has delivered', () => {
  it('is in every list that is asked for afterwards, cached answers included, at no request', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    for (let id = 1; id <= 3; id++) addTrigger(gw.sandbox, { id, start_time: at(-60_000 * id) });
    socket.send(triggerChanges);
    await polling(gw.sandbox);
    const filtered = '{ triggers(first: 50, filter: { status: OPEN }) { nodes { triggerId } } }';
    for (let id = 11; id <= 15; id++) {
      await warm(gw, list, filtered);
      gw.sandbox.forget();
      const { asOf } = await delivered(socket, gw, id);
      const { triggers } = await gw.query(list);
      // Masking goes by when a record was read: by its own time, not by that of the page that took it in.
      expect(triggers.nodes[0].asOf >= asOf).toBe(true);
      expect(idsOf({ triggers })).toContain(String(id));
      expect(triggers.totalCount).toBe(id - 7);
      expect(idsOf(await gw.query(filtered))).toContain(String(id));
      // Only the revalidation of a list that is older than two seconds asks for it.
      const reads = gw.sandbox.seen('project', '/v1/triggers').filter(({ query }) => query.limit === '51');
      expect(reads.length).toBeLessThanOrEqual(1);
    }
  });

  it('is in lists of one sensor and oldest first, in the look-up, and closed when it was delivered closed', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const { device_id: deviceId } = addTrigger(gw.sandbox, { id: 1, start_time: at(-60_000) });
    socket.send(triggerChanges);
    await polling(gw.sandbox);
    const lists = [
      `{ triggers(first: 50, filter: { deviceId: "${deviceId}" }) { nodes { triggerId } } }`,
      '{ triggers(first: 50, orderBy: START_TIME_ASC) { nodes { triggerId } } }',
      `{ triggers(first: 50, filter: { from: "${at(-120_000)}", to: "${at(600_000)}" }) { nodes { triggerId } } }`,
    ];
    await warm(gw, ...lists);
    const { id } = await delivered(socket, gw, 2);
    for (const one of lists) expect(idsOf(await gw.query(one))).toContain('2');
    const lookUp = `{ trigger(id: "${id}") { status } triggers(first: 1) { nodes { triggerId status } } }`;
    await warm(gw, lookUp);
    Object.assign(gw.sandbox.world.project.triggers[1] ?? {}, { status: 'closed' });
    expect((await socket.next()).payload.data.triggerChanges.kind).toBe('CLOSED');
    expect(await gw.query(lookUp)).toEqual({
      trigger: { status: 'CLOSED' },
      triggers: { nodes: [{ triggerId: '2', status: 'CLOSED' }] },
    });
  });

  it.each(['open', 'closed'] as const)(
    'is looked up at no request with the budget spent, when %s',
    async (status) => {
      await using gw = await start();
      await using socket = await openSocket(gw, { init: {} });
      addTrigger(gw.sandbox, { id: 1, start_time: at(-60_000) });
      socket.send(triggerChanges);
      await polling(gw.sandbox);
      const ids: string[] = [];
      for (const id of [2, 3, 4]) {
        addTrigger(gw.sandbox, {
          id,
          status,
          device_id: `00000000000${id}`,
          start_time: at(0).replace(/.Z$/, '0Z'),
        });
        ids.push((await socket.next()).payload.data.triggerChanges.trigger.id);
      }
      const headers = { 'retry-after': '600' };
      gw.sandbox.faults.add({ source: 'project', times: Number.POSITIVE_INFINITY, status: 429, headers });
      await vi.waitFor(async () => {
        const { errors } = await gw.queryWithErrors('{ project { name } }');
        expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_RATE_LIMITED');
      }, 15_000);
      const seen = gw.sandbox.seen('project').length;
      const answer = await gw.query(
        `query ($ids: [ID!]!, $id: ID!) {
        nodes(ids: $ids) { ... on Trigger { triggerId status } }
        node(id: $id) { ... on Trigger { triggerId } }
        trigger(id: $id) { triggerId }
      }`,
        { ids, id: ids[0] },
      );
      expect(answer).toEqual({
        nodes: ['2', '3', '4'].map((triggerId) => ({ triggerId, status: status.toUpperCase() })),
        node: { triggerId: '2' },
        trigger: { triggerId: '2' },
      });
      expect(gw.sandbox.seen('project')).toHaveLength(seen);
    },
  );

  it('is in the newest while upstream fails; what cannot be known then fails', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    for (let id = 1; id <= 3; id++) addTrigger(gw.sandbox, { id, start_time: at(60_000 * (id - 10)) });
    socket.send(triggerChanges);
    await polling(gw.sandbox);
    const oldest = '{ triggers(first: 1, orderBy: START_TIME_ASC) { nodes { triggerId } } }';
    await warm(gw, list, oldest);
    await delivered(socket, gw, 4);
    gw.sandbox.faults.add({ source: 'project', times: Number.POSITIVE_INFINITY, status: 500 });
    expect(idsOf(await gw.query(list))).toEqual(['4', '3', '2', '1']);
    // Whether upstream had counted it already is not known from a page that does not reach it.
    const { errors } = await gw.queryWithErrors(oldest);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  });
});

describe('what eventChanges has delivered', () => {
  it('is in every list and look-up that is asked for afterwards, lists at no request', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    issueEvent(gw.sandbox, 'before', { agoMs: earlierMs });
    socket.send(subscribe('subscription { eventChanges { kind event { projectEventId magnitude place } } }'));
    await polling(gw.sandbox, '/v1/events');
    const events = '{ events(first: 20) { nodes { projectEventId magnitude place } } }';
    for (const id of ['e1', 'e2', 'e3']) {
      const lookUp = `{ event(by: { projectEventId: "${id}" }) { magnitude } }`;
      await warm(gw, events, lookUp);
      gw.sandbox.world.catalogue.events.push(
        aCatalogueEvent({ id, origin_time: at(-20_000), latitude: 34, longitude: -118, magnitude: 3 }),
      );
      gw.sandbox.forget();
      issueEvent(gw.sandbox, id);
      const { event } = (await socket.next()).payload.data.eventChanges;
      expect(event.projectEventId).toBe(id);
      const listed = (await gw.query(events)).events.nodes.find(
        ({ projectEventId }: { projectEventId: string }) => projectEventId === id,
      );
      // The catalogue's part may have been added since.
      expect(listed).toEqual({ ...event, place: event.place ?? listed?.place });
      expect((await gw.query(lookUp)).event).toEqual({ magnitude: 3 });
      // Only the revalidation of a list that is older than ten seconds asks for it; polls ask for the oldest first.
      const reads = gw.sandbox.seen('project', '/v1/events').filter(({ query }) => query.order === 'desc');
      expect(reads.length).toBeLessThanOrEqual(1);
    }
    await warm(gw, events);
    const event = gw.sandbox.world.project.events.find(({ id }) => id === 'before');
    Object.assign(event ?? {}, { issued_at: at(0), magnitude: 4 });
    expect((await socket.next()).payload.data.eventChanges.kind).toBe('REISSUED');
    expect((await gw.query(events)).events.nodes).toContainEqual(
      expect.objectContaining({ projectEventId: 'before', magnitude: 4 }),
    );
  });

  it('is looked up at no request with the budget spent, merged as delivered', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const fields = 'id projectEventId catalogueEventId magnitude place';
    issueEvent(gw.sandbox, 'before', { agoMs: earlierMs });
    socket.send(subscribe(`subscription { eventChanges { kind event { ${fields} } } }`));
    await polling(gw.sandbox, '/v1/events');
    const [project, both] = ['e1', 'e2'];
    const received = [];
    for (const id of [project, both]) {
      if (id === both)
        gw.sandbox.world.catalogue.events.push(
          aCatalogueEvent({ id, origin_time: at(-20_000), latitude: 34, longitude: -118, magnitude: 3 }),
        );
      issueEvent(gw.sandbox, id as string, { magnitude: id === both ? 3 : 5 });
      received.push((await socket.next()).payload.data.eventChanges.event);
    }
    const headers = { 'retry-after': '600' };
    for (const source of ['project', 'catalogue'] as const)
      gw.sandbox.faults.add({ source, times: Number.POSITIVE_INFINITY, status: 429, headers });
    await vi.waitFor(async () => {
      const { errors } = await gw.queryWithErrors('{ project { name } }');
      expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_RATE_LIMITED');
    }, 15_000);
    const seen = gw.sandbox.seen('project').length + gw.sandbox.seen('catalogue').length;
    const [first, second] = received;
    const answer = await gw.query(
      `query ($ids: [ID!]!, $id: ID!, $own: String!) {
        nodes(ids: $ids) { ... on Event { ${fields} } }
        node(id: $id) { ... on Event { ${fields} } }
        event(by: { projectEventId: $own }) { ${fields} }
      }`,
      { ids: [first.id, second.id], id: second.id, own: project },
    );
    expect(answer).toEqual({ nodes: received, node: second, event: first });
    expect(gw.sandbox.seen('project').length + gw.sandbox.seen('catalogue').length).toBe(seen);
  });

  it('is in a list while upstream fails', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('subscription { eventChanges { event { projectEventId } } }'));
    await polling(gw.sandbox, '/v1/events');
    const events = '{ events(first: 20) { nodes { projectEventId } unavailableSources { source } } }';
    await warm(gw, events);
    issueEvent(gw.sandbox, 'e1');
    await socket.next();
    gw.sandbox.faults.add({ source: 'project', times: Number.POSITIVE_INFINITY, status: 500 });
    expect((await gw.query(events)).events).toEqual({
      nodes: [{ projectEventId: 'e1' }],
      unavailableSources: [],
    });
  });
});

describe('where the server that answers next is behind the one that answered the feed', () => {
  const afresh = { headers: { 'cache-control': 'no-cache' } };

  it('what was delivered is in lists that are read anew', async () => {
    await using gw = await start();
    await using triggers = await openSocket(gw, { init: {} });
    await using events = await openSocket(gw, { init: {} });
    const { project, catalogue } = gw.sandbox.world;
    issueEvent(gw.sandbox, 'before', { agoMs: earlierMs });
    const own = addTrigger(gw.sandbox, { id: 1, status: 'open', start_time: at(-earlierMs) });
    triggers.send(triggerChanges);
    events.send(subscribe('subscription { eventChanges { event { catalogueEventId } } }'));
    await polling(gw.sandbox);
    await polling(gw.sandbox, '/v1/events');
    catalogue.events.push(
      aCatalogueEvent({ id: 'c1', origin_time: at(-20_000), latitude: 34, longitude: -118 }),
    );
    issueEvent(gw.sandbox, 'e1');
    expect((await events.next()).payload.data.eventChanges.event).toEqual({ catalogueEventId: 'c1' });
    await delivered(triggers, gw, 2);
    own.status = 'closed';
    expect((await triggers.next()).payload.data.triggerChanges.kind).toBe('CLOSED');

    own.status = 'open';
    project.triggers.pop();
    project.events.pop();
    catalogue.events.pop();
    const query = `{
      triggers(first: 50) { totalCount nodes { triggerId status } }
      events(first: 20) { nodes { projectEventId catalogueEventId } }
    }`;
    expect(await gw.query(query, {}, afresh)).toEqual({
      triggers: {
        totalCount: 2,
        nodes: [
          { triggerId: '2', status: 'OPEN' },
          { triggerId: '1', status: 'CLOSED' },
        ],
      },
      events: {
        nodes: [
          { projectEventId: 'e1', catalogueEventId: 'c1' },
          { projectEventId: 'before', catalogueEventId: null },
        ],
      },
    });
  });

  it('later changes are not held back by what was delivered before', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('subscription { eventChanges { event { magnitude } } }'));
    await polling(gw.sandbox, '/v1/events');
    issueEvent(gw.sandbox, 'e1', { magnitude: 3 });
    await socket.next();
    Object.assign(gw.sandbox.world.project.events[0] ?? {}, { issued_at: at(0), magnitude: 4 });
    const { events } = await gw.query('{ events(first: 20) { nodes { magnitude } } }', {}, afresh);
    expect(events.nodes).toEqual([{ magnitude: 4 }]);
  });
});

describe('what sensorStatusChanges has delivered', () => {
  it('is in every list and look-up that is asked for afterwards, at no request', async () => {
    const world = emptyWorld();
    const sensor = aSensor({
      device_id: '001A2B3C4D5E',
      station: 'TEST',
      status: 'offline',
      last_seen: at(0),
    });
    world.project.sensors.push(sensor);
    await using gw = await start({}, world);
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('subscription { sensorStatusChanges { status } }'));
    await polling(gw.sandbox, '/v1/sensors');
    const query = `{
      sensors(first: 50) { nodes { status } }
      byDevice: sensor(by: { deviceId: "001A2B3C4D5E" }) { status }
      byStation: sensor(by: { stationCode: "TEST" }) { status }
    }`;
    for (const status of ['online', 'offline', 'online'] as const) {
      await warm(gw, query);
      Object.assign(sensor, { status, last_seen: at(0) });
      expect((await socket.next()).payload.data.sensorStatusChanges.status).toBe(status.toUpperCase());
      const expected = { status: status.toUpperCase() };
      expect(await gw.query(query)).toEqual({
        sensors: { nodes: [expected] },
        byDevice: expected,
        byStation: expected,
      });
    }
    expect(gw.sandbox.seen('project', /^\/v1\/sensors\/./)).toHaveLength(0);
  });
});

describe.skipIf(noRedis)(`two instances on one Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
  it('each answer with what they have delivered, whichever polled', async () => {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false, rateLimits: false, world: emptyWorld() });
    const startOne = () =>
      startGateway({ behind: sandbox, env: { ...quick, REDIS_URL: redis.url }, isAlone: true });
    const gateways = [await startOne(), await startOne()];
    const sockets = await Promise.all(gateways.map((gw) => openSocket(gw, { init: {} })));
    for (const socket of sockets) socket.send(triggerChanges);
    for (const gw of gateways) {
      await vi.waitFor(async () => {
        const { gateway } = await gw.query('{ gateway { feeds { name lagS } } }');
        expect(gateway.feeds[0]).toEqual({ name: 'triggerChanges', lagS: expect.any(Number) });
      }, 20_000);
    }
    const asc = '{ triggers(first: 50, orderBy: START_TIME_ASC) { nodes { triggerId } } }';
    for (let id = 1; id <= 5; id++) {
      for (const gw of gateways) await warm(gw, list, asc);
      addTrigger(sandbox, { id });
      await Promise.all(
        sockets.map(async (socket, index) => {
          const { trigger } = (await socket.next()).payload.data.triggerChanges;
          expect(trigger.triggerId).toBe(String(id));
          const gw = gateways[index] as TestGateway;
          for (const query of [list, asc]) expect(idsOf(await gw.query(query))).toContain(String(id));
          const { node } = await gw.query(`{ node(id: "${trigger.id}") { ... on Trigger { triggerId } } }`);
          expect(node).toEqual({ triggerId: String(id) });
        }),
      );
    }
    // Pages of one moment, as look-ups ask for them.
    const lookUps = sandbox
      .seen('project', '/v1/triggers')
      .filter(({ query: { from, to } }) => from && from === to);
    expect(lookUps).toEqual([]);
    for (const socket of sockets) socket.socket.terminate();
    for (const gw of gateways) await gw.close();
  }, 60_000);
});
