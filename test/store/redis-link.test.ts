import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { StoreAway } from '../../src/store/store.js';
import { noRedis, startRedis } from '../support/redis.js';
import { isUp, linkTo } from './links.js';

if (noRedis) console.warn(`The connection to Redis: ${noRedis}`);

const asking = `return {redis.call('TIME'), 'answer'}`;

describe.skipIf(noRedis)(`the connection to Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
  it('is not given up because this process was busy for longer than an answer may take', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    const answer = link.run(asking, [], []);
    // The command has left, and its answer lies unread.
    await vi.waitFor(async () => {
      const raw = new Redis(redis.url);
      expect(await raw.info('commandstats')).toMatch(/cmdstat_eval(sha)?:calls=[1-9]/);
      await raw.quit();
    });
    const untilMs = Date.now() + 2_000;
    while (Date.now() < untilMs);
    expect((await answer).map(String)).toEqual(['answer']);
    const next = link.run(asking, [], []);
    while (Date.now() < untilMs + 2_000);
    expect((await next).map(String)).toEqual(['answer']);
    expect(link.isUp).toBe(true);
  });

  it('is given up when Redis hangs, and made anew when it goes on', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    redis.pause();
    await expect(link.run(asking, [], [])).rejects.toBeInstanceOf(StoreAway);
    expect(link.isUp).toBe(false);
    // At once, from then on.
    await expect(link.run(asking, [], [])).rejects.toBeInstanceOf(StoreAway);
    redis.resume();
    await isUp(link);
    expect((await link.run(asking, [], [])).map(String)).toEqual(['answer']);
  });

  it('is given up when Redis refuses what it is asked', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    await expect(link.run('this is no script', [], [])).rejects.toBeInstanceOf(StoreAway);
    await isUp(link);
  });
});
