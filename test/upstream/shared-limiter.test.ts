import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plus } from '../../src/clock.js';
import { modelInstances, type Sent } from './model-instances.js';

const minuteMs = 60_000;
const patient = { maxWaitMs: 10 * minuteMs };
const project = { perMinute: 60, burst: 20, perDay: null };

const alike = (count: number) => Array.from({ length: count }, () => ({ aheadMs: 0, latencyMs: 2 }));

/** Whatever window upstream counts by: a bucket, a sliding minute, minutes of the clock. */
function expectKept(sent: readonly Sent[], { perMinute, burst }: { perMinute: number; burst: number }) {
  const counted = sent.map(({ countedAtMs }) => countedAtMs).sort((a, b) => a - b);
  let tokens = burst;
  let beforeMs = counted[0] ?? 0;
  for (const [index, atMs] of counted.entries()) {
    tokens = Math.min(burst, tokens + ((atMs - beforeMs) * perMinute) / minuteMs);
    beforeMs = atMs;
    expect(tokens, 'a bucket of `burst` that gains `perMinute`').toBeGreaterThanOrEqual(1);
    tokens--;
    const first = counted[index - perMinute];
    if (first !== undefined) expect(atMs - first, 'a sliding minute').toBeGreaterThan(minuteMs);
  }
}

const instanceOf = fc.record({
  aheadMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
  latencyMs: fc.integer({ min: 0, max: 50 }),
});

const steps = fc.array(
  fc.record({
    instance: fc.nat({ max: 4 }),
    pauseMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 3_000 }),
      fc.integer({ min: 0, max: 40_000 }),
    ),
    count: fc.integer({ min: 1, max: 30 }),
    priority: fc.constantFrom('query' as const, 'feed' as const, 'background' as const),
    onTheWayMs: fc.integer({ min: 0, max: 1_500 }),
    backMs: fc.integer({ min: 0, max: 5_000 }),
  }),
  { minLength: 1, maxLength: 15 },
);

