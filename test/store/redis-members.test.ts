import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { openRedisStore } from '../../src/store/redis/store.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { noRedis, startRedis } from '../support/redis.js';

if (noRedis) console.warn(`Counting instances: ${noRedis}`);

const log = createLog({ level: 'silent', secrets: [] });

// It stands still for the heartbeats, of which the next would report it in any case.
const clock = new ManualClock();

function open(url: string) {
  const store = openRedisStore({ url, clock, log });
  cleanUpAfterTests(() => store.close());
  return store;
}

describe.skipIf(noRedis)(`instances on one Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
  it('know each other as soon as each has started, and keep to that number when Redis goes', async () => {
    await using redis = await startRedis();
    const stores = [open(redis.url), open(redis.url), open(redis.url)];
    await Promise.all(stores.map(({ settled }) => settled));
    await clock.advance(300);
    await vi.waitFor(() => expect(stores.map(({ instances }) => instances)).toEqual([3, 3, 3]), 15_000);
    await redis.kill();
    await vi.waitFor(() => expect(stores.every(({ connection }) => !connection?.isUp)).toBe(true), 15_000);
    expect(stores.map(({ instances }) => instances)).toEqual([3, 3, 3]);
  });

  it('count one that joins later before it has started', async () => {
    await using redis = await startRedis();
    const first = open(redis.url);
    await first.settled;
    expect(first.instances).toBe(1);
    const second = open(redis.url);
    await second.settled;
    expect(second.instances).toBe(2);
    await vi.waitFor(() => expect(first.instances).toBe(2), 15_000);
  });

  it('do not take themselves for the only one as long as none has reached Redis', async () => {
    const redis = await startRedis();
    await redis.kill();
    const store = open(redis.url);
    await store.settled;
    expect(store.instances).toBe(2);
    await redis.restart();
    await vi.waitFor(() => expect(store.instances).toBe(1), 15_000);
  });
});
