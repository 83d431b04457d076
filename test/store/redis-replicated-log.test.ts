import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisChanges } from '../../src/store/redis/replicated-log.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { linkTo } from './links.js';

// What all stores promise of changes is in shared-changes.test.ts.
describe.skipIf(noRedis)(`the changes of a feed in Redis alone${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis;
  let names = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  async function instances(count: number): Promise<RedisChanges[]> {
    const name = `feed ${names++}`;
    const links = await Promise.all(Array.from({ length: count }, () => linkTo(redis)));
    return links.map((link) => new RedisChanges(link, name));
  }

  it('can be lost without anybody taking new ones for old ones', async () => {
    const [a, b] = (await instances(2)) as [RedisChanges, RedisChanges];
    await a.attach(null);
    await a.begin(7, 'snapshot');
    await a.append(7, ['one']);
    const raw = new Redis(redis.url);
    await raw.flushall();
    await raw.quit();
    expect(await a.append(7, ['two'])).toBeNull();
    expect(await a.begin(9, 'again')).toBe(true);
    expect(await a.append(9, ['one'])).toBe(1);
    expect(await b.readAfter({ epoch: 7, offset: 0 })).toBeNull();
  });

  it('ask for what comes before them where the stream does not reach back so far', async () => {
    const [a, b] = (await instances(2)) as [RedisChanges, RedisChanges];
    await a.attach(null);
    await a.begin(7, 'snapshot');
    await a.append(7, ['one', 'two', 'three']);
    const raw = new Redis(redis.url);
    for (const key of await raw.keys(`*{feed ${names - 1}}:changes`)) await raw.xtrim(key, 'MAXLEN', 1);
    await raw.quit();
    expect(await a.readAfter({ epoch: 7, offset: 1 })).toBeNull();
    expect(await a.readAfter({ epoch: 7, offset: 2 })).toEqual([{ offset: 3, text: 'three' }]);
    // The snapshot does not help either: a new epoch has to begin.
    expect(await b.attach(null)).toBeNull();
  });
});
