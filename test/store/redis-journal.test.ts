import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisJournal } from '../../src/store/redis-journal.js';
import type { RedisLink } from '../../src/store/redis-link.js';
import type { JournalCount, JournalEntry } from '../../src/store/store.js';
import { noRedis, startRedis, type TestRedis } from '../support/redis.js';
import { isUp, linkTo } from './links.js';

if (noRedis) console.warn(`The journal in Redis: ${noRedis}`);

/** A journal and what was heard of it. */
function journalOn(link: RedisLink, name: string) {
  const journal = redisJournal(link, name);
  const entries: JournalEntry[] = [];
  const counts: JournalCount[][] = [];
  journal.onEntry((entry) => entries.push(entry));
  journal.onCount((told) => counts.push([...told]));
  return {
    journal,
    entries,
    heard: () => entries.map(({ text }) => text),
    /** Of the day, as told last. */
    counted: () => counts.at(-1)?.reduce((sum, { count }) => sum + count, 0),
    enter: async (text: string) => journal.enter(text),
  };
}

describe.skipIf(noRedis)(`the journal in Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
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

  it('takes an entry from whoever has heard all others, and tells the rest first', async () => {
    const { one, other } = await two();
    expect(await one.enter('a')).toBe('entered');
    expect(await other.enter('b')).toBe('unheard');
    expect(other.heard()).toEqual(['a']);
    expect(await other.enter('b')).toBe('entered');
    expect(await one.enter('c')).toBe('unheard');
    expect(await one.enter('c')).toBe('entered');
    expect(one.heard()).toEqual(['b']);
    expect(await other.enter('d')).toBe('unheard');
    expect(other.heard()).toEqual(['a', 'c']);
  });

  it('takes a burst of one instance whole, in the order it was asked for', async () => {
    const { one, other } = await two();
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`);
    const entered = await Promise.all(texts.map((text) => one.enter(text)));
    expect(new Set(entered)).toEqual(new Set(['entered']));
    expect(await other.enter('late')).toBe('unheard');
    expect(other.heard()).toEqual(texts);
  });

  it('takes nothing that was asked for before the entries of others were heard', async () => {
    const { one, other } = await two();
    await one.enter('a');
    await other.enter('b');
    await one.enter('c');
    const first = other.enter('d');
    // The first is on its way, and hears of `c`; the second was decided on without it.
    await new Promise(setImmediate);
    const second = other.enter('e');
    expect(await Promise.all([first, second])).toEqual(['unheard', 'unheard']);
    expect(await other.enter('d')).toBe('entered');
  });

  it('is heard in the same order by all, however many enter at the same time', async () => {
    const name = newName();
    const all = await Promise.all(
      Array.from({ length: 5 }, async () => journalOn(await linkTo(redis), name)),
    );
    await Promise.all(
      all.map(async (one, index) => {
        for (let left = 20; left > 0; ) if ((await one.enter(`${index} ${left}`)) === 'entered') left--;
      }),
    );
    const late = journalOn(await linkTo(redis), name);
    await late.enter('last');
    expect(late.heard()).toHaveLength(100);
    for (const [index, one] of all.entries()) {
      await one.enter('last');
      const others = late.heard().filter((text) => !text.startsWith(`${index} `));
      expect(one.heard().filter((text) => text !== 'last')).toEqual(others);
    }
  });

  it('takes what is told in any case, and tells what was not heard at the same time', async () => {
    const { one, other } = await two();
    await one.enter('a');
    other.journal.tell('b');
    await expect.poll(() => other.heard()).toEqual(['a']);
    expect(await one.enter('c')).toBe('unheard');
    expect(one.heard()).toEqual(['b']);
  });

  it('has the times of entries on the clock of who hears of them, and never too early', async () => {
    const name = newName();
    const hourMs = 3_600_000;
    const behind = journalOn(await linkTo(redis, -hourMs), name);
    const ahead = journalOn(await linkTo(redis, hourMs), name);
    const beforeMs = Date.now();
    await behind.enter('a');
    await ahead.enter('b');
    const afterMs = Date.now();
    const atMs = ahead.entries[0]?.atMs ?? 0;
    // Redis has whole milliseconds.
    expect(atMs - hourMs).toBeGreaterThanOrEqual(beforeMs - 1);
    expect(atMs - hourMs).toBeLessThanOrEqual(afterMs + 1);
  });

  it('tells one that comes later how many were sent in all, but only the last minute one by one', async () => {
    const { name, links, one } = await two();
    await one.enter('a');
    one.journal.tell('many', { counts: 500 });
    one.journal.tell('none');
    await one.enter('b');
    const late = journalOn(links[1], name);
    expect(await late.enter('c')).toBe('unheard');
    expect(late.counted()).toBe(502);
    // What the one before it had written on the same connection is news to the next.
    const again = journalOn(links[0], name);
    await again.enter('d');
    expect(again.heard()).toEqual(['a', 'many', 'none', 'b']);
  });

  it('tells one that comes later what stands, and of several that which stands for longest', async () => {
    const { name, one, links } = await two();
    one.journal.tell('long', { standsMs: 60_000 });
    one.journal.tell('short', { standsMs: 1_000 });
    await one.enter('a');
    await links[0].run(
      `redis.call('DEL', KEYS[1]) return {redis.call('TIME')}`,
      [links[0].key(name, 'journal')],
      [],
    );
    const late = journalOn(links[1], name);
    expect(await late.enter('b')).toBe('unheard');
    expect(late.heard()).toEqual(['long']);
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
    expect(await one.enter('c')).toBe('unheard');
    expect(await one.enter('c')).toBe('entered');
    await link.run(`redis.call('FLUSHALL') return {redis.call('TIME')}`, [], []);
    expect(await other.enter('d')).toBe('entered');
    expect(await one.enter('e')).toBe('unheard');
    expect(one.heard()).toEqual(['ahead', 'd']);
    expect(await one.enter('e')).toBe('entered');
  });

  it('says whether the others can be told', async () => {
    await using gone = await startRedis();
    const { journal } = journalOn(await linkTo(gone), newName());
    expect(await journal.tell('one')).toBe(true);
    gone.pause();
    expect(await journal.tell('two')).toBe(false);
    expect(await journal.tell('three')).toBe(false);
    gone.resume();
  });

  it('lets each go alone while Redis is away, and then tells what the others have entered meanwhile', async () => {
    await using own = await startRedis();
    const links = [await linkTo(own), await linkTo(own)] as const;
    const [one, other] = [journalOn(links[0], 'away'), journalOn(links[1], 'away')];
    expect(await one.enter('a')).toBe('entered');
    own.pause();
    const hanging = one.enter('b');
    expect(await hanging).toBe('alone');
    // At once, rather than after another time-out.
    expect(one.journal.enter('c')).toBe('alone');
    await own.kill();
    await isUp(links[1], false);
    await own.restart();
    await Promise.all(links.map((link) => isUp(link)));
    expect(await other.enter('d')).toBe('entered');
    expect(await one.enter('e')).toBe('unheard');
    expect(one.heard()).toEqual(['d']);
  });

  it('does not tell one of what it has entered itself without hearing that it had', async () => {
    await using own = await startRedis();
    const links = [await linkTo(own), await linkTo(own)] as const;
    const [one, other] = [journalOn(links[0], 'hung'), journalOn(links[1], 'hung')];
    expect(await one.enter('a')).toBe('entered');
    own.pause();
    expect(await one.enter('b')).toBe('alone');
    own.resume();
    await Promise.all(links.map((link) => isUp(link)));
    await other.enter('c');
    expect(other.heard()).toEqual(['a', 'b']);
    expect(await one.enter('d')).toBe('entered');
    expect(one.heard()).toEqual([]);
  });
});
