import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { earliest, type ForwardMs, latest, ManualClock, plus, realClock } from '../../src/clock.js';
import { Limiter, type Permit, type RateLimitSettings } from '../../src/upstream/rate-limit/limiter.js';
import { forward } from '../support/moments.js';

const project: RateLimitSettings = { perMinute: 60, burst: 20, perDay: null };

interface Step {
  /** Idle before it. */
  readonly pauseMs: number;
  /** Wanted at once. */
  readonly count: number;
  /** Between sending and being counted, and from there to the answer. */
  readonly onTheWayMs: number;
  readonly backMs: number;
}

const steps = fc.array(
  fc.record({
    pauseMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 3_000 }),
      fc.integer({ min: 0, max: 90_000 }),
    ),
    count: fc.integer({ min: 1, max: 40 }),
    onTheWayMs: fc.integer({ min: 0, max: 2_000 }),
    backMs: fc.integer({ min: 0, max: 8_000 }),
  }),
  { minLength: 1, maxLength: 30 },
);

const settings = fc.record({
  perMinute: fc.integer({ min: 2, max: 300 }),
  burst: fc.integer({ min: 1, max: 60 }),
  perDay: fc.constant(null),
});

/** Sends as early as permitted, and gives the moments at which upstream counts. */
function countedBy(chosen: RateLimitSettings, plan: readonly Step[]): number[] {
  let nowMs = forward(0);
  const limiter = new Limiter({ ...realClock, now: () => nowMs }, chosen);
  const answers: { readonly atMs: ForwardMs; readonly spent: Permit }[] = [];
  /** Moves on, but only up to the next answer: it can make the next request ready sooner. */
  const moveTo = (untilMs: ForwardMs) => {
    const next = answers[0];
    nowMs = latest(nowMs, earliest(untilMs, next?.atMs ?? untilMs));
    while (answers[0] && answers[0].atMs <= nowMs) answers.shift()?.spent.answered();
  };
  const counted: number[] = [];
  for (const step of plan) {
    const untilMs = plus(nowMs, step.pauseMs);
    while (nowMs < untilMs) moveTo(untilMs);
    for (let i = 0; i < step.count; i++) {
      for (let readyMs = limiter.readyAtMs(); readyMs > nowMs; readyMs = limiter.readyAtMs()) moveTo(readyMs);
      const spent = limiter.spend();
      counted.push(nowMs + step.onTheWayMs);
      answers.push({ atMs: plus(nowMs, step.onTheWayMs + step.backMs), spent });
      answers.sort((a, b) => a.atMs - b.atMs);
    }
  }
  return counted.sort((a, b) => a - b);
}

