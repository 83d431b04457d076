import { describe, expect, it, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';

vi.setConfig({ testTimeout: 120_000 });

if (noRedis) console.warn(`Gateways that share a budget: ${noRedis}`);

describe.skipIf(noRedis)(`gateways that share a budget${noRedis ? ` (${noRedis})` : ''}`, () => {
  /** Each has had an answer from upstream, and knows of all others. */
  async function start(redis: TestRedis, sandbox: Sandbox, count: number, env: Record<string, string> = {}) {
    const gateways = await Promise.all(
      Array.from({ length: count }, () =>
        // Instances are counted: each is one process.
        startGateway({
          behind: sandbox,
          catalogue: false,
          env: { REDIS_URL: redis.url, ...env },
          isAlone: true,
        }),
      ),
    );
    for (const gw of gateways) await redisIs(gw, 'ok');
    for (const gw of gateways) {
      await vi.waitFor(async () => {
        const metrics = await (await gw.fetch('/metrics')).text();
        expect(metrics).toMatch(new RegExp(`_instances ${count}\\n`));
      }, 20_000);
    }
    return gateways;
  }

  const redisIs = (gw: TestGateway, state: string) =>
    vi.waitFor(async () => {
      const { redis } = await (await gw.fetch('/ready')).json();
      expect(redis).toBe(state);
    }, 20_000);

  let asked = 0;
  /** Different from all others: it is one request. */
  const ask = (gw: TestGateway) =>
    gw.queryWithErrors(
      'query ($least: Float) { events(first: 1, filter: { minMagnitude: $least }) { nodes { id } } }',
      {
        least: ++asked / 1_000,
      },
    );
  const rateLimitOf = async (gw: TestGateway) => {
    const { gateway } = await gw.query(
      '{ gateway { interfaces { rateLimit { perMinute burst remaining } } } }',
    );
    return gateway.interfaces[0].rateLimit;
  };
  const codesOf = (answers: readonly Awaited<ReturnType<typeof ask>>[]) =>
    new Set(answers.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? []));

  it('give 20 queries each at once no more than there is, and upstream never has to refuse one', async () => {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false });
    const gateways = await start(redis, sandbox, 3);
    const answers = await Promise.all(gateways.flatMap((gw) => Array.from({ length: 20 }, () => ask(gw))));
    expect(sandbox.seen('project').map(({ status }) => status)).not.toContain(429);
    expect(sandbox.seen('project', '/v1/events').length).toBeGreaterThanOrEqual(16);
    expect(codesOf(answers)).toEqual(new Set(['UPSTREAM_RATE_LIMITED']));
    for (const gw of gateways) {
      expect(await rateLimitOf(gw)).toMatchObject({ perMinute: 60, burst: 20 });
      await gw.close();
    }
  });

  it('are all held by a refusal that one of them gets', async () => {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const gateways = await start(redis, sandbox, 3);
    await Promise.all(gateways.map(ask));
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '50' } });
    const [first, ...others] = gateways as [TestGateway, ...TestGateway[]];
    expect(codesOf([await ask(first)])).toEqual(new Set(['UPSTREAM_RATE_LIMITED']));
    sandbox.forget();
    const answers = await Promise.all(others.map(ask));
    expect(codesOf(answers)).toEqual(new Set(['UPSTREAM_RATE_LIMITED']));
    for (const { errors } of answers) expect(errors?.[0]?.extensions.retryAfterS).toBeGreaterThan(40);
    expect(sandbox.requests).toEqual([]);
    for (const gw of gateways) await gw.close();
  });

  it('go on within half of it each while Redis is unreachable, and have the whole when it is back', async () => {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false, rateLimits: { projectPerMinute: 600 } });
    // So fast that what was sent is made up for in seconds.
    const gateways = await start(redis, sandbox, 2, { PROJECT_RATE_PER_MINUTE: '600' });
    const [one] = gateways as [TestGateway, TestGateway];
    await redis.kill();
    for (const gw of gateways) await redisIs(gw, 'away');
    const answers = await Promise.all(gateways.flatMap((gw) => Array.from({ length: 30 }, () => ask(gw))));
    expect(codesOf(answers)).toEqual(new Set());
    for (const gw of gateways) expect((await rateLimitOf(gw)).remaining).toBeLessThanOrEqual(10);
    await redis.restart();
    for (const gw of gateways) await redisIs(gw, 'ok');
    await vi.waitFor(async () => expect((await rateLimitOf(one)).remaining).toBe(20), 60_000);
    await Promise.all(gateways.flatMap((gw) => Array.from({ length: 20 }, () => ask(gw))));
    expect(sandbox.seen('project').map(({ status }) => status)).not.toContain(429);
    for (const gw of gateways) {
      expect(await rateLimitOf(gw)).toMatchObject({ perMinute: 600, burst: 20 });
      await gw.close();
    }
  });
});
