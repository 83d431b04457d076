import { describe, expect, it } from 'vitest';
import { asId } from '../../src/upstream/decode/fields.js';
import { driving, eventually, scopeOf, startUpstream } from './harness.js';

const page = { limit: 100, offset: 0 };

describe('reads that ask the same', () => {
  it('are one request when they come together from a cold start', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    const reads = await Promise.all(Array.from({ length: 100 }, () => project.sensors(page, scopeOf())));
    expect(sandbox.seen('project')).toHaveLength(1);
    expect(new Set(reads.map(({ value }) => value)).size).toBe(1);
  });

  it('are one request when they come together as an answer grows old', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    await project.sensors(page, scopeOf());
    await clock.advance(11_000);
    await Promise.all(Array.from({ length: 100 }, () => project.sensors(page, scopeOf())));
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(2));
    expect(sandbox.maxConcurrent('project')).toBe(1);
  });

  it('are one request whatever the order their parameters are written in', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    await project.triggers({ limit: 5, offset: 0, order: 'desc', deviceId: asId('A') }, scopeOf());
    await project.triggers({ deviceId: asId('A'), order: 'desc', offset: 0, limit: 5 }, scopeOf());
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('count one request for the first and a hit for each of the others', async () => {
    await using upstream = await startUpstream();
    const first = scopeOf();
    const second = scopeOf();
    const { project } = upstream;
    await Promise.all([project.sensors(page, first), project.sensors(page, second)]);
    expect(first.meter).toMatchObject({ requests: 1, cacheHits: 0 });
    expect(second.meter).toMatchObject({ requests: 0, cacheHits: 1 });
    expect(project.status()).toMatchObject({ requestCount: 1, cacheHitCount: 1 });
  });
});

describe('a caller that leaves', () => {
  it('leaves the others their answer, and the last to leave ends the request', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', hang: true });
    const callers = [new AbortController(), new AbortController(), new AbortController()];
    const gone = new Error('gone');
    const reads = callers.map(({ signal }) => project.sensors(page, scopeOf({ signal })));
    const results = Promise.allSettled(reads);
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    callers[0]?.abort(gone);
    callers[1]?.abort(gone);
    await expect(reads[0]).rejects.toBe(gone);
    expect(sandbox.inFlight('project')).toBe(1);
    callers[2]?.abort(gone);
    await eventually(() => expect(sandbox.seen('project')).toMatchObject([{ aborted: true }]));
    expect((await results).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('does not spoil the read of one who comes after all have left', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', hang: true });
    const leaving = new AbortController();
    const left = project.sensors(page, scopeOf({ signal: leaving.signal }));
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect((await project.sensors(page, scopeOf())).value.items.length).toBeGreaterThan(0);
  });

  it('spends nothing when it leaves while it waits for budget', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 1, perDay: null },
    });
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    const leaving = new AbortController();
    const left = project.sensors(page, scopeOf({ signal: leaving.signal }));
    await eventually(() => expect(project.status().waiting.query).toBe(1));
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(project.status().waiting.query).toBe(0);
    await clock.advance(10_000);
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('stops paging at the page it is at', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    const leaving = new AbortController();
    const scope = scopeOf({ signal: leaving.signal });
    const readPages = async () => {
      for (let offset = 0; offset < 30; offset++) {
        if (offset === 2) leaving.abort(new Error('gone'));
        await project.sensors({ limit: 1, offset }, scope);
      }
    };
    await expect(readPages()).rejects.toThrow('gone');
    expect(sandbox.seen('project')).toHaveLength(2);
  });
});

describe('a read in the background', () => {
  it('is served as a query once a query waits for it too', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 4, perDay: null },
    });
    const { project, sandbox, clock } = upstream;
    for (let offset = 0; offset < 4; offset++) await project.sensors({ limit: 1, offset }, scopeOf());
    const background = project.project(scopeOf({ priority: 'background' }));
    const queries = [1, 2].map((limit) => project.sensors({ limit, offset: 5 }, scopeOf()));
    await eventually(() => expect(project.status().waiting).toMatchObject({ query: 2, background: 1 }));
    const joining = project.project(scopeOf());
    await eventually(() => expect(project.status().waiting).toMatchObject({ query: 3, background: 0 }));
    await driving(clock, Promise.all([joining, background, ...queries]));
    expect(sandbox.seen('project', '/v1/project')).toHaveLength(1);
  });
});
