import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { addProjectKey, emptyProject } from '../../src/sandbox/world.js';
import { lastEventsOf, openEventStream } from '../support/event-stream.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const passthrough = (options: TestGatewayOptions = {}) =>
  startGateway({ ...options, env: { AUTH_MODE: 'passthrough', ...options.env } });

const withKeys = (project: string | null, catalogue: string | null = null) => ({
  headers: {
    ...(project !== null && { authorization: `Bearer ${project}` }),
    ...(catalogue !== null && { 'x-catalogue-key': catalogue }),
  },
});

const nameOf = async (gw: TestGateway, key: string) =>
  (await gw.queryWithErrors('{ project { name } }', {}, withKeys(key))).data?.project?.name;

describe('AUTH_MODE=passthrough', () => {
  it('reads with the keys that the client sends, either or both', async () => {
    await using gw = await passthrough();
    const { projectKey, catalogueKey } = gw.sandbox;
    const document = '{ project { projectId } networks { networkId } }';
    const both = await gw.query(document, {}, withKeys(projectKey, catalogueKey));
    expect(both.project.projectId).toBe('prj_1');
    expect(both.networks.length).toBeGreaterThan(0);
    const project = await gw.queryWithErrors(document, {}, withKeys(projectKey));
    expect(project.data).toEqual({ project: { projectId: 'prj_1' }, networks: null });
    expect(project.errors?.[0]?.extensions.code).toBe('NOT_CONFIGURED');
    const catalogue = await gw.queryWithErrors(document, {}, withKeys(null, catalogueKey));
    expect(catalogue.data.project).toBeNull();
    expect(catalogue.data.networks).toEqual(both.networks);
  });

  it.each([
    ['no key', {}],
    ['a key that is none', { authorization: 'Bearer sk_live_1' }],
    ['another scheme', { authorization: 'Basic svc_sk_sandbox' }],
    ['an empty catalogue key', { 'x-catalogue-key': '' }],
  ])('refuses %s without asking upstream', async (_, headers) => {
    await using gw = await passthrough();
    const answer = await gw.queryWithErrors('{ project { name } }', {}, { headers });
    expect([answer.status, answer.errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    await using socket = await openSocket(gw, { headers });
    socket.send({ type: 'connection_init' });
    expect((await socket.closed).code).toBe(4403);
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('says 401 when upstream refuses the key and nothing could be answered', async () => {
    await using gw = await passthrough();
    const answer = await gw.queryWithErrors('{ project { name } }', {}, withKeys('svc_sk_unknown'));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'UNAUTHENTICATED',
      upstream: { source: 'PROJECT', status: 401, code: 'unauthorized' },
    });
  });

  it('answers the rest when upstream refuses only one of the keys', async () => {
    await using gw = await passthrough();
    const answer = await gw.queryWithErrors(
      '{ project { name } networks { networkId } }',
      {},
      withKeys('svc_sk_unknown', gw.sandbox.catalogueKey),
    );
    expect(answer.status).toBe(200);
    expect(answer.data.networks.length).toBeGreaterThan(0);
    expect(answer.errors).toMatchObject([{ path: ['project'], extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  it('keeps what two keys read apart, however they interleave', async () => {
    await using gw = await passthrough({ sandbox: { rateLimits: false } });
    const { world, projectKey } = gw.sandbox;
    const other = addProjectKey(world, emptyProject({ id: 'prj_other', name: 'Other' }));
    const mine = world.project.project.name;
    const names = await Promise.all(
      Array.from({ length: 200 }, (_, n) => nameOf(gw, n % 2 === 0 ? projectKey : other)),
    );
    expect(names.filter((_, n) => n % 2 === 0)).toEqual(Array(100).fill(mine));
    expect(names.filter((_, n) => n % 2 === 1)).toEqual(Array(100).fill('Other'));
  });

  it('lets the limit of one key hold up nobody else', async () => {
    await using gw = await passthrough({ env: { UPSTREAM_MAX_WAIT_MS: '0' } });
    gw.sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '30' } });
    const { projectKey, maskedProjectKey } = gw.sandbox;
    const held = await gw.queryWithErrors('{ project { name } }', {}, withKeys(projectKey));
    expect(held.errors?.[0]?.extensions.code).toBe('UPSTREAM_RATE_LIMITED');
    expect(await nameOf(gw, maskedProjectKey)).toBe(gw.sandbox.world.maskedProject.project.name);
  });
});

describe('the keys that are kept apart', () => {
  const tenantsOf = async (gw: TestGateway) =>
    Number(/^seisgraph_tenants (\d+)$/m.exec(await (await gw.fetch('/metrics')).text())?.[1]);

  it('are two hundred at most, of which those that are in use stay', async () => {
    const clock = new ManualClock();
    // Each process keeps so many apart.
    await using gw = await passthrough({ clock, sandbox: { rateLimits: false }, isAlone: true });
    const { world, projectKey } = gw.sandbox;
    await using socket = await openSocket(gw, { init: { authorization: `Bearer ${projectKey}` } });
    for (let n = 0; n < 210; n++) {
      const key = addProjectKey(world, emptyProject({ name: `Project ${n}` }));
      expect(await nameOf(gw, key)).toBe(`Project ${n}`);
    }
    expect(await tenantsOf(gw)).toBe(200);
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
    // Nothing of those that nobody reads with stays.
    await clock.advance(6 * 60_000);
    expect(await tenantsOf(gw)).toBe(1);
  });
});

describe('a revoked key', () => {
  it('is served from the cache for 10 seconds at most', async () => {
    const clock = new ManualClock();
    await using gw = await passthrough({ clock });
    const { projectKey } = gw.sandbox;
    expect(await nameOf(gw, projectKey)).toBeDefined();
    gw.sandbox.revoke(projectKey);
    await clock.advance(9_000);
    expect(await nameOf(gw, projectKey)).toBeDefined();
    await clock.advance(2_000);
    const answer = await gw.queryWithErrors('{ project { name } }', {}, withKeys(projectKey));
    expect([answer.status, answer.data?.project]).toEqual([401, null]);
  });

  it('has nothing left the moment that upstream says so', async () => {
    const clock = new ManualClock();
    await using gw = await passthrough({ clock });
    const { projectKey } = gw.sandbox;
    await gw.query(
      '{ project { name } sensors(first: 1) { nodes { stationCode } } }',
      {},
      withKeys(projectKey),
    );
    gw.sandbox.revoke(projectKey);
    const fresh = await gw.queryWithErrors(
      '{ triggers(first: 7) { nodes { id } } }',
      {},
      withKeys(projectKey),
    );
    expect(fresh.status).toBe(401);
    for (const query of ['{ project { name } }', '{ sensors { nodes { stationCode } } }']) {
      const kept = await gw.queryWithErrors(query, {}, withKeys(projectKey));
      expect([query, kept.status, Object.values(kept.data ?? {})]).toEqual([query, 401, [null]]);
    }
  });

  it('is believed for 5 minutes while upstream cannot be reached at all', async () => {
    const clock = new ManualClock();
    await using gw = await passthrough({ clock, catalogue: false });
    const { projectKey } = gw.sandbox;
    const name = await nameOf(gw, projectKey);
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 1_000 });
    const ask = async () => {
      const asked = nameOf(gw, projectKey);
      await vi.waitFor(async () => {
        await clock.advance(500);
        await Promise.race([asked, Promise.reject(new Error('not yet'))]);
      });
      return asked;
    };
    await clock.advance(4 * 60_000);
    expect(await ask()).toBe(name);
    await clock.advance(2 * 60_000);
    expect(await ask()).toBeUndefined();
  });

  it('cannot open a socket', async () => {
    await using gw = await passthrough();
    gw.sandbox.revoke(gw.sandbox.projectKey);
    await using socket = await openSocket(gw);
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${gw.sandbox.projectKey}` } });
    expect((await socket.closed).code).toBe(4403);
  });

  const subscription = 'subscription { triggerChanges { kind } }';

  it.each([
    ['that upstream does not know', 'svc_sk_unknown'],
    ['that was revoked', null],
  ])('%s opens no event stream, by POST or GET', async (_, unknown) => {
    await using gw = await passthrough();
    const { projectKey, catalogueKey } = gw.sandbox;
    if (unknown === null) gw.sandbox.revoke(projectKey);
    const { headers } = withKeys(unknown ?? projectKey, catalogueKey);
    const posted = await openEventStream(gw, subscription, { headers });
    const got = await gw.fetch(`/graphql?query=${encodeURIComponent(subscription)}`, {
      headers: { ...headers, accept: 'text/event-stream' },
    });
    const query = await openEventStream(gw, '{ project { name } }', { headers });
    for (const [response, text] of [
      [posted.response, await posted.ended],
      [got, await got.text()],
      [query.response, await query.ended],
    ] as const) {
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(lastEventsOf(text)).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
        complete: 'event: complete\ndata:',
      });
    }
  });

  it('ends the event streams that it opened with UNAUTHENTICATED, and no others', async () => {
    const clock = new ManualClock();
    await using gw = await passthrough({ clock });
    const { projectKey, maskedProjectKey, catalogueKey } = gw.sandbox;
    const open = (query: string, ...keys: Parameters<typeof withKeys>) =>
      openEventStream(gw, query, withKeys(...keys));
    const ended = await Promise.all([
      open(subscription, projectKey),
      open(subscription, projectKey, catalogueKey),
      open('subscription { eventChanges { kind } }', projectKey, catalogueKey),
      open('subscription { sensorStatusChanges { sensor { id } } }', projectKey),
    ]);
    const going = await Promise.all([
      open(subscription, maskedProjectKey),
      open('subscription { eventChanges { kind } }', null, catalogueKey),
    ]);
    for (const { response } of [...ended, ...going]) expect(response.status).toBe(200);
    gw.sandbox.revoke(projectKey);
    await clock.advance(10_000);
    for (const stream of ended) {
      expect(lastEventsOf(await stream.ended)).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
        complete: 'event: complete\ndata:',
      });
    }
    for (const { text } of going) expect(text()).not.toContain('event:');
  });

  it('ends the sockets that it opened within 10 seconds, and no others', async () => {
    const clock = new ManualClock();
    await using gw = await passthrough({ clock });
    const { projectKey, maskedProjectKey, catalogueKey } = gw.sandbox;
    await using socket = await openSocket(gw, { init: { authorization: `Bearer ${projectKey}` } });
    await using both = await openSocket(gw, {
      init: { authorization: `Bearer ${projectKey}`, catalogueKey },
    });
    await using other = await openSocket(gw, { init: { authorization: `Bearer ${maskedProjectKey}` } });
    await using catalogue = await openSocket(gw, { init: { catalogueKey } });
    gw.sandbox.revoke(projectKey);
    await clock.advance(9_000);
    expect((await socket.closed).code).toBe(4403);
    expect((await both.closed).code).toBe(4403);
    for (const { socket } of [other, catalogue]) expect(socket.readyState).toBe(socket.OPEN);
  });
});

describe("a client's key", () => {
  it('is in no line of the log and in no answer', async () => {
    await using gw = await passthrough();
    const { projectKey, catalogueKey } = gw.sandbox;
    gw.sandbox.faults.add({
      source: 'project',
      status: 500,
      times: 10,
      body: JSON.stringify({
        error: { code: 'x', message: `Bearer ${projectKey} ${catalogueKey} broke it` },
      }),
    });
    const answer = await gw.queryWithErrors(
      '{ project { name } networks { name } }',
      {},
      withKeys(projectKey, catalogueKey),
    );
    expect(answer.errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    for (const key of [projectKey, catalogueKey]) {
      expect(gw.logText).not.toContain(key);
      expect(JSON.stringify(answer)).not.toContain(key);
    }
    expect(JSON.stringify(answer)).not.toContain('127.0.0.1');
  });
});
