import { describe, expect, it } from 'vitest';
import { driving, eventually, failureOf, scopeOf, startUpstream, unlimited } from './harness.js';

const one = (offset: number) => ({ limit: 1, offset });

describe("upstream's limit", () => {
  it('is kept to by a hundred reads at once, so that upstream never has to refuse one', async () => {
    await using upstream = await startUpstream({ sandbox: {}, client: { maxWaitMs: 120_000 } });
    const { project, sandbox, clock } = upstream;
    const reads = Array.from({ length: 100 }, (_, offset) => project.sensors(one(offset), scopeOf()));
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(20));
    await driving(clock, Promise.all(reads));
    expect(sandbox.seen('project').map(({ status }) => status)).not.toContain(429);
    expect(sandbox.seen('project')).toHaveLength(100);
    const times = sandbox.seen('project').map(({ atMs }) => atMs);
    for (const [index, atMs] of times.entries()) {
      expect(
        times.filter((other) => other > atMs - 60_000 && other <= atMs).length,
        `${index}`,
      ).toBeLessThanOrEqual(60);
    }
  });

  it('that is spent refuses at once those who would wait too long, with the seconds to wait', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    const reads = Array.from({ length: 40 }, (_, offset) => project.sensors(one(offset), scopeOf()));
    const results = Promise.allSettled(reads);
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(20));
    const error = await failureOf(project.project(scopeOf()));
    expect(error.code).toBe('UPSTREAM_RATE_LIMITED');
    expect(error.retryAfterS).toBeGreaterThanOrEqual(5);
    expect(error.retryAfterS).toBeLessThan(60);
    await driving(clock, results);
  });

  it('is waited for and not exceeded by a second operation, whose wait is counted', async () => {
    await using upstream = await startUpstream();
    const { project, clock } = upstream;
    await Promise.all(Array.from({ length: 20 }, (_, offset) => project.sensors(one(offset), scopeOf())));
    const scope = scopeOf();
    await driving(clock, project.project(scope));
    expect(scope.meter.waitedMs).toBeGreaterThanOrEqual(1_000);
    expect(scope.meter.waitedMs).toBeLessThanOrEqual(5_000);
  });

  it('of one key leaves the rate of another as it is, and that of the other interface', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '30' } });
    expect((await failureOf(project.project(scopeOf()))).retryAfterS).toBe(30);
    const other = upstream.projectWith({ key: sandbox.maskedProjectKey });
    await Promise.all(Array.from({ length: 20 }, (_, offset) => other.sensors(one(offset), scopeOf())));
    await catalogue.networks(scopeOf());
    expect(project.status().retryAfterUntilMs).not.toBeNull();
    expect(other.status().retryAfterUntilMs).toBeNull();
  });
});

describe('after a refusal by upstream', () => {
  it('nothing is sent with the key for as long as it said, and then one by one', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '7' }, after: 9 });
    const reads = Array.from({ length: 30 }, (_, offset) => project.sensors(one(offset), scopeOf()));
    const results = await driving(clock, Promise.allSettled(reads), 10);
    const refusedAtMs = clock.now();
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED' });
    }
    sandbox.forget();
    const untilMs = project.status().retryAfterUntilMs ?? 0;
    expect(untilMs - refusedAtMs).toBeGreaterThan(6_000);
    const later = Array.from({ length: 5 }, (_, offset) =>
      project.sensors(one(offset), scopeOf({ priority: 'feed', maxAgeMs: 0 })),
    );
    await clock.advance(untilMs - clock.now() - 1);
    expect(sandbox.seen('project')).toEqual([]);
    await driving(clock, Promise.all(later), 50);
    const times = sandbox.seen('project').map(({ atMs }) => atMs);
    expect(times[0]).toBeGreaterThanOrEqual(untilMs);
    for (const [index, atMs] of times.slice(1).entries())
      expect(atMs - (times[index] ?? 0)).toBeGreaterThanOrEqual(950);
  });

  it('a read that can outwait it is answered after it', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '3' } });
    const startMs = clock.now();
    const scope = scopeOf();
    await driving(clock, project.project(scope), 10);
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(3_000);
    expect(scope.meter.requests).toBe(2);
    expect(scope.meter.waitedMs).toBeGreaterThanOrEqual(3_000);
  });

  it('a read that cannot fails at once, with what upstream said', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '50' } });
    const error = await failureOf(project.project(scopeOf()));
    expect(error).toMatchObject({
      code: 'UPSTREAM_RATE_LIMITED',
      retryAfterS: 50,
      upstream: { status: 429 },
    });
    const next = await failureOf(project.sensors(one(0), scopeOf()));
    expect(next).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED', retryAfterS: 50, upstream: undefined });
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('an absurd wait is cut to an hour, and a date is understood', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '999999999' } });
    expect((await failureOf(project.project(scopeOf()))).retryAfterS).toBe(3_600);
    const other = upstream.projectWith({ key: sandbox.maskedProjectKey });
    const date = new Date(clock.wallMs() + 40_000).toUTCString();
    const now = new Date(clock.wallMs()).toUTCString();
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': date, date: now } });
    expect((await failureOf(other.project(scopeOf()))).retryAfterS).toBe(40);
  });

  it('that asks for a pause with 503 gives everyone UPSTREAM_UNAVAILABLE, not a spent limit', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    const body = '{"error":{"code":"maintenance","message":"back soon"}}';
    sandbox.faults.add({ source: 'project', status: 503, body, headers: { 'retry-after': '20' } });
    const first = await failureOf(driving(clock, project.project(scopeOf())));
    expect(first).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryAfterS: 20, upstream: { status: 503 } });
    const next = await failureOf(project.sensors(one(0), scopeOf()));
    expect(next.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(sandbox.seen('project')).toHaveLength(1);
  });
});

