import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aSensor } from '../../src/sandbox/builders.js';
import { RequestLog } from '../../src/sandbox/http/request-log.js';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { ask } from './ask.js';

const start = (options: SandboxOptions = {}) =>
  startSandbox({ world: emptyWorld(), clock: new ManualClock(), rateLimits: false, ...options });

describe('scripted trouble', () => {
  it('gives the status, headers and body that were asked for, once', async () => {
    await using sandbox = await start();
    sandbox.faults.add({
      source: 'project',
      status: 429,
      headers: { 'retry-after': '7' },
      body: '{"error":{"code":"rate_limited","message":"wait"}}',
    });
    const troubled = await ask(sandbox, 'project', '/v1/project');
    expect([troubled.status, troubled.headers.get('retry-after')]).toEqual([429, '7']);
    expect(troubled.body.error.code).toBe('rate_limited');
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(200);
  });

  it('meets only the interface and the path that it names', async () => {
    await using sandbox = await start();
    sandbox.faults.add({ source: 'project', path: '/v1/sensors', status: 500 });
    sandbox.faults.add({ source: 'catalogue', path: /^\/v1\/networks\//, status: 503, times: 2 });
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(200);
    expect((await ask(sandbox, 'catalogue', '/v1/sensors')).status).toBe(200);
    expect((await ask(sandbox, 'catalogue', '/v1/networks')).status).toBe(200);
    expect((await ask(sandbox, 'project', '/v1/sensors')).status).toBe(500);
    expect((await ask(sandbox, 'catalogue', '/v1/networks/a')).status).toBe(503);
    expect((await ask(sandbox, 'catalogue', '/v1/networks/b')).status).toBe(503);
    expect((await ask(sandbox, 'catalogue', '/v1/networks/c')).status).toBe(404);
  });

  it('comes in the order it was added, after those that were to pass', async () => {
    await using sandbox = await start();
    sandbox.faults.add({ source: 'project', status: 500, times: 2, after: 1 });
    sandbox.faults.add({ source: 'project', status: 503, times: Number.POSITIVE_INFINITY, after: 1 });
    const statuses: number[] = [];
    for (let request = 0; request < 6; request++)
      statuses.push((await ask(sandbox, 'project', '/v1/project')).status);
    expect(statuses).toEqual([200, 500, 500, 503, 503, 503]);
    sandbox.faults.clear();
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(200);
  });

  it('ends when it is removed', async () => {
    await using sandbox = await start();
    const fault = sandbox.faults.add({ source: 'project', status: 500, times: Number.POSITIVE_INFINITY });
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(500);
    fault.remove();
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(200);
  });

  it('keeps the true body and its rate headers where it names neither', async () => {
    await using sandbox = await start({ rateLimits: true });
    sandbox.faults.add({ source: 'catalogue', status: 500 });
    const { status, headers, body } = await ask(sandbox, 'catalogue', '/v1/networks');
    expect([status, headers.get('x-ratelimit-limit'), body.data]).toEqual([500, '60', []]);
  });

  it('can reset the connection, and break it within the body', async () => {
    await using sandbox = await start();
    sandbox.faults.add({ source: 'project', drop: true });
    sandbox.faults.add({ source: 'project', truncate: true });
    await expect(ask(sandbox, 'project', '/v1/project')).rejects.toMatchObject({
      cause: { code: 'ECONNRESET' },
    });
    await expect(ask(sandbox, 'project', '/v1/project')).rejects.toThrow('terminated');
    expect(sandbox.seen('project').map((request) => request.status)).toEqual([null, 200]);
  });

  it('can answer with a page instead of JSON, and change the JSON without touching the world', async () => {
    await using sandbox = await start();
    sandbox.world.project.sensors.push(aSensor());
    sandbox.faults.add({ source: 'project', wrongBody: true });
    sandbox.faults.add({
      source: 'project',
      rewrite: (body) => {
        const { data } = body as { data: { power: { source: string } }[] };
        for (const sensor of data) sensor.power.source = 'ELSE';
        return body;
      },
    });
    const page = await ask(sandbox, 'project', '/v1/sensors');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    const sourceOf = async () => (await ask(sandbox, 'project', '/v1/sensors')).body.data[0].power.source;
    expect(await sourceOf()).toBe('ELSE');
    expect(await sourceOf()).toBe('solar');
  });

  it('holds the answer back for as long as it says, and answers as of the request', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    sandbox.faults.add({ source: 'project', latencyMs: 3000 });
    const answer = ask(sandbox, 'project', '/v1/project');
    await vi.waitFor(() => expect(sandbox.inFlight('project')).toBe(1));
    sandbox.world.project.project.name = 'Renamed';
    await clock.advance(2999);
    expect(sandbox.inFlight('project', '/v1/project')).toBe(1);
    expect(sandbox.requests).toHaveLength(0);
    await clock.advance(1);
    expect((await answer).body.name).toBe('Sandbox network');
    expect(sandbox.inFlight('project')).toBe(0);
  });

  it('comes on top of the next when it is nothing but a latency', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    sandbox.faults.add({ source: 'project', latencyMs: 500, times: Number.POSITIVE_INFINITY });
    sandbox.faults.add({ source: 'project', status: 500 });
    const answer = ask(sandbox, 'project', '/v1/project');
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    await clock.advance(500);
    expect((await answer).status).toBe(500);
  });

  it('can leave a request hanging until its client goes, and says so', async () => {
    await using sandbox = await start();
    sandbox.faults.add({ source: 'catalogue', hang: true });
    const client = new AbortController();
    const answer = ask(sandbox, 'catalogue', '/v1/networks', { signal: client.signal });
    await vi.waitFor(() => expect(sandbox.inFlight('catalogue', '/v1/networks')).toBe(1));
    client.abort();
    await expect(answer).rejects.toThrow();
    await vi.waitFor(() =>
      expect(sandbox.seen('catalogue')).toMatchObject([{ status: null, aborted: true }]),
    );
    expect(sandbox.inFlight('catalogue')).toBe(0);
  });

  it('lets go of a delayed answer when its client goes', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    sandbox.faults.add({ source: 'project', latencyMs: 60_000 });
    const client = new AbortController();
    const answer = ask(sandbox, 'project', '/v1/project', { signal: client.signal });
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    client.abort();
    await expect(answer).rejects.toThrow();
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(0));
    expect(sandbox.seen('project')).toMatchObject([{ path: '/v1/project', status: null, aborted: true }]);
  });
});

