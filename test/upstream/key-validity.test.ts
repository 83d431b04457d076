import { describe, expect, it } from 'vitest';
import { driving, eventually, failureOf, scopeOf, startUpstream, unlimited } from './harness.js';

const page = { limit: 100, offset: 0 };
const one = (offset: number) => ({ limit: 1, offset });
const hourMs = 3_600_000;

async function startOwned() {
  let refused = 0;
  const upstream = await startUpstream({
    projectRateLimit: unlimited,
    client: { keyOwner: 'client', onKeyRefused: () => refused++ },
  });
  return { ...upstream, refused: () => refused };
}

describe("a client's own key", () => {
  it('that upstream refuses is UNAUTHENTICATED, and ends all that was cached for it at once', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, cache, refused } = upstream;
    await project.project(scopeOf());
    await project.sensors(page, scopeOf());
    project.derivedCache.put('made of both', {}, 100);
    sandbox.faults.add({ source: 'project', path: '/v1/events', status: 401, times: 1 });
    const error = await failureOf(project.events({ ...one(0), order: 'desc' }, scopeOf()));
    expect(error.code).toBe('UNAUTHENTICATED');
    expect(refused()).toBe(1);
    expect(cache.entries).toBe(0);
    expect(project.mayServeCached()).toBe(false);
    sandbox.forget();
    await project.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('is served what is cached only if upstream has accepted it within the last 10 s', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    await clock.advance(10_000);
    expect(project.mayServeCached()).toBe(true);
    await project.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(1);
    await clock.advance(1);
    expect(project.mayServeCached()).toBe(false);
    await project.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(2);
  });

  it('is accepted anew for all that is cached by one request', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, clock } = upstream;
    const all = () =>
      Promise.all([0, 1, 2, 3, 4, 5].map((offset) => project.sensors(one(offset), scopeOf())));
    await all();
    await clock.advance(20_000);
    sandbox.forget();
    sandbox.faults.add({ source: 'project', latencyMs: 1_000 });
    const reads = all();
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    await driving(clock, reads);
    // The others were served from the cache, and revalidated: all after the one.
    const [first, ...others] = sandbox.requests.toSorted((a, b) => a.atMs - b.atMs);
    expect(first?.query).toMatchObject({ offset: '0' });
    for (const { atMs } of others) expect(atMs).toBeGreaterThanOrEqual((first?.atMs ?? 0) + 1_000);
  });

  it('is refused by the first who asks, and nobody sees what was cached', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, clock } = upstream;
    const all = () =>
      Promise.all([0, 1, 2].map((offset) => failureOf(project.sensors(one(offset), scopeOf()))));
    await Promise.all([0, 1, 2].map((offset) => project.sensors(one(offset), scopeOf())));
    await clock.advance(11_000);
    sandbox.faults.add({ source: 'project', status: 401, times: 100 });
    for (const { code } of await all()) expect(code).toBe('UNAUTHENTICATED');
  });

  it('is served what is cached for 5 minutes while upstream cannot be reached at all', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, clock } = upstream;
    const first = await project.project(scopeOf());
    sandbox.faults.add({ source: 'project', drop: true, times: 1_000 });
    await clock.advance(4 * 60_000);
    expect(await driving(clock, project.project(scopeOf()))).toEqual(first);
    await clock.advance(61_000);
    expect((await failureOf(driving(clock, project.project(scopeOf())))).code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('is not served what is cached when upstream answers, but with an error', async () => {
    await using upstream = await startOwned();
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    await clock.advance(60_000);
    sandbox.faults.add({ source: 'project', status: 500, times: 2 });
    expect((await failureOf(driving(clock, project.project(scopeOf())))).code).toBe('UPSTREAM_UNAVAILABLE');
  });
});

describe("the gateway's own key", () => {
  it('that upstream refuses is UPSTREAM_UNAUTHORIZED, which is logged and shown', async () => {
    let refused = 0;
    await using upstream = await startUpstream({ client: { onKeyRefused: () => refused++ } });
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', status: 401 });
    expect((await failureOf(project.project(scopeOf()))).code).toBe('UPSTREAM_UNAUTHORIZED');
    expect(refused).toBe(1);
    expect(project.status()).toMatchObject({ reachable: true, lastErrorCode: 'UPSTREAM_UNAUTHORIZED' });
  });

  it('is served what is cached however long ago it was accepted', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    await clock.advance(hourMs);
    expect(project.mayServeCached()).toBe(true);
    await project.project(scopeOf());
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(2));
  });
});

describe('many keys', () => {
  it('come and go without leaving anything behind', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { sandbox, cache, clock } = upstream;
    const timers = clock.pendingTimers;
    for (let i = 0; i < 50; i++) {
      const client = upstream.projectWith({ key: i % 2 ? sandbox.projectKey : sandbox.maskedProjectKey });
      await client.project(scopeOf());
      await client.sensors(page, scopeOf());
      client.close();
    }
    expect(cache.entries).toBe(0);
    expect(cache.bytes).toBe(0);
    expect(clock.pendingTimers).toBe(timers);
  });
});
