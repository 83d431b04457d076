import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { Limiter } from '../../src/upstream/rate-limit/limiter.js';
import { RequestQueue } from '../../src/upstream/rate-limit/request-queue.js';
import type { Priority } from '../../src/upstream/read/read.js';

class Refused extends Error {
  readonly readyInMs: number;
  constructor(readyInMs: number) {
    super('refused');
    this.readyInMs = readyInMs;
  }
}

interface Settled {
  readonly name: string;
  readonly atMs: number;
  readonly waitedMs: number;
  readonly granted: boolean;
  readonly error: unknown;
}

/** A line whose requests are answered 50 ms after they are sent. */
function lineOf({ perMinute = 60, burst = 20, perDay = null as number | null } = {}) {
  const clock = new ManualClock(0);
  const limiter = new Limiter(clock, { perMinute, burst, perDay });
  const line = new RequestQueue(clock, limiter, (readyInMs) => new Refused(readyInMs));
  const settled: Settled[] = [];
  const ask = (
    name: string,
    {
      priority = 'query' as Priority,
      operationKey = {} as object,
      maxWaitMs = 5_000,
      signal = new AbortController().signal,
    } = {},
  ) => {
    const askedMs = clock.now();
    const settle = (granted: boolean, error: unknown) => {
      const atMs = clock.now();
      settled.push({ name, atMs, waitedMs: atMs - askedMs, granted, error });
    };
    const place = line.join({ priority, operationKey, maxWaitMs, signal });
    place.granted.then(
      (spent) => {
        settle(true, undefined);
        clock.timer(50, () => {
          spent.answered();
          line.serve();
        });
      },
      (error) => settle(false, error),
    );
    return place;
  };
  const drain = async () => {
    for (let i = 0; i < 20; i++) ask(`drain ${i}`, { priority: 'feed' });
    await clock.advance(100);
    settled.length = 0;
  };
  const names = () => settled.filter(({ granted }) => granted).map(({ name }) => name);
  return { clock, limiter, line, ask, settled, names, drain };
}