describe("the catalogue's own count", () => {
  it('wins over the tier that was configured, whatever unit its reset has', async () => {
    for (const catalogueResetUnit of ['unix', 'delta'] as const) {
      await using upstream = await startUpstream({
        sandbox: { rateLimits: { cataloguePerMinute: 10 }, catalogueResetUnit },
        client: { maxWaitMs: 600_000 },
      });
      const { catalogue, sandbox, clock } = upstream;
      const page = (number: number) => ({ page: number, limit: 1 });
      await catalogue.sensors(page(1), scopeOf());
      expect(catalogue.status().rateLimit).toMatchObject({ perMinute: 10, burst: 3 });
      const reads = Array.from({ length: 25 }, (_, index) => catalogue.sensors(page(index + 2), scopeOf()));
      await driving(clock, Promise.all(reads), 250);
      expect(sandbox.seen('catalogue').map(({ status }) => status)).not.toContain(429);
    }
  });

  it('raises the rate where upstream permits more than was configured', async () => {
    await using upstream = await startUpstream({ sandbox: { catalogueTier: 'standard' } });
    const { catalogue } = upstream;
    await catalogue.networks(scopeOf());
    expect(catalogue.status().rateLimit).toMatchObject({ perMinute: 300, burst: 100 });
  });

  it('of the day is kept to', async () => {
    await using upstream = await startUpstream({ sandbox: { rateLimits: { cataloguePerDay: 5 } } });
    const { catalogue, sandbox, clock } = upstream;
    for (let page = 1; page <= 5; page++) {
      await driving(clock, catalogue.sensors({ page, limit: 1 }, scopeOf()));
    }
    expect((await failureOf(catalogue.networks(scopeOf()))).code).toBe('UPSTREAM_RATE_LIMITED');
    expect(sandbox.seen('catalogue')).toHaveLength(5);
  });
});

describe('an interface that fails again and again', () => {
  it('has its circuit open for 10 s after five reads, then probed by one, and asked freely once that is answered', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    const outage = sandbox.faults.add({ source: 'project', drop: true, times: 1_000 });
    for (let offset = 0; offset < 5; offset++) {
      await failureOf(driving(clock, project.sensors(one(offset), scopeOf())));
    }
    expect(sandbox.seen('project')).toHaveLength(10);
    expect(project.status()).toMatchObject({ reachable: false, lastErrorCode: 'UPSTREAM_UNAVAILABLE' });
    expect(project.status().circuitOpenUntilMs).toBe(clock.now() + 10_000);
    const error = await failureOf(project.sensors(one(9), scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryAfterS: 10 });
    expect(sandbox.seen('project')).toHaveLength(10);
    await clock.advance(10_000);
    const probes = [1, 2, 3].map((offset) => failureOf(project.sensors(one(offset), scopeOf())));
    await driving(clock, Promise.all(probes));
    expect(sandbox.seen('project')).toHaveLength(12);
    await clock.advance(10_000);
    outage.remove();
    await project.sensors(one(0), scopeOf());
    await Promise.all([1, 2, 3].map((offset) => project.sensors(one(offset), scopeOf())));
    expect(project.status()).toMatchObject({ reachable: true, circuitOpenUntilMs: null });
  });

  it('is not one that answers with 4xx or is asked for too much', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox } = upstream;
    const tooLong = '{"error":{"code":"timeout","message":"too long"}}';
    sandbox.faults.add({ source: 'project', path: /sensors\//, status: 503, body: tooLong, times: 10 });
    for (let i = 0; i < 10; i++) await failureOf(project.sensor(`S${i}`, scopeOf()));
    sandbox.faults.add({ source: 'project', status: 400, times: 10 });
    for (let i = 0; i < 10; i++) await failureOf(project.sensors(one(i), scopeOf()));
    expect(project.status().circuitOpenUntilMs).toBeNull();
    expect(sandbox.seen('project')).toHaveLength(20);
  });

  it('serves what is cached meanwhile, without waiting', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    const first = await project.project(scopeOf());
    await clock.advance(2 * 3_600_000);
    sandbox.faults.add({ source: 'project', drop: true, times: 1_000 });
    for (let offset = 0; offset < 5; offset++) {
      await failureOf(driving(clock, project.sensors(one(offset), scopeOf())));
    }
    sandbox.forget();
    expect(await project.project(scopeOf())).toEqual(first);
    expect(sandbox.seen('project')).toEqual([]);
  });

  it('is not probed by reads that were waiting for budget when it was given up', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 10, perDay: null },
      client: { maxWaitMs: 60_000 },
    });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', wrongBody: true, times: 1_000 });
    const reads = Array.from({ length: 30 }, (_, offset) => project.sensors(one(offset), scopeOf()));
    await driving(clock, Promise.allSettled(reads));
    expect(sandbox.seen('project')).toHaveLength(10);
  });
});
