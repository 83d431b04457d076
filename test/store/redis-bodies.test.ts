import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plus, realClock } from '../../src/clock.js';
import { redisBodies } from '../../src/store/redis/bodies.js';
import type { RedisLink } from '../../src/store/redis/link.js';
import type { SharedBodies } from '../../src/store/store.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { bodyOf, seen, write } from './bodies.js';
import { linkTo } from './links.js';

const id = '/v1/sensors?limit=500';
const query = 0;

// What all stores promise of bodies is in shared-bodies.test.ts.
describe.skipIf(noRedis)(`bodies in Redis alone${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis;
  let names = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  async function two() {
    const name = `bodies ${names++}`;
    const links = [await linkTo(redis), await linkTo(redis)] as const;
    const [one, other] = links.map((link) => redisBodies(link, name)) as [SharedBodies, SharedBodies];
    return { name, links, one, other };
  }

  it('take less room than they have bytes', async () => {
    const { name, links, one, other } = await two();
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, device) => ({ device })));
    await write(one, bodyOf(text));
    await expect.poll(() => seen(other)).not.toBeNull();
    const length = `return {redis.call('TIME'), redis.call('STRLEN', KEYS[1])}`;
    const [bytes] = await links[0].run(length, [links[0].key(name, `body:${id}`)], []);
    expect(bytes).toBeLessThan(text.length / 3);
  });

  it('have the time of their reading on the clock of who sees them, and never too late', async () => {
    const hourMs = 3_600_000;
    const behind = redisBodies(await linkTo(redis, -hourMs), 'clocks');
    const ahead = redisBodies(await linkTo(redis, hourMs), 'clocks');
    const readAtMs = plus(realClock.now(), -10_000);
    await write(behind, bodyOf('{}', plus(readAtMs, -hourMs)));
    await expect.poll(() => seen(ahead)).not.toBeNull();
    const seenAtMs = ((await seen(ahead))?.readAtMs ?? 0) - hourMs;
    expect(seenAtMs).toBeLessThanOrEqual(readAtMs + 1);
    expect(seenAtMs).toBeGreaterThan(readAtMs - 2_000);
  });

  it('are not returned again when Redis has lost their generation', async () => {
    const { name, links, one, other } = await two();
    await write(one, bodyOf('old'));
    await expect.poll(() => seen(other)).not.toBeNull();
    const [link] = links;
    await link.run(
      `redis.call('DEL', KEYS[1]) return {redis.call('TIME')}`,
      [link.key(name, 'generation')],
      [],
    );
    expect(await seen(other)).toBeNull();
  });

  it('stay asked for by one that takes its time, and not by one that was killed', async () => {
    const { name, links, one, other } = await two();
    const remaining = async (link: RedisLink) => {
      const script = `return {redis.call('TIME'), redis.call('PTTL', KEYS[1])}`;
      const [leftMs] = await link.run(script, [link.key(name, `asked:${id}`)], []);
      return Number(leftMs);
    };
    const slow = await one.open(id, query);
    const firstMs = await remaining(links[1]);
    await expect.poll(() => remaining(links[1]), { timeout: 15_000 }).toBeLessThan(firstMs - 500);
    await expect.poll(() => remaining(links[1]), { timeout: 15_000 }).toBeGreaterThan(firstMs - 100);
    links[0].close();
    await expect.poll(() => other.isClaimed(id, query), { timeout: 15_000 }).toBe(false);
    slow.release();
  });

  it('are shared with no other instance while Redis is unreachable', async () => {
    await using own = await startRedis();
    const bodies = redisBodies(await linkTo(own), 'away');
    await own.kill();
    const place = await bodies.open(id, query);
    expect(place).toMatchObject({ cached: null, hasClaim: true });
    place.write(bodyOf('{}'));
    place.release();
    bodies.clear();
    expect(await bodies.isClaimed(id, query)).toBe(false);
  });
});
