import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plus, realClock } from '../../src/clock.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { asId } from '../../src/upstream/decode/fields.js';
import type { Priority } from '../../src/upstream/read/read.js';
import { linkTo } from '../store/links.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { eventually, failureOf, scopeOf } from './harness.js';
import { type InstanceOptions, isUp, startInstance } from './redis-instances.js';

if (noRedis) console.warn(`Answers that instances share: ${noRedis}`);

const page = { limit: 100, offset: 0 };
const one = (offset: number) => ({ limit: 1, offset });
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe.skipIf(noRedis)(`answers that instances share${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis;
  let sandbox: Sandbox;
  beforeAll(async () => {
    [redis, sandbox] = await Promise.all([startRedis(), startSandbox({ live: false, rateLimits: false })]);
  });
  afterAll(async () => {
    await redis.close();
    await sandbox.close();
  });
  beforeEach(async () => {
    sandbox.faults.clear();
    await redis.restart();
    sandbox.forget();
  });

  const start = (own?: InstanceOptions) => startInstance(redis, sandbox, own);
  const two = () => Promise.all([start(), start()]);
  const seen = (path = '/v1/sensors') => sandbox.seen('project', path);
  /** One that says that it has read everything so long ago. */
  const startAgo = (ms: number) => start({ clock: { ...realClock, now: () => plus(realClock.now(), -ms) } });
  /** Another instance asks upstream itself, although what was cached would have done for an hour. */
  const isGone = () =>
    eventually(async () => {
      sandbox.forget();
      const { project } = await start();
      await project.sensors(page, scopeOf({ maxAgeMs: hourMs }));
      expect(seen()).toHaveLength(1);
    });
  /** What is read goes to Redis behind the reader's back. */
  const isCached = async (address = '/v1/sensors') => {
    const link = await linkTo(redis);
    const count = `return {redis.call('TIME'), #redis.call('KEYS', '*body:' .. ARGV[1] .. '*')}`;
    await eventually(async () => expect(await link.run(count, [], [address])).toEqual([1]));
  };

  it('are read from upstream by one of them, and are a hit for the others', async () => {
    const [a, b] = await two();
    const read = await a.project.sensors(page, scopeOf());
    await isCached();
    sandbox.forget();
    const scope = scopeOf();
    const other = await b.project.sensors(page, scope);
    expect(seen()).toEqual([]);
    expect(other.value).toEqual(read.value);
    expect(read.readAtMs - other.readAtMs).toBeGreaterThanOrEqual(0);
    expect(read.readAtMs - other.readAtMs).toBeLessThan(2_000);
    expect(scope.meter).toMatchObject({ requests: 0, cacheHits: 1, staleHits: 0 });
    expect(b.project.status()).toMatchObject({ requestCount: 0, cacheHitCount: 1 });
    // Cached here as well from now on.
    await redis.kill();
    await b.project.sensors(page, scopeOf());
    expect(seen()).toEqual([]);
  });

  it('are asked of upstream once when all want the same at once', async () => {
    const instances = await Promise.all([start(), start(), start()]);
    sandbox.faults.add({ source: 'project', latencyMs: 300 });
    const reads = instances.flatMap(({ project }) =>
      Array.from({ length: 5 }, () => project.sensors(page, scopeOf())),
    );
    const values = (await Promise.all(reads)).map(({ value }) => value);
    expect(seen()).toHaveLength(1);
    for (const value of values) expect(value).toEqual(values[0]);
  });

  it('are asked for one after the other by those who demand that they be asked for after them', async () => {
    const instances = await Promise.all([start(), start(), start()]);
    sandbox.faults.add({ source: 'project', latencyMs: 200, times: 3 });
    await Promise.all(
      instances.map(({ project }) =>
        project.sensors(page, scopeOf({ demand: { maxAgeMs: 0, atMs: realClock.now() } })),
      ),
    );
    expect(seen()).toHaveLength(3);
    expect(sandbox.maxConcurrent('project', '/v1/sensors')).toBe(1);
  });

  it('are asked for by the next when the first fails, one at a time', async () => {
    const instances = await Promise.all([start(), start(), start()]);
    sandbox.faults.add({ source: 'project', status: 403, latencyMs: 100, times: 3 });
    const reads = await Promise.allSettled(instances.map(({ project }) => project.sensors(page, scopeOf())));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(seen()).toHaveLength(3);
    expect(sandbox.maxConcurrent('project', '/v1/sensors')).toBe(1);
  });

  it('are waited for even behind one who is less urgent, once they are on their way', async () => {
    const [a, b] = await two();
    sandbox.faults.add({ source: 'project', hang: true });
    const background = new AbortController();
    const first = a.project.sensors(page, scopeOf({ priority: 'background', signal: background.signal }));
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    let isAnswered = false;
    const second = b.project.sensors(page, scopeOf()).then(() => {
      isAnswered = true;
    });
    // Time enough for it to be asked for besides.
    await a.project.project(scopeOf());
    await b.project.project(scopeOf());
    expect([isAnswered, sandbox.inFlight('project')]).toEqual([false, 1]);
    background.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await second;
  });

  it.each<Priority>(['query', 'background'])(
    'are not waited for by a caller who leaves, whoever of them asks for a %s',
    async (priority) => {
      const [a, b] = await two();
      sandbox.faults.add({ source: 'project', hang: true });
      const callers = [new AbortController(), new AbortController()] as const;
      const first = a.project.sensors(page, scopeOf({ priority, signal: callers[0].signal }));
      await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
      const second = b.project.sensors(page, scopeOf({ priority, signal: callers[1].signal }));
      callers[1].abort(new Error('second gone'));
      await expect(second).rejects.toThrow('second gone');
      callers[0].abort(new Error('first gone'));
      await expect(first).rejects.toThrow('first gone');
      // It is nobody's any more: the next one asks.
      await b.project.sensors(page, scopeOf({ priority }));
      expect(seen()).toHaveLength(2);
    },
  );

  it('say for all that upstream has nothing there', async () => {
    const [a, b] = await two();
    expect(await a.project.sensor('NONE', scopeOf())).toBeNull();
    await isCached('/v1/sensors/NONE');
    expect(await b.project.sensor('NONE', scopeOf())).toBeNull();
    expect(sandbox.requests).toHaveLength(1);
  });

  it('are not for a poll, which asks upstream itself and leaves what it reads to the others', async () => {
    const [a, b] = await two();
    await a.project.sensors(page, scopeOf());
    await isCached();
    sandbox.forget();
    await b.project.sensors(page, scopeOf({ priority: 'feed', maxAgeMs: 0 }));
    expect(seen()).toHaveLength(1);
    sandbox.forget();
    await redis.restart();
    await isUp(b.store);
    await b.project.sensors(page, scopeOf({ priority: 'feed', maxAgeMs: 0 }));
    await isCached();
  });

  it('are asked for anew by a poll that finds them on their way from Redis', async () => {
    const [a, b] = await two();
    await a.project.sensors(page, scopeOf());
    await isCached();
    sandbox.forget();
    const query = scopeOf();
    const poll = scopeOf({ priority: 'feed', maxAgeMs: 0 });
    await Promise.all([b.project.sensors(page, query), b.project.sensors(page, poll)]);
    expect(query.meter.requests).toBe(0);
    expect(poll.meter.requests).toBe(1);
  });

  it('are asked for anew when they are old, and help when upstream fails', async () => {
    const [a, b] = await Promise.all([startAgo(120 * minuteMs), start()]);
    const read = await a.project.sensors(page, scopeOf());
    await isCached();
    sandbox.faults.add({ source: 'project', status: 500, times: 2 });
    const failing = scopeOf();
    expect((await b.project.sensors(page, failing)).value).toEqual(read.value);
    expect(failing.meter).toMatchObject({ requests: 2, cacheHits: 0, staleHits: 1 });
    expect(failing.meter.oldestAgeS).toBeGreaterThan(119 * 60);
    const scope = scopeOf();
    await b.project.sensors(page, scope);
    expect(scope.meter).toMatchObject({ requests: 1, cacheHits: 0 });
  });

  it('do not help after more than a day, nor where the caller has an age of its own in mind', async () => {
    for (const [ageMs, maxAgeMs] of [
      [25 * hourMs, undefined],
      [2 * hourMs, hourMs],
    ] as const) {
      const a = await startAgo(ageMs);
      await a.project.sensors(page, scopeOf({ maxAgeMs: 0 }));
      await isCached();
      const b = await start();
      sandbox.faults.add({ source: 'project', status: 500, times: 2 });
      const failure = await failureOf(b.project.sensors(page, scopeOf({ maxAgeMs })));
      expect(failure.code).toBe('UPSTREAM_UNAVAILABLE');
    }
  });

  it('that are immutable are not asked for again, however old they are', async () => {
    const [a, b] = await Promise.all([startAgo(120 * minuteMs), start()]);
    const [sensor] = (await a.project.sensors(page, scopeOf())).value.items;
    const id = sensor?.device_id ?? '';
    const window = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z', limit: 10 };
    await a.project.healthReports(asId(id), window, scopeOf());
    await isCached(`/v1/sensors/${id}/soh`);
    const scope = scopeOf();
    await b.project.healthReports(asId(id), window, scope);
    expect(scope.meter).toMatchObject({ requests: 0, cacheHits: 1 });
  });

  it('of an event that a list shows unchanged are not asked for again by another instance', async () => {
    const list = { ...page, order: 'desc' as const };
    // Old enough to be asked for again, were it not for the list.
    const [a, b] = await Promise.all([startAgo(minuteMs), start()]);
    const [event] = (await a.project.events(list, scopeOf())).value.items;
    const id = String(event?.id);
    await a.project.event(asId(id), scopeOf());
    await isCached(`/v1/events/${id}`);
    await b.project.events(list, scopeOf({ maxAgeMs: 0 }));
    const scope = scopeOf();
    await b.project.event(asId(id), scope);
    expect(scope.meter).toMatchObject({ requests: 0, cacheHits: 1 });
  });

  it('go for all instances when one discards what it has', async () => {
    const [a] = await two();
    await a.project.sensors(page, scopeOf());
    await isCached();
    a.project.discardCache();
    await isGone();
  });

  it('stay when one of the instances ends', async () => {
    const [a, b] = await two();
    await a.project.sensors(page, scopeOf());
    await isCached();
    sandbox.forget();
    a.project.close();
    await b.project.sensors(page, scopeOf());
    expect(seen()).toEqual([]);
  });

  it("are each instance's own while Redis is unreachable, and shared again when it is back", async () => {
    const [a, b] = await two();
    await redis.kill();
    await Promise.all([isUp(a.store, false), isUp(b.store, false)]);
    await Promise.all([a, b].map(({ project }) => project.sensors(page, scopeOf())));
    expect(seen()).toHaveLength(2);
    await redis.restart();
    await Promise.all([isUp(a.store), isUp(b.store)]);
    await a.project.sensors(one(0), scopeOf());
    await isCached();
    sandbox.forget();
    await b.project.sensors(one(0), scopeOf());
    expect(seen()).toEqual([]);
  });

  describe("that were read with a client's own key", () => {
    const client = { keyOwner: 'client' as const };

    it('are shown by an instance only when upstream has accepted the key there', async () => {
      const [a, b] = await Promise.all([start(client), start(client)]);
      await a.project.sensors(page, scopeOf());
      await isCached();
      sandbox.forget();
      await b.project.sensors(page, scopeOf());
      expect(seen()).toHaveLength(1);
      // As it has by now.
      await a.project.project(scopeOf());
      await isCached('/v1/project');
      sandbox.forget();
      await b.project.project(scopeOf());
      expect(sandbox.requests).toEqual([]);
    });

    it('go for all instances when the key is revoked', async () => {
      const a = await start(client);
      await a.project.sensors(page, scopeOf());
      await isCached();
      sandbox.faults.add({ source: 'project', path: '/v1/project', status: 401 });
      const refused = a.project.project(scopeOf({ maxAgeMs: 0 }));
      expect((await failureOf(refused)).code).toBe('UNAUTHENTICATED');
      await isGone();
    });
  });
});