describe('a budget that instances share', () => {
  it('is never exceeded by all of them together, however their clocks differ and whoever asks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(instanceOf, { minLength: 2, maxLength: 5 }),
        fc.record({ perMinute: fc.integer({ min: 4, max: 120 }), burst: fc.integer({ min: 1, max: 40 }) }),
        steps,
        async (all, { perMinute, burst: wanted }, plan) => {
          const burst = Math.min(wanted, perMinute);
          const model = modelInstances({ perMinute, burst, perDay: null }, all, patient);
          for (const { instance, pauseMs, count, priority, onTheWayMs, backMs } of plan) {
            await model.real.advance(pauseMs);
            for (let i = 0; i < count; i++)
              void model.ask(instance % all.length, priority, 120_000, {
                ...model.upstream,
                onTheWayMs,
                backMs,
              });
          }
          await model.real.advance(180_000);
          expect(model.sent.length).toBeGreaterThan(0);
          expectKept(model.sent, { perMinute, burst });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is kept to by instances that lose each other right after they have found out how many they are', async () => {
    const model = modelInstances(project, alike(3));
    const { real, instances } = model;
    const turn = (isUp: boolean, count: number) => {
      for (const { link } of instances) {
        link.instances = count;
        link.setUp(isUp);
      }
    };
    turn(false, 2);
    turn(true, 3);
    await real.advance(500);
    turn(false, 3);
    const query = (instance: number) =>
      void model.ask(instance, 'query').finally(() => real.timer(100, () => query(instance)));
    for (let i = 0; i < 90; i++) query(i % 3);
    await real.advance(3 * minuteMs);
    expect(model.sent.length).toBeGreaterThan(150);
    expectKept(model.sent, project);
  });

  it('is used to the full: the whole burst at once and nearly all of every minute after it', async () => {
    const model = modelInstances(project, alike(3), patient);
    for (let i = 0; i < 300; i++) void model.ask(i % 3, 'query');
    await model.real.advance(1_000);
    expect(model.sent).toHaveLength(20);
    await model.real.advance(3 * minuteMs - 1_000);
    expect(model.sent.length).toBeGreaterThan(165);
    expectKept(model.sent, project);
  });

  it('keeps everyone to the wait they agreed to, whichever instance they ask', async () => {
    const model = modelInstances(project, alike(3));
    const startMs = model.real.now();
    const asked = Array.from({ length: 150 }, (_, i) => model.ask(i % 3, 'query'));
    await model.real.advance(6_000);
    await Promise.all(asked);
    expect(model.sent.length + model.refused.length).toBe(150);
    for (const { atMs } of model.refused) expect(atMs - startMs).toBeLessThanOrEqual(5_000 + 20);
    for (const { atMs } of model.sent) expect(atMs - startMs).toBeLessThanOrEqual(5_000 + 20);
  });

  it('gives a feed its fifth of every minute while queries at other instances never stop coming', async () => {
    const model = modelInstances(project, [
      { aheadMs: 1_000, latencyMs: 2 },
      { aheadMs: -5_000, latencyMs: 2 },
      { aheadMs: 0, latencyMs: 3 },
    ]);
    const { real } = model;
    const keepAsking = (instance: number) => {
      const again = () => void model.ask(instance, 'query').finally(() => real.timer(200, again));
      for (let i = 0; i < 30; i++) again();
    };
    const poll = () => {
      const startedMs = real.now();
      void model
        .ask(0, 'feed', 30_000)
        .finally(() => real.timer(Math.max(startedMs + 3_000 - real.now(), 750), poll));
    };
    poll();
    await real.advance(20_000);
    const fromMs = real.now();
    keepAsking(1);
    keepAsking(2);
    await real.advance(4 * minuteMs);
    const feed = model.sent.filter(({ priority }) => priority === 'feed').map(({ atMs }) => atMs);
    for (let startMs = fromMs; startMs <= fromMs + 3 * minuteMs; startMs = plus(startMs, 500)) {
      const ofMinute = feed.filter((atMs) => atMs >= startMs && atMs < startMs + minuteMs);
      expect(ofMinute.length).toBeGreaterThanOrEqual(12);
    }
    expect(model.sent.filter(({ priority }) => priority === 'query').length).toBeGreaterThan(4 * 40);
    expectKept(model.sent, project);
  });

  it('leaves the rest to queries, however often a feed at another instance asks', async () => {
    const model = modelInstances(project, alike(2));
    const { real } = model;
    const poll = () => void model.ask(0, 'feed', 30_000).finally(() => real.timer(1, poll));
    const query = () => void model.ask(1, 'query').finally(() => real.timer(100, query));
    for (let i = 0; i < 3; i++) poll();
    for (let i = 0; i < 30; i++) query();
    await real.advance(2 * minuteMs);
    const fromMs = real.now();
    await real.advance(4 * minuteMs);
    const since = model.sent.filter(({ atMs }) => atMs >= fromMs);
    const feeds = since.filter(({ priority }) => priority === 'feed');
    expect(feeds.length / since.length).toBeLessThan(0.4);
    expect(feeds.length / since.length).toBeGreaterThanOrEqual(0.2);
  });
});

describe('a refusal that one instance gets', () => {
  const refusal = (headers: Record<string, string>) => ({
    onTheWayMs: 10,
    backMs: 10,
    answer: () => ({ status: 429, headers }),
  });

  it('holds all of them for as long as upstream said, then lets them go one by one', async () => {
    const model = modelInstances(
      project,
      [3_600_000, -3_600_000, 0].map((aheadMs) => ({ aheadMs, latencyMs: 2 })),
    );
    const { real } = model;
    await Promise.all([real.advance(1_000), model.ask(1, 'query'), model.ask(2, 'query')]);
    void model.ask(0, 'query', 5_000, refusal({ 'retry-after': '7' }));
    await real.advance(50);
    const before = model.sent.length;
    const refusedMs = real.now();
    for (let i = 0; i < 30; i++) void model.ask(i % 3, 'feed', 60_000);
    await real.advance(6_900);
    expect(model.sent.length).toBe(before);
    await real.advance(20_000);
    const times = model.sent.slice(before).map(({ atMs }) => atMs);
    expect(times.length).toBeGreaterThan(10);
    expect((times[0] ?? 0) - refusedMs).toBeGreaterThan(6_900);
    for (const [index, atMs] of times.slice(1).entries())
      expect(atMs - (times[index] ?? 0)).toBeGreaterThanOrEqual(950);
  });

  it('promptly refuses those at other instances who cannot outwait it', async () => {
    const model = modelInstances(project, alike(2));
    const { real } = model;
    void model.ask(0, 'query', 5_000, refusal({ 'retry-after': '50' }));
    await real.advance(50);
    void model.ask(1, 'query');
    await real.advance(10);
    expect(model.refused.map(({ instance }) => instance)).toContain(1);
    expect(model.instances[1]?.rateLimit.status().retryAfterUntilMs).not.toBeNull();
  });

  it('is known to an instance that starts long after it, while it holds', async () => {
    const model = modelInstances(project, [{ aheadMs: 0, latencyMs: 2 }]);
    const { real } = model;
    void model.ask(0, 'query', 5_000, refusal({ 'retry-after': '600' }));
    await real.advance(5 * minuteMs);
    const late = model.join({ aheadMs: 3_600_000, latencyMs: 2 });
    const before = model.sent.length;
    void model.ask(late, 'query');
    await real.advance(100);
    expect(model.sent.length).toBe(before);
    expect(model.refused.at(-1)?.instance).toBe(late);
  });
});

