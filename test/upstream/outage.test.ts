import { expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.js';
import type { ReadScope } from '../../src/upstream/read/read.js';
import { eventually, scopeOf, startUpstream } from './harness.js';

const newest = { limit: 100, offset: 0, order: 'desc' as const };

interface Outcome {
  readonly secondAsked: number;
  readonly tookMs: number;
  readonly ageS: number | null;
  readonly code: string | null;
}

it('an upstream that dies for ten minutes under load is hardly asked, its clients are served, and all is fresh soon after', async () => {
  await using upstream = await startUpstream({ sandbox: {} });
  const { project, sandbox, clock } = upstream;
  const outcomes: Record<'dashboard' | 'feed' | 'stranger', Outcome[]> = {
    dashboard: [],
    feed: [],
    stranger: [],
  };
  const pending = new Set<Promise<void>>();
  let second = 0;
  const ask = (
    who: keyof typeof outcomes,
    read: (scope: ReadScope) => Promise<unknown>,
    own: Partial<ReadScope>,
  ) => {
    const scope = scopeOf(own);
    const askedMs = clock.now();
    const secondAsked = second;
    const settle = (code: string | null) => {
      const ageS = code === null ? scope.meter.oldestAgeS : null;
      outcomes[who].push({ secondAsked, tookMs: clock.now() - askedMs, ageS, code });
    };
    const settled = read(scope).then(
      () => settle(null),
      (error: unknown) => settle(error instanceof GatewayError ? error.code : String(error)),
    );
    pending.add(settled);
    settled.finally(() => pending.delete(settled));
  };
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      second++;
      for (let client = 0; client < 5; client++) {
        ask('dashboard', (scope) => project.sensors({ limit: 500, offset: 0 }, scope), {});
        ask('dashboard', (scope) => project.triggers(newest, scope), {});
        ask('dashboard', (scope) => project.project(scope), {});
      }
      // Someone who asks for what nobody has asked for.
      ask('stranger', (scope) => project.sensor(`S${second}`, scope), {});
      if (second % 5 === 0) {
        ask('feed', (scope) => project.triggers(newest, scope), { priority: 'feed', maxAgeMs: 0 });
      }
      await clock.advance(1_000);
      await eventually(() => expect(sandbox.inFlight('project')).toBe(0));
    }
  };

  await pass(60);
  sandbox.forget();
  const outage = sandbox.faults.add({ source: 'project', drop: true, times: Number.POSITIVE_INFINITY });
  await pass(600);
  const during = sandbox.seen('project');
  outage.remove();
  sandbox.forget();
  await pass(180);
  await clock.advance(20_000);
  await Promise.all(pending);

  const between = (who: keyof typeof outcomes, from: number, to: number) =>
    outcomes[who].filter(({ secondAsked }) => secondAsked > from && secondAsked <= to);
  // Five reads of two attempts each until it is given up, then one probe every ten seconds, of two attempts at most.
  expect(during.length).toBeLessThanOrEqual(10 + 2 * 60);
  expect(during.length).toBeGreaterThan(50);
  // What is cached is served to everyone for the whole time, to some after the wait of a read that upstream then fails.
  for (const { code, tookMs } of between('dashboard', 5, 660)) {
    expect(code).toBeNull();
    expect(tookMs).toBeLessThanOrEqual(5_000);
  }
  expect(Math.max(...between('dashboard', 600, 660).map(({ ageS }) => ageS ?? 0))).toBeGreaterThan(590);
  // What is not cached fails, and soon.
  for (const { code, tookMs } of between('stranger', 90, 660)) {
    expect(code).toBe('UPSTREAM_UNAVAILABLE');
    expect(tookMs).toBeLessThanOrEqual(5_000);
  }
  for (const { code } of between('feed', 90, 660)) expect(code).toBe('UPSTREAM_UNAVAILABLE');
  // Refreshed within a minute of the return, and as often from then on, under a load of strangers that would take it all.
  for (const { ageS } of between('dashboard', 740, 840)) expect(ageS).toBeLessThan(75);
  for (const { code } of between('feed', 690, 840)) expect(code).toBeNull();
  // All of them together ask for more than the budget: most of the strangers are answered.
  const strangers = between('stranger', 690, 840);
  expect(strangers.filter(({ code }) => code === null).length).toBeGreaterThan(strangers.length / 2);
  for (const { code } of strangers) expect([null, 'UPSTREAM_RATE_LIMITED']).toContain(code);
  expect([...during, ...sandbox.seen('project')].map(({ status }) => status)).not.toContain(429);
}, 120_000);
