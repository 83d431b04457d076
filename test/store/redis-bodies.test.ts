import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisBodies } from '../../src/store/redis-bodies.js';
import type { RedisLink } from '../../src/store/redis-link.js';
import type { SharedBodies, SharedBody } from '../../src/store/store.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { linkTo } from './links.js';

if (noRedis) console.warn(`Bodies in Redis: ${noRedis}`);

const id = '/v1/sensors?limit=500';
const query = 0;
const feed = 1;

const bodyOf = (text: string, readAtMs = Date.now()) => ({
  body: Buffer.from(text),
  readAtMs,
  version: null,
});

describe.skipIf(noRedis)(`bodies in Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
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

  /** As another instance sees it; asks for nothing. */
  async function seen(bodies: SharedBodies, of = id) {
    const place = await bodies.open(of, query);
    place.leave();
    return place.kept;
  }

  async function keep(bodies: SharedBodies, body: SharedBody, of = id) {
    const place = await bodies.open(of, query);
    place.keep(body);
    place.leave();
  }

  it('are there for another instance as upstream sent them, short or long', async () => {
    for (const text of ['{}', JSON.stringify(Array.from({ length: 5_000 }, (_, device) => ({ device })))]) {
      const { one, other } = await two();
      expect(await seen(one)).toBeNull();
      await keep(one, { ...bodyOf(text), version: 'as listed' });
      await expect.poll(async () => (await seen(other))?.body?.toString()).toBe(text);
      expect((await seen(other))?.version).toBe('as listed');
      expect(await seen(other, '/v1/other')).toBeNull();
    }
  });

  it('take less room than they have bytes', async () => {
    const { name, links, one, other } = await two();
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, device) => ({ device })));
    await keep(one, bodyOf(text));
    await expect.poll(() => seen(other)).not.toBeNull();
    const length = `return {redis.call('TIME'), redis.call('STRLEN', KEYS[1])}`;
    const [bytes] = await links[0].run(length, [links[0].key(name, `body:${id}`)], []);
    expect(bytes).toBeLessThan(text.length / 3);
  });

  it('can say that upstream has nothing there', async () => {
    const { one, other } = await two();
    await keep(one, { body: null, readAtMs: Date.now(), version: null });
    await expect.poll(() => seen(other)).toMatchObject({ body: null });
  });

  it('have the time of their reading on the clock of who sees them, and never too late', async () => {
    const hourMs = 3_600_000;
    const behind = redisBodies(await linkTo(redis, -hourMs), 'clocks');
    const ahead = redisBodies(await linkTo(redis, hourMs), 'clocks');
    const readAtMs = Date.now() - 10_000;
    await keep(behind, bodyOf('{}', readAtMs - hourMs));
    await expect.poll(() => seen(ahead)).not.toBeNull();
    const seenAtMs = ((await seen(ahead))?.readAtMs ?? 0) - hourMs;
    expect(seenAtMs).toBeLessThanOrEqual(readAtMs + 1);
    expect(seenAtMs).toBeGreaterThan(readAtMs - 2_000);
  });

  it('that are over 4 MiB are not kept', async () => {
    const { one, other } = await two();
    await keep(one, bodyOf('first'));
    const place = await one.open(id, query);
    place.keep(bodyOf('x'.repeat(4 * 1024 * 1024 + 1)));
    place.leave();
    await expect.poll(() => other.isAsked(id, query)).toBe(false);
    expect((await seen(other))?.body?.toString()).toBe('first');
  });

  it('go all at once for all instances, with those that are on their way', async () => {
    const { one, other } = await two();
    await keep(one, bodyOf('old'));
    await expect.poll(() => seen(other)).not.toBeNull();
    const onItsWay = await one.open(id, query);
    other.clear();
    await expect.poll(() => seen(one)).toBeNull();
    await keep(other, bodyOf('new'));
    await expect.poll(async () => (await seen(one))?.body?.toString()).toBe('new');
    onItsWay.keep(bodyOf('late'));
    onItsWay.leave();
    // What is asked for on the same connection after it is answered after it.
    await keep(one, { ...bodyOf('{}'), body: null }, '/v1/after');
    await expect.poll(() => seen(other, '/v1/after')).not.toBeNull();
    expect((await seen(one))?.body?.toString()).toBe('new');
  });

  it('are not seen again when Redis has dropped what tells the old from the new', async () => {
    const { name, links, one, other } = await two();
    await keep(one, bodyOf('old'));
    await expect.poll(() => seen(other)).not.toBeNull();
    const [link] = links;
    await link.run(
      `redis.call('DEL', KEYS[1]) return {redis.call('TIME')}`,
      [link.key(name, 'generation')],
      [],
    );
    expect(await seen(other)).toBeNull();
  });

  it('can be forgotten one by one', async () => {
    const { one, other } = await two();
    await keep(one, bodyOf('there'));
    await expect.poll(() => seen(other)).not.toBeNull();
    const place = await other.open(id, query);
    place.forget();
    place.leave();
    await expect.poll(() => seen(one)).toBeNull();
  });

  it('are asked for by one instance at a time, unless another is more urgent', async () => {
    const { one, other } = await two();
    const polling = await one.open(id, feed);
    expect(polling.isOurs).toBe(true);
    expect((await other.open(id, feed)).isOurs).toBe(false);
    expect(await other.isAsked(id, feed)).toBe(true);
    expect(await other.isAsked(id, query)).toBe(false);
    const asking = await other.open(id, query);
    expect(asking.isOurs).toBe(true);
    // It does not end what was begun by the other.
    polling.leave();
    expect(await one.isAsked(id, query)).toBe(true);
    asking.keep(bodyOf('answer'));
    asking.leave();
    await expect.poll(() => one.isAsked(id, query)).toBe(false);
    expect((await seen(one))?.body?.toString()).toBe('answer');
  });

  it('are asked for by nobody besides, once they are on their way', async () => {
    const { one, other } = await two();
    const polling = await one.open(id, feed);
    polling.sending();
    await expect.poll(() => other.isAsked(id, query)).toBe(true);
    expect((await other.open(id, query)).isOurs).toBe(false);
    polling.leave();
    await expect.poll(() => other.isAsked(id, query)).toBe(false);
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
    await expect.poll(() => other.isAsked(id, query), { timeout: 15_000 }).toBe(false);
    slow.leave();
  });

  it("are nobody else's while Redis is away", async () => {
    await using own = await startRedis();
    const bodies = redisBodies(await linkTo(own), 'away');
    await own.kill();
    const place = await bodies.open(id, query);
    expect(place).toMatchObject({ kept: null, isOurs: true });
    place.keep(bodyOf('{}'));
    place.leave();
    bodies.clear();
    expect(await bodies.isAsked(id, query)).toBe(false);
  });
});
