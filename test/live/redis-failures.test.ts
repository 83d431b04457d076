import { createClient } from 'graphql-ws';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../src/sandbox/server.js';
import { environment, startGateway, type TestGateway } from '../support/gateway.js';
import { build, startProcess } from '../support/gateway-process.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { addTrigger, quick } from './live-gateway.js';

vi.setConfig({ testTimeout: 120_000 });

if (noRedis) console.warn(`Feeds of several instances on Redis: ${noRedis}`);

const document = /* GraphQL */ `
  subscription ($after: String) {
    triggerChanges(after: $after) { kind cursor replayed trigger { triggerId } }
  }
`;

interface Received {
  readonly kind: string;
  readonly cursor: string;
  readonly replayed: boolean;
  readonly trigger: { readonly triggerId: string };
}

/** Over a WebSocket, once: nobody reconnects for it. */
function subscribe(gw: Pick<TestGateway, 'url'>, after: string | null = null) {
  const received: Received[] = [];
  const client = createClient({
    url: `${gw.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  client.subscribe(
    { query: document, variables: { after } },
    {
      next: ({ data }) => void received.push((data as { triggerChanges: Received }).triggerChanges),
      error: () => {},
      complete: () => {},
    },
  );
  return {
    received,
    get lines() {
      return received.map(({ kind, trigger }) => `${kind} ${trigger.triggerId}`);
    },
    leave: () => client.dispose(),
  };
}

/** The metric of a feed as it is now. */
async function polls(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^seisgraph_feed_polls_total\{feed="triggerChanges"\} (\d+)$/m.exec(text)?.[1]);
}

describe.skipIf(noRedis)(`feeds of several instances on Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
  async function start(redis: TestRedis, count: number) {
    const sandbox = await startSandbox({ live: false, rateLimits: false });
    // Instances are counted: each is one process.
    const startOne = () =>
      startGateway({ behind: sandbox, env: { ...quick, REDIS_URL: redis.url }, isAlone: true });
    const gateways = await Promise.all(Array.from({ length: count }, startOne));
    for (const gw of gateways) await redisIs(gw, 'ok');
    return { sandbox, gateways, startOne };
  }

  const redisIs = (gw: TestGateway, state: string) =>
    vi.waitFor(async () => {
      const { redis } = await (await gw.fetch('/ready')).json();
      expect(redis).toBe(state);
    }, 20_000);

  const following = (gw: TestGateway) =>
    vi.waitFor(async () => {
      const { feeds } = await gw
        .query('{ gateway { feeds { name active lagS } } }')
        .then(({ gateway }) => gateway);
      const feed = feeds.find(({ name }: { name: string }) => name === 'triggerChanges');
      expect(feed).toMatchObject({ active: true, lagS: expect.any(Number) });
    }, 20_000);

  it('poll as one, and give ten subscribers at three instances each of 100 triggers once', async () => {
    await using redis = await startRedis();
    const { sandbox, gateways } = await start(redis, 3);
    await vi.waitFor(async () => {
      for (const gw of gateways) {
        const metrics = await (await gw.fetch('/metrics')).text();
        expect(metrics).toMatch(/^seisgraph_redis_up 1$/m);
        expect(metrics).toMatch(/^seisgraph_instances 3$/m);
      }
    }, 20_000);
    const followers = Array.from({ length: 10 }, (_, i) => subscribe(gateways[i % 3] as TestGateway));
    for (const gw of gateways) await following(gw);
    const ids: string[] = [];
    const polls = () => sandbox.seen('project', '/v1/triggers').length;
    const pollsBefore = polls();
    const fromMs = Date.now();
    for (let id = 1; id <= 100; id++) ids.push(`CLOSED ${addTrigger(sandbox, { id }).id}`);
    for (const follower of followers) {
      await vi.waitFor(() => expect([...follower.lines].sort()).toEqual([...ids].sort()), 20_000);
    }
    await vi.waitFor(() => expect(polls() - pollsBefore).toBeGreaterThan(8), 20_000);
    // As often as one gateway would: once every 250 ms, with one more begun.
    expect(polls() - pollsBefore).toBeLessThanOrEqual((Date.now() - fromMs) / 250 + 2);
    for (const follower of followers) expect(follower.lines).toHaveLength(100);
    for (const gw of gateways) await gw.close();
    await sandbox.close();
  });

  it('go on when the process that polls is killed', async () => {
    const removeBuild = build();
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const env = Object.entries({ ...environment(sandbox), ...quick, REDIS_URL: redis.url }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const gateways = await Promise.all(
      [1, 2].map(async () => {
        const { child, url } = startProcess({ env: Object.fromEntries(env) });
        const follower = subscribe({ url: await url });
        return { child, url: await url, follower };
      }),
    );
    const before = new Map(gateways.map(({ url }) => [url, 0]));
    const polling = await vi.waitFor(async () => {
      const growing = [];
      for (const gateway of gateways) {
        const count = await polls(gateway.url);
        if (count > (before.get(gateway.url) ?? 0)) growing.push(gateway);
        before.set(gateway.url, count);
      }
      const { status } = await (await fetch(`${gateways[0]?.url}/ready`)).json();
      expect([growing.length, status]).toEqual([1, 'ok']);
      return growing[0];
    }, 30_000);
    const open = addTrigger(sandbox, { id: 1, status: 'open' });
    await vi.waitFor(() => {
      for (const { follower } of gateways) expect(follower.lines).toEqual(['OPENED 1']);
    }, 20_000);
    polling?.child.kill('SIGKILL');
    addTrigger(sandbox, { id: 2 });
    Object.assign(open, { status: 'closed' });
    const other = gateways.find((gateway) => gateway !== polling);
    await vi.waitFor(() => expect(other?.follower.lines).toHaveLength(3), 20_000);
    expect([...(other?.follower.lines ?? [])].sort()).toEqual(['CLOSED 1', 'CLOSED 2', 'OPENED 1']);
    removeBuild();
  });

  it('go on while Redis is full, each by itself', async () => {
    await using redis = await startRedis();
    const { sandbox, gateways } = await start(redis, 2);
    const followers = gateways.map((gw) => subscribe(gw));
    for (const gw of gateways) await following(gw);
    const raw = new Redis(redis.url);
    await raw.config('SET', 'maxmemory', '1');
    const expected: string[] = [];
    for (let id = 1; id <= 3; id++) {
      expected.push(`CLOSED ${addTrigger(sandbox, { id }).id}`);
      await vi.waitFor(() => {
        for (const { lines } of followers) expect(lines).toEqual(expected);
      }, 20_000);
    }
    const { status } = await (await (gateways[0] as TestGateway).fetch('/ready')).json();
    expect(status).toBe('degraded');
    await raw.config('SET', 'maxmemory', '0');
    for (const gw of gateways) await redisIs(gw, 'ok');
    expected.push(`CLOSED ${addTrigger(sandbox, { id: 4 }).id}`);
    await vi.waitFor(() => {
      for (const { lines } of followers) expect(lines).toEqual(expected);
    }, 20_000);
    await raw.quit();
    for (const gw of gateways) await gw.close();
    await sandbox.close();
  });

  it('go on when one leaves or Redis is unreachable, and each subscriber misses nothing and gets nothing twice', async () => {
    await using redis = await startRedis();
    const { sandbox, gateways, startOne } = await start(redis, 2);
    const [a, b] = gateways as [TestGateway, TestGateway];
    const [atA, atB] = [subscribe(a), subscribe(b)];
    await following(a);
    await following(b);
    const expected: string[] = [];
    const add = () => {
      const { id } = addTrigger(sandbox, { id: expected.length + 1 });
      expected.push(`CLOSED ${id}`);
    };
    const bothReceive = () =>
      vi.waitFor(() => {
        for (const { lines } of [atA, atB]) expect(lines).toEqual(expected);
      }, 20_000);
    add();
    await bothReceive();
    await redis.kill();
    await redisIs(a, 'away');
    await redisIs(b, 'away');
    add();
    await bothReceive();
    await redis.restart();
    await redisIs(a, 'ok');
    await redisIs(b, 'ok');
    add();
    await bothReceive();
    // It hangs, which is worse than being gone.
    redis.pause();
    add();
    await bothReceive();
    redis.resume();
    await redisIs(a, 'ok');
    await redisIs(b, 'ok');
    add();
    await bothReceive();
    const { cursor } = atA.received.at(-1) as Received;
    await a.close();
    add();
    const missed = expected.at(-1);
    await vi.waitFor(() => expect(atB.lines).toEqual(expected), 20_000);
    // At the other, and at one that was not there.
    for (const gw of [b, await startOne()]) {
      const again = subscribe(gw, cursor);
      await vi.waitFor(() => expect(again.lines).toEqual([missed]), 20_000);
      expect(again.received[0]?.replayed).toBe(true);
      again.leave();
    }
    await sandbox.close();
  });
});