describe('the list of requests', () => {
  it('has each answered request with its path, query, status and time', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    await ask(sandbox, 'project', '/v1/sensors?limit=5&offset=10');
    await clock.advance(1500);
    await ask(sandbox, 'catalogue', '/v1/events/none');
    expect(sandbox.requests).toMatchObject([
      {
        source: 'project',
        method: 'GET',
        path: '/v1/sensors',
        query: { limit: '5', offset: '10' },
        status: 200,
      },
      {
        source: 'catalogue',
        path: '/v1/events/none',
        query: {},
        status: 404,
        aborted: false,
        atMs: clock.wallMs(),
      },
    ]);
    expect(sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
    expect(sandbox.seen('project', '/v1/sensor')).toHaveLength(0);
    expect(sandbox.seen('catalogue', /^\/v1\/events\//)).toHaveLength(1);
    sandbox.forget();
    expect(sandbox.requests).toHaveLength(0);
  });

  it('remembers the most that were in flight at a time', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    await ask(sandbox, 'project', '/v1/project');
    await ask(sandbox, 'project', '/v1/project');
    expect(sandbox.maxConcurrent('project', '/v1/project')).toBe(1);
    sandbox.faults.add({ source: 'project', latencyMs: 100, times: 3 });
    const answers = ['/v1/project', '/v1/project', '/v1/sensors'].map((path) =>
      ask(sandbox, 'project', path),
    );
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(3));
    await clock.advance(100);
    await Promise.all(answers);
    await ask(sandbox, 'project', '/v1/project');
    expect(sandbox.maxConcurrent('project', '/v1/project')).toBe(2);
    expect(sandbox.maxConcurrent('project')).toBe(3);
    sandbox.forget();
    expect(sandbox.maxConcurrent('project')).toBe(0);
  });

  it('keeps the newest hundred thousand or so', () => {
    const log = new RequestLog();
    for (let atMs = 0; atMs < 125_000; atMs++) {
      const visit = log.arrived({
        source: 'project',
        method: 'GET',
        path: '/',
        query: {},
        keyHash: null,
        atMs,
      });
      visit.answering(200);
      visit.finished();
    }
    expect(log.answered.at(-1)?.atMs).toBe(124_999);
    expect(log.answered.length).toBeGreaterThanOrEqual(100_000);
    expect(log.answered.length).toBeLessThanOrEqual(120_000);
  });

  it('serves nothing outside the prefix of each interface', async () => {
    await using sandbox = await start();
    const { origin } = new URL(sandbox.projectUrl);
    expect((await fetch(`${origin}/v1/openapi.yaml`)).status).toBe(401);
    expect((await fetch(`${origin}/project-api/v1/openapi.yaml`)).status).toBe(200);
    expect((await fetch(`${origin}//`)).status).toBe(401);
  });
});
