import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { maxAgeInHeaders } from '../../src/server/http/request/demanded-age.js';
import { addSensor, worldOf } from '../graph/sensors-world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const sensors = '{ sensors(first: 3) { nodes { deviceId stationCode } } }';

const start = (options: TestGatewayOptions = {}) =>
  // What has been read is in the memory of one process.
  startGateway({ isAlone: true, clock: new ManualClock(), ...options, env: { ANSWER_CACHE: 'true' } });

/** Requests that both interfaces see while `run` is answered. */
async function requestsOf(gw: TestGateway, run: () => Promise<unknown>): Promise<number> {
  gw.sandbox.forget();
  await run();
  return gw.sandbox.requests.length;
}

const asking = (gw: TestGateway, document: string, cacheControl: string) => () =>
  gw.query(document, undefined, { headers: { 'cache-control': cacheControl } });

interface Asked {
  readonly headers?: Record<string, string>;
  readonly extensions?: object;
}

const post = (gw: TestGateway, query: string, { headers = {}, extensions }: Asked) =>
  gw.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, extensions }),
  });

const get = (gw: TestGateway, query: string, { headers = {}, extensions }: Asked) => {
  const search = new URLSearchParams({ query, extensions: JSON.stringify(extensions ?? {}) });
  return gw.fetch(`/graphql?${search}`, { headers: { accept: 'application/json', ...headers } });
};

async function overSocket(gw: TestGateway, query: string, extensions: object) {
  await using socket = await openSocket(gw, { init: {} });
  socket.send({ id: '1', type: 'subscribe', payload: { query, extensions } });
  return await socket.next();
}

const maxAge = (seconds: unknown) => ({ cacheControl: { maxAge: seconds } });
const header = (seconds: number) => ({ headers: { 'cache-control': `max-age=${seconds}` } });

async function subscriberCount(gw: TestGateway): Promise<number> {
  const { gateway } = await gw.query('{ gateway { feeds { name subscriberCount } } }');
  const feeds: { name: string; subscriberCount: number }[] = gateway.feeds;
  return feeds.find(({ name }) => name === 'triggerChanges')?.subscriberCount ?? 0;
}

type Demanding = (gw: TestGateway, seconds: number) => Promise<unknown>;

const ways: readonly [name: string, ask: Demanding][] = [
  ['the header of a POST', (gw, seconds) => post(gw, sensors, header(seconds))],
  ['the header of a GET', (gw, seconds) => get(gw, sensors, header(seconds))],
  [
    'the header of an event stream',
    async (gw, seconds) => {
      const { headers } = header(seconds);
      await (await post(gw, sensors, { headers: { ...headers, accept: 'text/event-stream' } })).text();
    },
  ],
  ['the body of a POST', (gw, seconds) => post(gw, sensors, { extensions: maxAge(seconds) })],
  ['the extensions of a GET', (gw, seconds) => get(gw, sensors, { extensions: maxAge(seconds) })],
  ['a message over a WebSocket', (gw, seconds) => overSocket(gw, sensors, maxAge(seconds))],
];