describe("upstream's own count", () => {
  const observed = (headers: Record<string, string>) => ({
    onTheWayMs: 10,
    backMs: 10,
    answer: () => ({ status: 200, headers }),
  });
  const two = () =>
    modelInstances(
      { perMinute: 60, burst: 20, perDay: 10_000 },
      [0, 3_600_000].map((aheadMs) => ({ aheadMs, latencyMs: 2 })),
      { source: 'CATALOGUE' },
    );

  it('of less than ours, as reported to one instance, stops the others too', async () => {
    const model = two();
    const { real } = model;
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '30' };
    void model.ask(0, 'query', 5_000, observed(headers));
    await real.advance(100);
    for (let i = 0; i < 10; i++) void model.ask(1, 'query', 5_000);
    await real.advance(6_000);
    const others = model.sent.filter(({ instance }) => instance === 1).length;
    expect(others).toBeGreaterThan(0);
    expect(others).toBeLessThanOrEqual(4);
    await real.advance(30_000);
    void model.ask(1, 'query');
    await real.advance(100);
    expect(model.sent.filter(({ instance }) => instance === 1)).toHaveLength(others + 1);
  });

  it('of another tier changes the rate of all', async () => {
    const model = two();
    const headers = { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '299', 'x-ratelimit-reset': '60' };
    void model.ask(0, 'query', 5_000, observed(headers));
    await model.real.advance(100);
    void model.ask(1, 'query');
    await model.real.advance(100);
    for (const { rateLimit } of model.instances)
      expect(rateLimit.status().rateLimit).toMatchObject({ perMinute: 300, burst: 100 });
  });
});

describe('a day that instances share', () => {
  const settings = { perMinute: 600, burst: 300, perDay: 100 };

  it('is spent by all together, also by one that starts in the middle of it', async () => {
    const model = modelInstances(settings, alike(2));
    const { real } = model;
    for (let i = 0; i < 70; i++) void model.ask(i % 2, 'query');
    await real.advance(3_600_000);
    expect(model.sent).toHaveLength(70);
    const late = model.join({ aheadMs: -3_600_000, latencyMs: 2 });
    for (let i = 0; i < 50; i++) void model.ask(late, 'query');
    for (let i = 0; i < 50; i++) void model.ask(0, 'query');
    await real.advance(10_000);
    expect(model.sent).toHaveLength(100);
    expect(model.instances.at(late)?.rateLimit.status().rateLimit.remainingToday).toBe(0);
  });
});

