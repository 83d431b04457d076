import { describe, expect, it, vi } from 'vitest';
import { aSensor } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { addSensor, deviceId, stationCode } from '../graph/sensors-world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type Message, openSocket, type RawSocket } from '../support/raw-socket.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const subscribe = (id: string, query: string, variables: object = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
});
const changes = (fields: string, args = '') => `subscription { triggerChanges${args} { ${fields} } }`;

const start = (env: object = {}, sandbox: object = {}, more: { readonly isAlone?: boolean } = {}) =>
  startGateway({
    ...more,
    env: { ...quick, ...env },
    sandbox: { rateLimits: false, world: emptyWorld(), ...sandbox },
  });

async function take(socket: RawSocket, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  while (messages.length < count) messages.push(await socket.next());
  return messages;
}

const feedOf = async (gw: TestGateway) => {
  const { gateway } = await gw.query('{ gateway { feeds { name active subscriberCount } } }');
  return gateway.feeds[0];
};

describe('a subscription', () => {
  it('gives an error of its own alone, and goes on', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const fields = 'trigger { triggerId pgaHorizontal stationCode }';
    socket.send(subscribe('a', changes(fields, '(filter: { stationCodes: ["A"] })')));
    socket.send(subscribe('b', changes(fields, '(filter: { stationCodes: ["B"] })')));
    await polling(gw.sandbox);
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/triggers',
      times: 1_000,
      rewrite: (body) => {
        const { data } = body as { data: { station: string; pga_horizontal_mg: unknown }[] };
        for (const trigger of data) if (trigger.station === 'A') trigger.pga_horizontal_mg = 'a lot';
        return body;
      },
    });
    addTrigger(gw.sandbox, { id: 1, station: 'A' });
    addTrigger(gw.sandbox, { id: 2, station: 'B' });
    const [first, second] = (await take(socket, 2)).sort((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1));
    expect(first?.payload.errors).toMatchObject([
      { path: ['triggerChanges', 'trigger', 'pgaHorizontal'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
    ]);
    expect(first?.payload.data.triggerChanges.trigger).toMatchObject({ triggerId: '1', pgaHorizontal: null });
    expect(second).toMatchObject({
      id: 'b',
      payload: { data: { triggerChanges: { trigger: { triggerId: '2' } } } },
    });
    addTrigger(gw.sandbox, { id: 3, station: 'A' });
    expect((await socket.next()).payload.data.triggerChanges.trigger.triggerId).toBe('3');
  });

  it('with a wrong cursor ends with its error, and the socket goes on', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    for (const id of ['good', 'wrong']) {
      const variables = { after: id === 'good' ? null : 'not-a-cursor' };
      socket.send(
        subscribe(id, 'subscription ($after: String) { triggerChanges(after: $after) { kind } }', variables),
      );
    }
    const refused = await socket.next();
    expect(refused).toMatchObject({ id: 'wrong', type: 'next' });
    expect(refused.payload.errors[0]).toMatchObject({
      path: ['triggerChanges'],
      extensions: { code: 'CURSOR_INVALID', argument: 'after' },
    });
    expect(await socket.next()).toEqual({ id: 'wrong', type: 'complete' });
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1 });
    expect((await socket.next()).id).toBe('good');
  });

  it('with a cursor of another key is refused in passthrough', async () => {
    const world = emptyWorld();
    await using gw = await start({ AUTH_MODE: 'passthrough' }, { world });
    const { projectKey, maskedProjectKey } = gw.sandbox;
    const cursors = await Promise.all(
      [projectKey, maskedProjectKey].map(async (key) => {
        const data = await gw.query(
          '{ triggers { changesCursor } }',
          {},
          { headers: { authorization: `Bearer ${key}` } },
        );
        return data.triggers.changesCursor as string;
      }),
    );
    await using socket = await openSocket(gw, { init: { authorization: `Bearer ${projectKey}` } });
    socket.send(
      subscribe('1', 'subscription ($after: String) { triggerChanges(after: $after) { kind } }', {
        after: cursors[1],
      }),
    );
    expect((await socket.next()).payload.errors[0].extensions.code).toBe('CURSOR_INVALID');
  });

  it('says of its sensor what a query would say now, not what it was when it began', async () => {
    const world = emptyWorld();
    const sensor = aSensor({ firmware: 'old', last_seen: new Date().toISOString() });
    world.project.sensors.push(sensor);
    // A query at another process can have read later than the one that delivers.
    await using gw = await start({}, { world }, { isAlone: true });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', changes('trigger { sensor { firmwareVersion } }')));
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1 });
    const versionIn = ({ payload }: Message) => payload.data.triggerChanges.trigger.sensor.firmwareVersion;
    expect(versionIn(await socket.next())).toBe('old');
    sensor.firmware = 'new';
    // As soon as a query says so.
    await vi.waitFor(async () => {
      const { sensor: now } = await gw.query('{ sensor(by: { stationCode: "TEST" }) { firmwareVersion } }');
      expect(now.firmwareVersion).toBe('new');
    }, 30_000);
    addTrigger(gw.sandbox, { id: 2 });
    expect(versionIn(await socket.next())).toBe('new');
  }, 60_000);

  it('shares one execution with all that are alike, wherever they resume and however they are written', async () => {
    const world = emptyWorld();
    world.project.sensors.push(aSensor());
    await using gw = await start({}, { world });
    await using socket = await openSocket(gw, { init: {} });
    const texts = [
      'subscription { triggerChanges { observedAt trigger { asOf sensor { asOf } } } }',
      'subscription   {triggerChanges{observedAt,trigger{asOf sensor{asOf}}}}',
      'subscription ($after: String) { triggerChanges(after: $after) { observedAt trigger { asOf sensor { asOf } } } }',
    ];
    for (let i = 0; i < 60; i++) socket.send(subscribe(String(i), texts[i % 3] ?? ''));
    await polling(gw.sandbox);
    gw.sandbox.forget();
    addTrigger(gw.sandbox, { id: 1 });
    const messages = await take(socket, 60);
    expect(new Set(messages.map(({ payload }) => JSON.stringify(payload))).size).toBe(1);
    expect(gw.sandbox.seen('project', /sensors/)).toHaveLength(1);
  });

  it('has its own fields and errors, whatever others select of the same change', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const texts = [
      changes('kind trigger { triggerId }'),
      changes('trigger { stationCode id: triggerId } kind'),
      'subscription { changed: triggerChanges { trigger { ...Peak triggerId } } } fragment Peak on Trigger { pgaHorizontal }',
      changes('trigger { gal: pgaHorizontal(unit: GAL) peak: pgaHorizontal }'),
    ];
    for (const [at, text] of texts.entries()) socket.send(subscribe(String(at), text));
    await polling(gw.sandbox);
    const next = async () => {
      const messages = (await take(socket, texts.length)).sort((a, b) => Number(a.id) - Number(b.id));
      return messages.map(({ payload }) => payload);
    };
    addTrigger(gw.sandbox, { id: 1, station: 'A', pga_horizontal_mg: 2 });
    expect((await next()).map((payload) => JSON.stringify(payload))).toEqual([
      '{"data":{"triggerChanges":{"kind":"CLOSED","trigger":{"triggerId":"1"}}}}',
      '{"data":{"triggerChanges":{"trigger":{"stationCode":"A","id":"1"},"kind":"CLOSED"}}}',
      '{"data":{"changed":{"trigger":{"pgaHorizontal":2,"triggerId":"1"}}}}',
      '{"data":{"triggerChanges":{"trigger":{"gal":1.96133,"peak":2}}}}',
    ]);
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/triggers',
      times: 1_000,
      rewrite: (body) => {
        const { data } = body as { data: { id: string | number; pga_horizontal_mg: unknown }[] };
        for (const trigger of data) if (String(trigger.id) === '2') trigger.pga_horizontal_mg = 'a lot';
        return body;
      },
    });
    addTrigger(gw.sandbox, { id: 2, station: 'B' });
    const [first, second, ...failed] = await next();
    expect([first, second]).toEqual([
      { data: { triggerChanges: { kind: 'CLOSED', trigger: { triggerId: '2' } } } },
      { data: { triggerChanges: { trigger: { stationCode: 'B', id: '2' }, kind: 'CLOSED' } } },
    ]);
    expect(
      failed.map(({ data, errors }) => [data, errors.map(({ path }: { path: unknown }) => path)]),
    ).toEqual([
      [
        { changed: { trigger: { pgaHorizontal: null, triggerId: '2' } } },
        [['changed', 'trigger', 'pgaHorizontal']],
      ],
      [
        { triggerChanges: { trigger: { gal: null, peak: null } } },
        [
          ['triggerChanges', 'trigger', 'gal'],
          ['triggerChanges', 'trigger', 'peak'],
        ],
      ],
    ]);
  });

  it('does not wait for what others select, and what fails for them is read once', async () => {
    const world = emptyWorld();
    addSensor(world, 1);
    await using gw = await start({}, { world });
    await using socket = await openSocket(gw, { init: {} });
    const path = /\/soh$/;
    gw.sandbox.faults.add({ source: 'project', path, latencyMs: 3_000, status: 500, times: 100 });
    const texts = [
      changes('trigger { triggerId }'),
      changes('trigger { sensor { latestHealthReport { timestamp } } }'),
      changes('kind'),
    ];
    for (const [at, text] of texts.entries()) socket.send(subscribe(String(at), text));
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1, device_id: deviceId(1), station: stationCode(1) });
    const first = await take(socket, 2);
    expect(first.map(({ id }) => id).sort()).toEqual(['0', '2']);
    const [late] = await take(socket, 1);
    expect(late?.payload.errors).toHaveLength(1);
    // One read, retried once.
    expect(gw.sandbox.seen('project', path)).toHaveLength(2);
  });

  it('leaves nothing out between a list and itself', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    let added = 0;
    const adding = setInterval(() => addTrigger(gw.sandbox, { id: ++added }), 20);
    try {
      const known: string[][] = [];
      for (let round = 0; round < 40; round++) {
        const { triggers } = await gw.query('{ triggers(first: 500) { changesCursor nodes { triggerId } } }');
        known.push(triggers.nodes.map(({ triggerId }: { triggerId: string }) => triggerId));
        const text =
          'subscription ($after: String) { triggerChanges(after: $after) { trigger { triggerId } } }';
        socket.send(subscribe(String(round), text, { after: triggers.changesCursor }));
      }
      clearInterval(adding);
      const all = Array.from({ length: added }, (_, i) => String(i + 1));
      while (known.some((ids) => ids.length < all.length)) {
        const { id, payload } = await socket.next();
        expect(payload.errors).toBeUndefined();
        known[Number(id)]?.push(payload.data.triggerChanges.trigger.triggerId);
      }
      const sorted = known.map((ids) => ids.map(Number).sort((a, b) => a - b));
      for (const ids of sorted) expect(ids).toEqual(all.map(Number));
    } finally {
      clearInterval(adding);
    }
  }, 60_000);

  it('outlives everything that can go wrong with a poll', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', changes('trigger { triggerId }')));
    await polling(gw.sandbox);
    const wrong = { source: 'project', path: '/v1/triggers' } as const;
    for (const fault of [
      { drop: true, times: 2 },
      { status: 500, times: 2 },
      { truncate: true },
      { body: '{}' },
      { rewrite: () => ({ data: null, total: 0, limit: 500, offset: 0 }) },
      { rewrite: () => ({ data: [{ status: 'closed' }], total: 1, limit: 500, offset: 0 }) },
    ]) {
      gw.sandbox.faults.add({ ...wrong, ...fault });
    }
    addTrigger(gw.sandbox, { id: 1 });
    expect((await socket.next()).payload).toEqual({
      data: { triggerChanges: { trigger: { triggerId: '1' } } },
    });
    addTrigger(gw.sandbox, { id: 2 });
    expect((await socket.next()).payload).toEqual({
      data: { triggerChanges: { trigger: { triggerId: '2' } } },
    });
  }, 90_000);

  it('keeps a masked position to itself', async () => {
    const world = emptyWorld();
    const location = { latitude: 34.05, longitude: -118.25, elevation_m: 93, name: 'Secret vault' };
    world.project.sensors.push(aSensor({ location }));
    world.project.project.location_masked = true;
    await using gw = await start({}, { world });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(
      subscribe(
        '1',
        changes('trigger { locationName sensor { location { name latitude longitude masked } } }'),
      ),
    );
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1, location_name: 'Secret vault' });
    const { payload } = await socket.next();
    expect(JSON.stringify(payload)).not.toMatch(/Secret/);
    expect(payload.data.triggerChanges.trigger.sensor.location.latitude).not.toBe(34.05);
    expect(payload.data.triggerChanges.trigger).toMatchObject({
      locationName: null,
      sensor: { location: { masked: true } },
    });
  });
});

describe('whoever leaves', () => {
  it('is not polled for any more, however it left', async () => {
    await using gw = await start();
    const text = changes('kind');
    await using stopped = await openSocket(gw, { init: {} });
    await using closed = await openSocket(gw, { init: {} });
    await using killed = await openSocket(gw, { init: {} });
    const aborted = new AbortController();
    const { signal } = aborted;
    const headers = { accept: 'text/event-stream' };
    const events = await gw.fetch(`/graphql?query=${encodeURIComponent(text)}`, { headers, signal });
    expect(events.status).toBe(200);
    for (const { send } of [stopped, closed, killed]) send(subscribe('1', text));
    await vi.waitFor(
      async () => expect(await feedOf(gw)).toMatchObject({ active: true, subscriberCount: 4 }),
      10_000,
    );
    stopped.send({ id: '1', type: 'complete' });
    closed.socket.close();
    killed.socket.terminate();
    aborted.abort();
    await vi.waitFor(
      async () => expect(await feedOf(gw)).toMatchObject({ active: false, subscriberCount: 0 }),
      10_000,
    );
  });
});