describe('a demand on age', () => {
  it.each(ways)(
    'in %s is met from memory where that is young enough, and by upstream else',
    async (_, ask) => {
      const clock = new ManualClock();
      await using gw = await start({ clock });
      // The second answer is cached whole.
      for (let times = 0; times < 2; times++) await gw.query(sensors);
      await clock.advance(5_000);
      expect(await requestsOf(gw, () => ask(gw, 5))).toBe(0);
      expect(await requestsOf(gw, () => ask(gw, 4))).toBe(2);
      expect(await requestsOf(gw, () => ask(gw, 4))).toBe(0);
      expect(await requestsOf(gw, () => ask(gw, 0))).toBe(2);
      expect(await requestsOf(gw, () => ask(gw, 0))).toBe(2);
      expect(await requestsOf(gw, () => gw.query(sensors))).toBe(0);
    },
  );

  it('is met by what the operation itself has read, within one millisecond too', async () => {
    await using gw = await start();
    // The masking setting is looked at when the sensors are there, long after the project was read.
    const twice = '{ project { name } sensors(first: 3) { nodes { location { latitude } } } }';
    await gw.query(twice);
    expect(await requestsOf(gw, asking(gw, twice, 'no-cache'))).toBe(3);
  });

  it('shows what it cost', async () => {
    await using gw = await start();
    await gw.query(sensors);
    const headers = { 'cache-control': 'no-cache', 'x-upstream-cost': '1' };
    const { extensions } = await gw.queryWithErrors(sensors, undefined, { headers });
    expect(extensions.upstream).toMatchObject({ requests: 2, cacheHits: 0, staleHits: 0, oldestAgeS: 0 });
  });

  it('is met by immutable triggers without asking', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    const until = new Date(clock.wallMs() - 3 * 86_400_000).toISOString();
    const past = `{ triggers(first: 5, filter: { to: "${until}" }, orderBy: START_TIME_ASC) { nodes { triggerId } } }`;
    const before = await gw.query(past);
    await clock.advance(60_000);
    expect(
      await requestsOf(gw, async () => expect(await asking(gw, past, 'no-cache')()).toEqual(before)),
    ).toBe(0);
  });

  it('counts for what was learnt from earlier responses as well', async () => {
    await using gw = await start({ sandbox: { world: worldOf(4, ['net_1', 'net_2']) } });
    const codes = '{ networks { code } }';
    await gw.query(codes);
    await gw.query(codes);
    expect(await requestsOf(gw, asking(gw, codes, 'max-age=60'))).toBe(0);
    gw.sandbox.forget();
    await asking(gw, codes, 'no-cache')();
    expect(gw.sandbox.seen('catalogue', /^\/v1\/sensors\/./)).toHaveLength(2);
  });

  it('is for each page of a long list, and one request each for clients who demand it together', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock, sandbox: { world: worldOf(150), rateLimits: false } });
    const all = '{ sensors(first: 500) { totalCount nodes { firmwareVersion } } }';
    await gw.query(all);
    await clock.advance(1_000);
    for (const sensor of gw.sandbox.world.project.sensors) sensor.firmware = '9.9.9';
    // Two pages of the catalogue, one of the project.
    expect(await requestsOf(gw, asking(gw, all, 'no-cache'))).toBe(3);
    gw.sandbox.forget();
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => asking(gw, all, 'no-cache')()));
    expect(gw.sandbox.requests.length).toBeLessThan(6 * 3);
    for (const { sensors } of answers) {
      expect(sensors.totalCount).toBe(150);
      expect(new Set(sensors.nodes.map((node: { firmwareVersion: string }) => node.firmwareVersion))).toEqual(
        new Set(['9.9.9']),
      );
    }
  });

  it('reads the masking setting again, and obeys what it says now', async () => {
    await using gw = await start({ sandbox: { world: worldOf(3) } });
    const masked = async (cacheControl: string) => {
      const { sensors } = await asking(gw, '{ sensors { nodes { location { masked } } } }', cacheControl)();
      return sensors.nodes.map(({ location }: { location: object }) => location);
    };
    expect(await masked('max-stale')).toEqual(Array(3).fill({ masked: false }));
    gw.sandbox.world.project.project.location_masked = true;
    expect(await masked('max-stale')).toEqual(Array(3).fill({ masked: false }));
    expect(await masked('no-cache')).toEqual(Array(3).fill({ masked: true }));
  });

  it('asks for the setting where the catalogue alone has a position, however lately it was told', async () => {
    const world = worldOf(0);
    addSensor(world, 1, { project: null });
    await using gw = await start({ sandbox: { world } });
    const places = '{ sensors { nodes { location { latitude } } } }';
    await gw.query(places);
    gw.sandbox.forget();
    await asking(gw, places, 'no-cache')();
    expect(gw.sandbox.seen('project', '/v1/project')).toHaveLength(1);
  });

  it('that the budget cannot pay is null at its path, and the rest is answered', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    const both = '{ triggers(first: 3) { nodes { triggerId } } networks { name } }';
    const before = await gw.query(both);
    await clock.advance(1_000);
    const retry = { 'retry-after': '3000' };
    gw.sandbox.faults.add({ source: 'project', status: 429, headers: retry, times: 100 });
    const headers = { 'cache-control': 'no-cache' };
    const { data, errors } = await gw.queryWithErrors(both, undefined, { headers });
    expect(data).toEqual({ triggers: null, networks: before.networks });
    expect(errors).toMatchObject([{ path: ['triggers'], extensions: { code: 'UPSTREAM_RATE_LIMITED' } }]);
    expect(await gw.query(both)).toEqual(before);
    // Within what is demanded, stale is better than none.
    await clock.advance(60_000);
    expect(await asking(gw, both, 'max-age=100')()).toEqual(before);
    const late = await gw.queryWithErrors(both, undefined, { headers: { 'cache-control': 'max-age=50' } });
    expect(late.data.triggers).toBeNull();
  });

  it('of two holds that is stricter', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    await gw.query(sensors);
    await clock.advance(5_000);
    const ask = (inHeader: number, inBody: number) => () =>
      post(gw, sensors, { ...header(inHeader), extensions: maxAge(inBody) });
    expect(await requestsOf(gw, ask(9, 9))).toBe(0);
    expect(await requestsOf(gw, ask(9, 1))).toBe(2);
    await clock.advance(5_000);
    expect(await requestsOf(gw, ask(1, 9))).toBe(2);
  });

  it.each([[-1], ['5'], [[]]])('of %j in a body is refused by name', async (seconds) => {
    await using gw = await start();
    const refused = { code: 'BAD_USER_INPUT', argument: 'extensions.cacheControl.maxAge' };
    const response = await post(gw, sensors, { extensions: maxAge(seconds) });
    expect(response.status).toBe(400);
    const { errors } = await response.json();
    expect(errors).toMatchObject([{ extensions: refused }]);
    expect(errors[0].message).toContain('extensions.cacheControl.maxAge');
    expect(await overSocket(gw, sensors, maxAge(seconds))).toMatchObject({
      type: 'error',
      payload: [{ extensions: refused }],
    });
    expect(gw.sandbox.requests).toEqual([]);
  });

  it.each([{ cacheControl: null }, maxAge(null), maxAge(undefined)])(
    'is left out by %j',
    async (extensions) => {
      await using gw = await start();
      const response = await post(gw, sensors, { extensions });
      expect(await response.json()).not.toHaveProperty('errors');
      expect(await overSocket(gw, sensors, extensions)).toMatchObject({ type: 'next' });
    },
  );

  it('takes no answer from the others, whose answers are cached as before', async () => {
    await using gw = await start();
    for (let times = 0; times < 2; times++) await gw.query(sensors);
    const response = await get(gw, sensors, { headers: { 'cache-control': 'no-cache' } });
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    // The first answer from the records that were read is computed, and cached again.
    await gw.query(sensors);
    expect((await get(gw, sensors, {})).headers.get('cache-control')).toBe('private, max-age=10');
  });

  it('is nothing to a feed', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    const subscription = 'subscription { triggerChanges { kind } }';
    const polls = async (extensions: object) => {
      await using socket = await openSocket(gw, { init: {} });
      gw.sandbox.forget();
      socket.send({ id: '1', type: 'subscribe', payload: { query: subscription, extensions } });
      // From a poll just now it has nothing to ask.
      await expect.poll(() => subscriberCount(gw)).toBe(2);
      return gw.sandbox.requests.length;
    };
    await using first = await openSocket(gw, { init: {} });
    first.send({ id: '1', type: 'subscribe', payload: { query: subscription } });
    // The first poll has ended: a request of its own would be counted.
    const lastPollAt = async () =>
      (await gw.query('{ gateway { feeds { lastPollAt } } }')).gateway.feeds[0].lastPollAt;
    await expect.poll(lastPollAt).not.toBeNull();
    expect(await polls(maxAge(0))).toBe(0);
  });
});

describe('a Cache-Control header', () => {
  it.each([
    ['no-cache', 0],
    ['No-Cache', 0],
    ['max-age=0', 0],
    ['max-age=7', 7_000],
    ['max-age="7"', 7_000],
    ['max-age=7, max-age=3', 3_000],
    ['max-age=7, no-cache', 0],
    ['private="a, no-cache, b", max-age=7', 7_000],
    ['no-store', null],
    ['max-stale', null],
    ['max-age', null],
    ['max-age=soon', null],
    ['max-age=-1', null],
    ['xmax-age=1', null],
    ['', null],
  ])('%j demands an age of %j ms', (cacheControl, maxAgeMs) => {
    expect(maxAgeInHeaders({ 'cache-control': cacheControl })).toBe(maxAgeMs);
  });

  it('goes before Pragma, which is for clients without it', () => {
    expect(maxAgeInHeaders({ pragma: 'no-cache' })).toBe(0);
    expect(maxAgeInHeaders({ pragma: 'no-cache', 'cache-control': 'max-age=5' })).toBe(5_000);
    expect(maxAgeInHeaders({})).toBeNull();
  });
});
