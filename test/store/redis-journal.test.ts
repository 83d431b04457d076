import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realClock } from '../../src/clock.js';
import { redisJournal } from '../../src/store/redis/journal.js';
import type { RedisLink } from '../../src/store/redis/link.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { listening } from './journals.js';
import { isUp, linkTo } from './links.js';

const journalOn = (link: RedisLink, name: string) => listening(redisJournal(link, name));

// What all stores promise of journals is in shared-journal.test.ts.
describe.skipIf(noRedis)(`the journal in Redis alone${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis;
  let names = 0;
  const newName = () => `journal ${names++}`;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  async function two() {
    const name = newName();
    const links = [await linkTo(redis), await linkTo(redis)] as const;
    return { name, links, one: journalOn(links[0], name), other: journalOn(links[1], name) };
  }

  it('has the times of entries on the clock of the reader, and never too early', async () => {
    const name = newName();
    const hourMs = 3_600_000;
    const behind = journalOn(await linkTo(redis, -hourMs), name);
    const ahead = journalOn(await linkTo(redis, hourMs), name);
    const beforeMs = realClock.now();
    await behind.enter('a');
    await ahead.enter('b');
    const afterMs = realClock.now();
    const atMs = ahead.entries[0]?.atMs ?? 0;
    // Redis has whole milliseconds.
    expect(atMs - hourMs).toBeGreaterThanOrEqual(beforeMs - 1);
    expect(atMs - hourMs).toBeLessThanOrEqual(afterMs + 1);
  });

  it('reports the standing entry to a later reader, and of several the one that stands for longest', async () => {
    const { name, one, links } = await two();
    one.journal.append('long', { standsMs: 60_000 });
    one.journal.append('short', { standsMs: 1_000 });
    await one.enter('a');
    await links[0].run(
      `redis.call('DEL', KEYS[1]) return {redis.call('TIME')}`,
      [links[0].key(name, 'journal')],
      [],
    );
    const late = journalOn(links[1], name);
    expect(await late.enter('b')).toBe('behind');
    expect(late.read()).toEqual(['long']);
    expect(await late.enter('b')).toBe('entered');
  });

  it('goes on in an empty Redis, also one whose clock is behind', async () => {
    const { name, links, one, other } = await two();
    await one.enter('a');
    await other.enter('b');
    const [link] = links;
    const future = `${Date.now() + 3_600_000}-0`;
    const ahead = `redis.call('XADD', KEYS[1], ARGV[1], 'writer', 'w', 'text', 'ahead') return {redis.call('TIME')}`;
    await link.run(ahead, [link.key(name, 'journal')], [future]);
    expect(await one.enter('c')).toBe('behind');
    expect(await one.enter('c')).toBe('entered');
    await link.run(`redis.call('FLUSHALL') return {redis.call('TIME')}`, [], []);
    expect(await other.enter('d')).toBe('entered');
    expect(await one.enter('e')).toBe('behind');
    expect(one.read()).toEqual(['ahead', 'd']);
    expect(await one.enter('e')).toBe('entered');
  });

  it('reports whether the other instances can read the entry', async () => {
    await using gone = await startRedis();
    const { journal } = journalOn(await linkTo(gone), newName());
    expect(await journal.append('one')).toBe(true);
    gone.pause();
    expect(await journal.append('two')).toBe(false);
    expect(await journal.append('three')).toBe(false);
    gone.resume();
  });

  it('is unshared while Redis is unreachable, and then reports what the others have entered meanwhile', async () => {
    await using own = await startRedis();
    const links = [await linkTo(own), await linkTo(own)] as const;
    const [one, other] = [journalOn(links[0], 'away'), journalOn(links[1], 'away')];
    expect(await one.enter('a')).toBe('entered');
    own.pause();
    const hanging = one.enter('b');
    expect(await hanging).toBe('unshared');
    // At once, rather than after another time-out.
    expect(one.journal.enter('c')).toBe('unshared');
    await own.kill();
    await isUp(links[1], false);
    await own.restart();
    await Promise.all(links.map((link) => isUp(link)));
    expect(await other.enter('d')).toBe('entered');
    expect(await one.enter('e')).toBe('behind');
    expect(one.read()).toEqual(['d']);
  });

  it('does not report to a writer its own entry whose acknowledgement was lost', async () => {
    await using own = await startRedis();
    const links = [await linkTo(own), await linkTo(own)] as const;
    const [one, other] = [journalOn(links[0], 'hung'), journalOn(links[1], 'hung')];
    expect(await one.enter('a')).toBe('entered');
    own.pause();
    expect(await one.enter('b')).toBe('unshared');
    own.resume();
    await Promise.all(links.map((link) => isUp(link)));
    await other.enter('c');
    expect(other.read()).toEqual(['a', 'b']);
    expect(await one.enter('d')).toBe('entered');
    expect(one.read()).toEqual([]);
  });
});