describe('the request queue', () => {
  it('lets a burst through at once and the rest as the budget allows', async () => {
    const { clock, ask, settled } = lineOf();
    for (let i = 0; i < 22; i++) ask(`${i}`);
    await clock.advance(0);
    expect(settled).toHaveLength(20);
    await clock.advance(5_000);
    expect(settled.filter(({ granted }) => granted)).toHaveLength(22);
  });

  it('serves queries before feeds before the background', async () => {
    const { clock, ask, names, drain } = lineOf();
    await drain();
    ask('background', { priority: 'background', maxWaitMs: 120_000 });
    ask('feed', { priority: 'feed', maxWaitMs: 60_000 });
    ask('query', { maxWaitMs: 60_000 });
    await clock.advance(120_000);
    expect(names()).toEqual(['query', 'feed', 'background']);
  });

  it('gives a feed at least one request in five while queries never stop coming', async () => {
    const { clock, ask, settled } = lineOf();
    for (let second = 0; second < 600; second++) {
      for (let i = 0; i < 3; i++) ask('query');
      if (second % 3 === 0) ask('feed', { priority: 'feed', maxWaitMs: 30_000 });
      await clock.advance(1_000);
    }
    // In the first minute there is a burst to give away before any feed has asked.
    const granted = settled.filter((one) => one.granted && one.atMs > 60_000);
    const feeds = granted.filter(({ name }) => name === 'feed');
    expect(feeds.length / granted.length).toBeGreaterThanOrEqual(0.2);
  });

  it('refuses no poll of a feed that asks again only when it was answered, however many queries come', async () => {
    const { clock, ask, settled } = lineOf();
    const poll = () => {
      const { granted } = ask('feed', { priority: 'feed', maxWaitMs: 30_000 });
      granted.catch(() => undefined).finally(() => clock.timer(3_000, poll));
    };
    poll();
    for (let second = 0; second < 600; second++) {
      for (let i = 0; i < 5; i++) ask('query');
      await clock.advance(1_000);
    }
    const feeds = settled.filter(({ name }) => name === 'feed');
    expect(feeds.length).toBeGreaterThan(80);
    for (const { granted, waitedMs } of feeds) {
      expect(granted).toBe(true);
      expect(waitedMs).toBeLessThan(10_000);
    }
  });

  it('gives queries four requests in five while feeds never stop asking', async () => {
    const { clock, ask, settled } = lineOf();
    for (let second = 0; second < 600; second++) {
      for (let i = 0; i < 5; i++) ask('feed', { priority: 'feed' });
      for (let i = 0; i < 3; i++) ask('query');
      await clock.advance(1_000);
    }
    const granted = settled.filter((one) => one.granted);
    expect(granted.filter(({ name }) => name === 'query').length / granted.length).toBeGreaterThan(0.75);
  });

  it('does not let an operation with a hundred reads push back ten with one each', async () => {
    const { clock, ask, names, drain } = lineOf({ perMinute: 600, burst: 20 });
    await drain();
    const heavy = {};
    for (let i = 0; i < 100; i++) ask('heavy', { operationKey: heavy, maxWaitMs: 60_000 });
    for (let i = 0; i < 10; i++) ask('light', { maxWaitMs: 60_000 });
    await clock.advance(30_000);
    expect(names().lastIndexOf('light')).toBeLessThanOrEqual(11);
    expect(names()).toHaveLength(110);
  });

  it('refuses at once those who would wait too long, with the seconds to wait', async () => {
    const { clock, ask, settled, drain } = lineOf();
    await drain();
    for (let i = 0; i < 30; i++) ask(`${i}`);
    await clock.advance(0);
    expect(settled.length).toBeGreaterThan(20);
    for (const { error, waitedMs } of settled) {
      expect(waitedMs).toBe(0);
      expect(error).toBeInstanceOf(Refused);
      expect((error as Refused).readyInMs).toBeGreaterThan(5_000);
    }
  });

  it('keeps the background from the half of the burst that queries may need at any moment', async () => {
    const { clock, ask, names } = lineOf();
    for (let i = 0; i < 40; i++) ask('background', { priority: 'background', maxWaitMs: 600_000 });
    const queries = () => names().filter((name) => name === 'query').length;
    for (let i = 0; i < 10; i++) {
      await clock.advance(7_000);
      const before = queries();
      for (let query = 0; query < 9; query++) ask('query');
      await clock.advance(0);
      expect(queries() - before).toBe(9);
      await clock.advance(60_000);
    }
    expect(names().filter((name) => name === 'background')).toHaveLength(40);
  });

  it('lets the background have one in ten while queries and feeds never stop coming', async () => {
    const { clock, ask, settled } = lineOf();
    for (let second = 0; second < 600; second++) {
      for (let i = 0; i < 3; i++) ask('query');
      ask('feed', { priority: 'feed', maxWaitMs: 30_000 });
      if (second % 5 === 0) ask('background', { priority: 'background', maxWaitMs: 60_000 });
      await clock.advance(1_000);
    }
    const granted = settled.filter((one) => one.granted && one.atMs > 60_000);
    const share = (name: string) => granted.filter((one) => one.name === name).length / granted.length;
    expect(share('background')).toBeCloseTo(0.1);
    expect(share('feed')).toBeGreaterThanOrEqual(0.199);
    expect(share('query')).toBeGreaterThan(0.65);
  });

  it('is not held up by a background that has no more of the day', async () => {
    const { clock, ask, names } = lineOf({ perMinute: 600, burst: 20, perDay: 100 });
    for (let i = 0; i < 55; i++) ask('query', { maxWaitMs: 60_000 });
    await clock.advance(20_000);
    ask('background', { priority: 'background', maxWaitMs: 60_000 });
    for (let i = 0; i < 40; i++) ask('late', { maxWaitMs: 60_000 });
    await clock.advance(60_000);
    expect(names().filter((name) => name === 'late')).toHaveLength(40);
    expect(names()).not.toContain('background');
  });

  it('frees the place in the queue of one who leaves, and rejects with the reason', async () => {
    const { clock, ask, settled, line, drain } = lineOf();
    await drain();
    const leaving = new AbortController();
    ask('leaves', { signal: leaving.signal });
    ask('stays');
    const reason = new Error('gone');
    leaving.abort(reason);
    await clock.advance(1_400);
    expect(settled).toMatchObject([
      { name: 'leaves', granted: false, error: reason },
      { name: 'stays', granted: true },
    ]);
    expect(line.waiting).toEqual({ query: 0, feed: 0, background: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not let anyone in who has left before', async () => {
    const { clock, ask, settled, limiter } = lineOf();
    ask('late', { signal: AbortSignal.abort(new Error('gone')) });
    await clock.advance(0);
    expect(settled).toMatchObject([{ granted: false }]);
    expect(limiter.remaining).toBe(20);
  });

  it('moves one up for whom someone more urgent waits too', async () => {
    const { clock, ask, names, drain } = lineOf();
    await drain();
    const place = ask('raised', { priority: 'background', maxWaitMs: 60_000 });
    ask('feed', { priority: 'feed', maxWaitMs: 60_000 });
    place.raise('query', {}, 5_000);
    await clock.advance(20_000);
    expect(names()).toEqual(['raised', 'feed']);
  });

  it('does not keep the more urgent one longer than they wait', async () => {
    const { clock, limiter, ask, settled } = lineOf();
    limiter.refuse(50_000);
    const place = ask('background', { priority: 'background', maxWaitMs: 60_000 });
    await clock.advance(1_000);
    place.raise('query', {}, 5_000);
    await clock.advance(5_000);
    expect(settled).toMatchObject([{ granted: false, waitedMs: 6_000 }]);
  });

  it('sends nothing while upstream has asked for silence, refuses who cannot outwait it, and restarts one by one', async () => {
    const { clock, limiter, line, ask, settled, names } = lineOf();
    for (let i = 0; i < 24; i++) ask(`${i}`);
    await clock.advance(10);
    limiter.refuse(7_000);
    line.refuseHopeless();
    await clock.advance(0);
    expect(settled.filter(({ error }) => error instanceof Refused && error.readyInMs > 6_900)).toHaveLength(
      4,
    );
    const before = names().length;
    for (let second = 0; second < 6; second++) {
      ask(`patient ${second}`, { maxWaitMs: 60_000 });
      await clock.advance(1_000);
    }
    expect(names().length).toBe(before);
    await clock.advance(2_000);
    expect(names().length - before).toBeLessThanOrEqual(2);
    await clock.advance(10_000);
    expect(names().length - before).toBe(6);
  });

  it('leaves a fifth of the day to a feed that listens, and all of it to queries when none does', async () => {
    const withFeed = lineOf({ perMinute: 1_000, burst: 300, perDay: 100 });
    withFeed.ask('feed', { priority: 'feed' });
    for (let i = 0; i < 100; i++) withFeed.ask('query');
    for (let i = 0; i < 19; i++) withFeed.ask('feed', { priority: 'feed' });
    await withFeed.clock.advance(0);
    expect(withFeed.names().filter((name) => name === 'query')).toHaveLength(79);
    expect(withFeed.names().filter((name) => name === 'feed')).toHaveLength(20);
    const without = lineOf({ perMinute: 1_000, burst: 300, perDay: 100 });
    for (let i = 0; i < 110; i++) without.ask('query');
    await without.clock.advance(0);
    expect(without.names()).toHaveLength(100);
  });

  it('keeps everyone to the wait they agreed to, whoever else comes', async () => {
    const asks = fc.array(
      fc.record({
        pauseMs: fc.integer({ min: 0, max: 2_000 }),
        count: fc.integer({ min: 1, max: 30 }),
        operation: fc.integer({ min: 0, max: 5 }),
        priority: fc.constantFrom<Priority>('query', 'feed', 'background'),
        leavesAfterMs: fc.option(fc.integer({ min: 0, max: 4_000 })),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(asks, async (plan) => {
        const { clock, ask, settled, line } = lineOf();
        const turns = Array.from({ length: 6 }, () => ({}));
        let asked = 0;
        for (const { pauseMs, count, operation, priority, leavesAfterMs } of plan) {
          await clock.advance(pauseMs);
          const leaving = new AbortController();
          if (leavesAfterMs !== null) clock.timer(leavesAfterMs, () => leaving.abort(new Error('gone')));
          for (let i = 0; i < count; i++) {
            ask(priority, { priority, operationKey: turns[operation] ?? {}, signal: leaving.signal });
            asked++;
          }
        }
        await clock.advance(5_000);
        expect(settled).toHaveLength(asked);
        for (const { waitedMs } of settled) expect(waitedMs).toBeLessThanOrEqual(5_000);
        expect(line.waiting).toEqual({ query: 0, feed: 0, background: 0 });
        await clock.advance(60_000);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