describe('while the shared store is unreachable', () => {
  const three = () => modelInstances(project, alike(3), patient);
  const turn = (model: ReturnType<typeof modelInstances>, isUp: boolean) => {
    for (const { link } of model.instances) link.setUp(isUp);
  };

  it('each keeps to its part at once, of what all of them have left', async () => {
    const model = three();
    const { real } = model;
    for (let i = 0; i < 10; i++) void model.ask(0, 'query');
    await real.advance(100);
    for (const instance of [1, 2]) void model.ask(instance, 'query');
    await real.advance(100);
    turn(model, false);
    for (let i = 0; i < 240; i++) void model.ask(i % 3, 'query');
    await real.advance(100);
    // A third of 8 each.
    expect(model.sent.length - 12).toBeLessThanOrEqual(8);
    expect(new Set(model.sent.map(({ instance }) => instance)).size).toBe(3);
    await real.advance(3 * minuteMs);
    expectKept(model.sent, project);
    for (const instance of [0, 1, 2]) {
      const own = model.sent.filter((one) => one.instance === instance).map(({ countedAtMs }) => countedAtMs);
      // 20 a minute, but for the first when one had sent more.
      expect(own.filter((atMs) => atMs > real.now() - minuteMs).length).toBeGreaterThanOrEqual(18);
    }
    expect(model.instances[0]?.rateLimit.status().rateLimit).toMatchObject({ perMinute: 60, burst: 20 });
  });

  it('one that would wait in vain for the part is refused at once', async () => {
    const model = modelInstances(project, alike(3));
    const { real } = model;
    for (let i = 0; i < 23; i++) void model.ask(0, 'query');
    await real.advance(200);
    expect(model.refused).toEqual([]);
    const waiting = 23 - model.sent.length;
    turn(model, false);
    await real.advance(1);
    expect(waiting).toBeGreaterThan(0);
    expect(model.refused).toHaveLength(waiting);
  });

  it('what was about to be sent is not, where the part does not reach for it', async () => {
    const model = three();
    const { real } = model;
    for (const { link } of model.instances) link.latencyMs = 1_000;
    for (let i = 0; i < 60; i++) void model.ask(i % 3, 'query');
    await real.advance(500);
    turn(model, false);
    await real.advance(600);
    expect(model.sent.length).toBeLessThanOrEqual(20);
    await real.advance(3 * minuteMs);
    expect(model.sent).toHaveLength(60);
    expectKept(model.sent, project);
  });

  it('the whole is kept to when it goes and comes back, at whatever moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            afterMs: fc.integer({ min: 0, max: 40_000 }),
            spreadMs: fc.integer({ min: 0, max: 1_000 }),
          }),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        fc.integer({ min: 2, max: 4 }),
        async (turns, count) => {
          const model = modelInstances(
            project,
            Array.from({ length: count }, (_, index) => ({ aheadMs: index * 60_000, latencyMs: 2 })),
            patient,
          );
          const { real } = model;
          for (let i = 0; i < 400; i++) void model.ask(i % count, 'query');
          let isUp = true;
          for (const { afterMs, spreadMs } of turns) {
            await real.advance(afterMs);
            isUp = !isUp;
            for (const { link } of model.instances) {
              link.setUp(isUp);
              // It is gone for all at once; that it is back one finds out after the other.
              if (isUp) await real.advance(spreadMs / count);
            }
          }
          await real.advance(2 * minuteMs);
          expectKept(model.sent, project);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('all of it is had again soon after it is back', async () => {
    const model = three();
    const { real } = model;
    turn(model, false);
    for (let i = 0; i < 3; i++) void model.ask(i, 'query');
    await real.advance(90_000);
    turn(model, true);
    await real.advance(6_000);
    const before = model.sent.length;
    for (let i = 0; i < 20; i++) void model.ask(1, 'query');
    await real.advance(100);
    expect(model.sent.length - before).toBe(20);
  });

  it('what upstream has refused to one holds the others when it is back', async () => {
    const model = modelInstances(project, alike(2));
    const { real, upstream } = model;
    turn(model, false);
    const refusing = { ...upstream, answer: () => ({ status: 429, headers: { 'retry-after': '50' } }) };
    void model.ask(0, 'query', 5_000, refusing);
    await real.advance(100);
    turn(model, true);
    await real.advance(100);
    const before = model.sent.length;
    void model.ask(1, 'query');
    await real.advance(100);
    expect(model.sent.length).toBe(before);
    expect(model.refused.at(-1)?.instance).toBe(1);
  });

  it('what each has sent meanwhile counts for the others when it is back', async () => {
    const model = modelInstances({ ...project, perDay: 1_000 }, alike(2));
    const { real } = model;
    turn(model, false);
    for (let i = 0; i < 10; i++) void model.ask(0, 'query');
    await real.advance(1_000);
    turn(model, true);
    await real.advance(1_000);
    void model.ask(1, 'query');
    await real.advance(1_000);
    expect(model.instances[1]?.rateLimit.status().rateLimit.remainingToday).toBe(1_000 - 11);
    const late = model.join({ aheadMs: 0, latencyMs: 2 });
    void model.ask(late, 'query');
    await real.advance(1_000);
    expect(model.instances[late]?.rateLimit.status().rateLimit.remainingToday).toBe(1_000 - 12);
  });
});