describe('a budget', () => {
  it('is never exceeded, whether upstream counts by bucket, sliding or fixed window', () => {
    fc.assert(
      fc.property(settings, steps, fc.integer({ min: 0, max: 60_000 }), (chosen, plan, phaseMs) => {
        const counted = countedBy(chosen, plan);
        const burst = Math.min(chosen.burst, chosen.perMinute);
        let tokens = burst;
        let atMs = 0;
        const fixed = new Map<number, number>();
        for (const [index, ms] of counted.entries()) {
          tokens = Math.min(burst, tokens + ((ms - atMs) * chosen.perMinute) / 60_000);
          atMs = ms;
          expect(tokens, 'a bucket of `burst` that gains `perMinute`').toBeGreaterThanOrEqual(1);
          tokens--;
          const first = counted[index - chosen.perMinute];
          if (first !== undefined) expect(ms - first, 'a sliding minute').toBeGreaterThan(60_000);
          const window = Math.floor((ms + phaseMs) / 60_000);
          fixed.set(window, (fixed.get(window) ?? 0) + 1);
          expect(fixed.get(window), 'a fixed minute').toBeLessThanOrEqual(chosen.perMinute);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives the whole burst at once and nearly all of every minute to those who keep asking', () => {
    const counted = countedBy(project, [{ pauseMs: 0, count: 600, onTheWayMs: 30, backMs: 30 }]);
    expect(counted.filter((ms) => ms < 1_000)).toHaveLength(20);
    const lastMs = counted.at(-1) ?? 0;
    expect(600 / (lastMs / 60_000)).toBeGreaterThan(58);
  });

  it('never stands still for seconds while it is asked for more than it has', () => {
    const counted = countedBy(project, [{ pauseMs: 0, count: 300, onTheWayMs: 30, backMs: 30 }]);
    const gaps = counted.slice(1).map((ms, index) => ms - (counted[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(2_500);
  });

  it('is whole again after a minute of rest', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    for (let i = 0; i < 20; i++) limiter.spend().answered();
    expect(limiter.remaining).toBe(0);
    expect(limiter.resetAtMs).toBeGreaterThan(clock.now());
    await clock.advance(61_000);
    expect(limiter.remaining).toBe(20);
    expect(limiter.resetAtMs).toBeNull();
  });

  it('counts an answered request from its answer, and one without from two seconds after its sending', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, { perMinute: 60, burst: 1, perDay: null });
    const spent = limiter.spend();
    const atTheLatestMs = limiter.readyAtMs() - clock.now();
    expect(atTheLatestMs).toBeGreaterThan(3_000);
    expect(limiter.readyAtMs(1, { hopeful: true })).toBeCloseTo(limiter.readyAtMs() - 2_000);
    await clock.advance(100);
    spent.answered();
    expect(limiter.readyAtMs() - clock.now()).toBeCloseTo(atTheLatestMs - 2_000);
  });

  it('does not stand still for an hour when the clock of the machine is set back by one', () => {
    let nowMs = forward(10_000_000);
    const limiter = new Limiter({ ...realClock, now: () => nowMs }, project);
    for (let i = 0; i < 20; i++) limiter.spend().answered();
    nowMs = plus(nowMs, -3_600_000);
    limiter.spend().answered();
    expect(limiter.readyAtMs() - nowMs).toBeLessThan(5_000);
  });

  it('takes back what was not sent', () => {
    const limiter = new Limiter(new ManualClock(), { perMinute: 60, burst: 20, perDay: 100 });
    const spent = limiter.spend();
    expect([limiter.remaining, limiter.remainingToday]).toEqual([19, 99]);
    spent.giveBack();
    expect([limiter.remaining, limiter.remainingToday]).toEqual([20, 100]);
  });
});

describe('a budget of a day', () => {
  it('is never exceeded in any 24 hours, and comes back as its requests grow a day old', async () => {
    const clock = new ManualClock();
    const startMs = clock.now();
    const limiter = new Limiter(clock, { perMinute: 60, burst: 20, perDay: 100 });
    const sent: number[] = [];
    for (let i = 0; i < 350; i++) {
      while (limiter.readyAtMs() > clock.now()) await clock.advance(limiter.readyAtMs() - clock.now());
      limiter.spend().answered();
      sent.push(clock.now());
      await clock.advance(i % 7 === 0 ? 3_600_000 : 500);
    }
    for (const [index, ms] of sent.entries()) {
      const first = sent[index - 100];
      if (first !== undefined) expect(ms - first).toBeGreaterThanOrEqual(86_400_000);
    }
    expect(sent.at(-1)).toBeLessThan(startMs + 86_400_000 * 4);
  });

  it('can be left to others in part', () => {
    const limiter = new Limiter(new ManualClock(), { perMinute: 60, burst: 20, perDay: 10 });
    for (let i = 0; i < 8; i++) limiter.spend().answered();
    expect(limiter.readyAtMs(1, { reservedToday: 1 })).toBe(limiter.readyAtMs());
    expect(limiter.readyAtMs(1, { reservedToday: 2 })).toBeGreaterThan(limiter.readyAtMs() + 3_600_000);
  });
});

describe('after a refusal', () => {
  it('nothing is ready for as long as upstream said, and then one by one', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    limiter.refuse(7_000);
    expect(limiter.retryAfterUntilMs).toBe(clock.now() + 7_000);
    expect(limiter.readyAtMs()).toBe(clock.now() + 7_000);
    await clock.advance(7_000);
    const startMs = clock.now();
    for (let i = 0; i < 20; i++) {
      await clock.advance(limiter.readyAtMs() - clock.now());
      limiter.spend().answered();
    }
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(19_000);
  });

  it('a shorter one does not shorten it', () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    limiter.refuse(30_000);
    expect(limiter.refuse(1_000)).toBe(30_000);
  });

  it('that names no time waits seconds, and twice as long each time it is repeated', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      waits.push(limiter.refuse(null));
      // Those that were refused together are one refusal.
      limiter.refuse(null);
      await clock.advance(limiter.readyAtMs() - clock.now());
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    await clock.advance(120_000);
    expect(limiter.refuse(null)).toBe(5_000);
  });
});

describe("upstream's own count", () => {
  it('stops what ours would permit, until it says that it is whole again', () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    const spent = limiter.spend();
    spent.answered();
    limiter.observe(spent, { remaining: 2, resetAtMs: plus(clock.now(), 30_000) });
    expect(limiter.remaining).toBe(2);
    limiter.spend();
    limiter.spend();
    expect(limiter.readyAtMs()).toBe(clock.now() + 30_000);
  });

  it('is given by the response to the request sent last, whatever the order of the answers', () => {
    const clock = new ManualClock();
    const limiter = new Limiter(clock, project);
    const first = limiter.spend();
    const second = limiter.spend();
    limiter.observe(second, { remaining: 5, resetAtMs: plus(clock.now(), 30_000) });
    limiter.observe(first, { remaining: 6, resetAtMs: plus(clock.now(), 30_000) });
    expect(limiter.remaining).toBe(5);
  });

  it('of a minute changes the rate, with the burst in proportion', () => {
    const limiter = new Limiter(new ManualClock(), project);
    limiter.observe(limiter.spend(), { perMinute: 300 });
    expect([limiter.perMinute, limiter.burst]).toEqual([300, 100]);
    limiter.observe(limiter.spend(), { perMinute: 30 });
    expect([limiter.perMinute, limiter.burst]).toEqual([30, 10]);
  });
});
