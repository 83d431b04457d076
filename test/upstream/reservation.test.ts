import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { Limiter } from '../../src/upstream/rate-limit/limiter.js';
import { RequestQueue } from '../../src/upstream/rate-limit/request-queue.js';
import type { Priority } from '../../src/upstream/read/read.js';

const minuteMs = 60_000;

interface Scene {
  readonly perMinute: number;
  readonly burst: number;
  readonly answerMs: number;
  /** From the start of one poll to the start of the next, as far as it is answered by then; null without a feed. */
  readonly pollEveryMs: number | null;
  /** From then on more queries than the budget can pay never stop coming. */
  readonly queriesFromMs: number;
  readonly minutes: number;
}

/** The times at which each priority was served. */
async function play({ perMinute, burst, answerMs, pollEveryMs, queriesFromMs, minutes }: Scene) {
  const clock = new ManualClock();
  const startMs = clock.now();
  const line = new RequestQueue(
    clock,
    new Limiter(clock, { perMinute, burst, perDay: null }),
    () => new Error('Refused'),
  );
  const served: Record<Priority, number[]> = { query: [], feed: [], background: [] };
  const { signal } = new AbortController();
  const ask = (priority: Priority, maxWaitMs: number, answered: () => void) =>
    line.join({ priority, operationKey: {}, maxWaitMs, signal }).granted.then(
      (spent) => {
        served[priority].push(clock.now() - startMs);
        clock.timer(answerMs, () => {
          spent.answered();
          line.serve();
          answered();
        });
      },
      () => void clock.timer(1_000, answered),
    );
  const poll = (everyMs: number) => {
    const startedMs = clock.now();
    void ask('feed', 30_000, () => {
      clock.timer(Math.max(startedMs + everyMs - clock.now(), everyMs / 4), () => poll(everyMs));
    });
  };
  const query = () => void ask('query', 5_000, query);
  if (pollEveryMs !== null) poll(pollEveryMs);
  clock.timer(queriesFromMs, () => {
    for (let i = 0; i < burst + 10; i++) query();
  });
  await clock.advance(minutes * minuteMs);
  return served;
}

/** The fewest and the most in any minute that lies within the times that were looked at. */
function inAnyMinute(timesMs: readonly number[], fromMs: number, toMs: number) {
  const starts = [fromMs, ...timesMs.flatMap((atMs) => [atMs - minuteMs, atMs, atMs + 1])];
  const counts = starts
    .filter((startMs) => startMs >= fromMs && startMs + minuteMs <= toMs)
    .map((startMs) => timesMs.filter((atMs) => atMs >= startMs && atMs < startMs + minuteMs).length);
  return { fewest: Math.min(...counts), most: Math.max(...counts) };
}

const runs = { numRuns: 8 };
const scenes = fc.integer({ min: 60, max: 120 }).chain((perMinute) =>
  fc.record({
    perMinute: fc.constant(perMinute),
    burst: fc.integer({ min: 1, max: perMinute }),
    answerMs: fc.integer({ min: 10, max: 500 }),
    queriesFromMs: fc.integer({ min: 0, max: 60_000 }),
  }),
);

describe('a feed that someone listens to', () => {
  it('gets 12 of 60 in any minute, whenever the queries come and however many', async () => {
    for (const queriesFromMs of [0, 1_000, 20_000, 70_000]) {
      const scene = { perMinute: 60, burst: 20, answerMs: 50, pollEveryMs: 3_000, queriesFromMs, minutes: 5 };
      const { feed } = await play(scene);
      expect(inAnyMinute(feed, 0, 5 * minuteMs).fewest).toBeGreaterThanOrEqual(12);
      const gaps = feed.slice(1).map((atMs, index) => atMs - (feed[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThan(8_000);
    }
  });

  it('gets a fifth of any budget in any minute', async () => {
    await fc.assert(
      fc.asyncProperty(scenes, async (scene) => {
        const share = Math.floor(scene.perMinute / 5);
        const { feed, query } = await play({ ...scene, pollEveryMs: (0.6 * minuteMs) / share, minutes: 3 });
        expect(inAnyMinute(feed, 0, 3 * minuteMs).fewest).toBeGreaterThanOrEqual(share);
        const all = [...feed, ...query].sort((a, b) => a - b);
        expect(inAnyMinute(all, 0, 3 * minuteMs).most).toBeLessThanOrEqual(scene.perMinute);
      }),
      { ...runs, examples: [[{ perMinute: 65, burst: 45, answerMs: 10, queriesFromMs: 0 }]] },
    );
  });

  it('leaves the rest to queries, however often it asks', async () => {
    await fc.assert(
      fc.asyncProperty(scenes, async (scene) => {
        const { feed, query } = await play({ ...scene, pollEveryMs: 1, minutes: 6 });
        // Whoever asks all the time had the whole of it before the queries came.
        const since = (times: readonly number[]) =>
          times.filter((atMs) => atMs >= scene.queriesFromMs + 2 * minuteMs).length;
        // A third, or what it is owed of a budget that answers are too slow for; and one or two at both ends.
        const minutes = 4 - scene.queriesFromMs / minuteMs;
        const owed = scene.perMinute * (13 / 60) * minutes;
        const third = (since(feed) + since(query)) / 3;
        expect(since(feed)).toBeLessThanOrEqual(Math.max(owed, third) + 3);
      }),
      { ...runs, examples: [[{ perMinute: 120, burst: 114, answerMs: 16, queriesFromMs: 59_989 }]] },
    );
  });

  it('leaves to queries what it does not use', async () => {
    await fc.assert(
      fc.asyncProperty(scenes, async (scene) => {
        const alone = await play({ ...scene, pollEveryMs: null, minutes: 3 });
        const shared = await play({ ...scene, pollEveryMs: 30_000, minutes: 3 });
        // Eight polls, and what was kept for more of them at the end.
        const missing = alone.query.length - shared.query.length;
        expect(missing).toBeLessThanOrEqual(8 + scene.perMinute / 5 + 2);
      }),
      runs,
    );
  });
});
