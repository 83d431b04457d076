import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/clock.js';
import { driving, failureOf, scopeOf, startUpstream, unlimited } from './harness.js';

const one = (offset: number) => ({ limit: 1, offset });

describe.each([
  ['back', -hourMs],
  ['forward', hourMs],
])('a wall clock that is set %s by an hour', (_, byMs) => {
  it('neither lengthens nor shortens the pause after a refusal', async () => {
    await using upstream = await startUpstream({ sandbox: {} });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 429, headers: { 'retry-after': '6' } });
    await failureOf(project.project(scopeOf()));
    clock.stepWall(byMs);
    expect(await failureOf(project.project(scopeOf()))).toMatchObject({ retryAfterS: 6 });
    await clock.advance(6_000);
    await project.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(2);
  });

  it('leaves an open circuit open for its 10 s', async () => {
    await using upstream = await startUpstream({ sandbox: {}, projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    const outage = sandbox.faults.add({ source: 'project', drop: true, times: 1_000 });
    for (let offset = 0; offset < 5; offset++)
      await failureOf(driving(clock, project.sensors(one(offset), scopeOf())));
    outage.remove();
    clock.stepWall(byMs);
    expect(await failureOf(project.sensors(one(9), scopeOf()))).toMatchObject({ retryAfterS: 10 });
    await clock.advance(10_000);
    await project.sensors(one(9), scopeOf());
  });

  it('neither stops nor fills the budget of a key', async () => {
    await using upstream = await startUpstream({ sandbox: {} });
    const { project, clock } = upstream;
    const { burst, remainingToday } = project.status().rateLimit;
    await Promise.all(Array.from({ length: 20 }, (_, offset) => project.sensors(one(offset), scopeOf())));
    clock.stepWall(byMs);
    expect(project.status().rateLimit.remaining).toBe(0);
    await clock.advance(minuteMs + 1_000);
    expect(project.status().rateLimit).toMatchObject({ remaining: burst, remainingToday });
  });

  it('makes no cached response fresh or stale', async () => {
    await using upstream = await startUpstream({ sandbox: {} });
    const { project, sandbox, clock } = upstream;
    await project.sensors(one(0), scopeOf());
    clock.stepWall(byMs);
    await clock.advance(5_000);
    await project.sensors(one(0), scopeOf());
    expect(sandbox.seen('project')).toHaveLength(1);
    await clock.advance(minuteMs);
    await project.sensors(one(0), scopeOf({ maxAgeMs: 10_000 }));
    expect(sandbox.seen('project')).toHaveLength(2);
  });
});
