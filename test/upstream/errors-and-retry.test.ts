import { describe, expect, it } from 'vitest';
import { ManualClock, realClock } from '../../src/clock.js';
import type { Fault } from '../../src/sandbox/http/faults.js';
import { asId } from '../../src/upstream/decode/fields.js';
import {
  driving,
  eventually,
  failureOf,
  projectAt,
  scopeOf,
  startTiny,
  startUpstream,
  unlimited,
} from './harness.js';

const page = { limit: 100, offset: 0 };
const newest = { limit: 5, offset: 0, order: 'desc' as const };

/** status → docs/behaviour.md 4's code, for a list. */
const refusals: readonly [status: number, code: string][] = [
  [400, 'BAD_USER_INPUT'],
  [401, 'UPSTREAM_UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'FORBIDDEN'],
  [429, 'UPSTREAM_RATE_LIMITED'],
  [500, 'UPSTREAM_UNAVAILABLE'],
  [502, 'UPSTREAM_UNAVAILABLE'],
  [503, 'UPSTREAM_UNAVAILABLE'],
  [504, 'UPSTREAM_UNAVAILABLE'],
  [301, 'UPSTREAM_UNAVAILABLE'],
  [418, 'UPSTREAM_UNAVAILABLE'],
];

describe('an upstream refusal', () => {
  it.each(refusals)('with status %d is %s, with what upstream said of itself', async (status, code) => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, catalogue, sandbox, clock } = upstream;
    const body = JSON.stringify({
      error: { code: 'some_code', message: 'nothing to see' },
      meta: { request_id: 'req_77' },
    });
    for (const source of ['project', 'catalogue'] as const) {
      sandbox.faults.add({ source, status, body, times: 10 });
      const read: Promise<unknown> =
        source === 'project'
          ? project.sensors(page, scopeOf())
          : catalogue.sensors({ page: 1, limit: 100 }, scopeOf());
      const error = await failureOf(driving(clock, read));
      expect(error.code).toBe(code);
      expect(error.upstream).toEqual({
        source: source.toUpperCase(),
        status,
        code: 'some_code',
        requestId: 'req_77',
      });
    }
  });

  it('is in the log with the id that upstream gave it', async () => {
    await using upstream = await startUpstream();
    const { catalogue, sandbox, lines } = upstream;
    const body = '{"error":{"code":"broken","message":"secret detail"},"meta":{"request_id":"req_9"}}';
    sandbox.faults.add({ source: 'catalogue', status: 504, body });
    await failureOf(catalogue.networks(scopeOf()));
    const [line] = lines.filter((one) => one.includes('req_9'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'warn',
      failure: 'UPSTREAM_UNAVAILABLE',
      endpoint: '/v1/networks',
    });
    expect(lines.join()).not.toContain('secret detail');
  });

  it('of a single resource with 404 is null, on both interfaces', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue } = upstream;
    expect(await project.sensor('NONE', scopeOf())).toBeNull();
    expect(await project.event(asId('none'), scopeOf())).toBeNull();
    expect(await project.healthReports(asId('NONE'), {}, scopeOf())).toBeNull();
    expect(await catalogue.sensor(asId('none'), scopeOf())).toBeNull();
    expect(await catalogue.event(asId('none'), scopeOf())).toBeNull();
    expect(await catalogue.network(asId('none'), scopeOf())).toBeNull();
    expect(await catalogue.networkStatistics(asId('none'), scopeOf())).toBeNull();
    const window = { channel: 'HNZ', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' };
    expect(await catalogue.waveform(asId('none'), window, scopeOf())).toBeNull();
    expect(await catalogue.waveformStream(asId('none'), window, scopeOf())).toBeNull();
  });

  it('of an argument names it as the graph does, and passes on what upstream says', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue } = upstream;
    const range = { from: '2026-01-01', to: '2026-02-01' };
    const health = await failureOf(project.healthReports(asId('F4B395BF7E35'), range, scopeOf()));
    expect(health).toMatchObject({
      code: 'BAD_USER_INPUT',
      upstream: { code: 'invalid_range', status: 400 },
    });
    const events = await failureOf(project.events({ ...newest, minMagnitude: Number.NaN }, scopeOf()));
    expect(events).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'minMagnitude' });
    const window = { channel: 'XXX', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' };
    const sensors = await catalogue.sensors({ page: 1, limit: 1 }, scopeOf());
    const wave = await failureOf(
      catalogue.waveform(asId(sensors.value.items[0]?.id ?? ''), window, scopeOf()),
    );
    expect(wave).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'channel' });
  });

  it('never carries the key, an address or markup, even where upstream repeats them', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock, lines } = upstream;
    const { projectKey: key, projectUrl } = sandbox;
    for (const status of [400, 401, 403, 429, 500, 503]) {
      const echo = `Authorization: Bearer ${key} at ${projectUrl}/v1/sensors?x=${key} <script>`;
      const body = JSON.stringify({ error: { code: key, message: echo }, meta: { request_id: `r-${key}` } });
      sandbox.faults.add({ source: 'project', status, body, headers: { 'x-request-id': key }, times: 2 });
      const error = await failureOf(driving(clock, project.sensors(page, scopeOf())));
      const shown = JSON.stringify([error.message, error.upstream, error.argument, String(error.cause)]);
      expect(shown).not.toContain(key);
      expect(shown).not.toContain('svc_sk_');
      expect(shown).not.toContain('127.0.0.1');
      expect(shown).not.toContain('<');
    }
    expect(lines.join('\n')).not.toContain(key);
  });

  it('does not tell where upstream is when it cannot be reached', async () => {
    const clock = new ManualClock();
    await using client = projectAt('http://no-such-host.invalid:1/prefix', clock);
    const error = await failureOf(driving(clock, client.project(scopeOf())));
    expect(error.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(error.upstream).toMatchObject({ source: 'PROJECT', status: null });
    expect(JSON.stringify([error.message, error.upstream, String(error.cause)])).not.toMatch(
      /no-such|prefix/,
    );
  });
});

describe('a body that is not what the spec says', () => {
  const bodies: readonly [what: string, fault: Omit<Fault, 'source'>][] = [
    ['a page of HTML with status 200', { wrongBody: true }],
    ['a page of HTML with status 502', { wrongBody: true, status: 502 }],
    ['an empty body', { body: '' }],
    ['a body that is cut off', { truncate: true }],
    ['a bare NaN', { body: '{"data":[{"device_id":"A","x":NaN}],"total":1}' }],
    ['a bare array', { body: '[]' }],
    ['an empty object', { body: '{}' }],
    ['a list that is null', { body: '{"data":null,"total":0}' }],
    ['a list that is an object', { body: '{"data":{},"total":0}' }],
    ['a text', { body: '"data"' }],
    ['null', { body: 'null' }],
  ];

  it.each(bodies)('is UPSTREAM_UNAVAILABLE naming the endpoint: %s', async (_, fault) => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, catalogue, sandbox, clock } = upstream;
    for (const source of ['project', 'catalogue'] as const) {
      sandbox.faults.add({ ...fault, source, times: 10 });
      const read: Promise<unknown> =
        source === 'project'
          ? project.sensors(page, scopeOf())
          : catalogue.sensors({ page: 1, limit: 100 }, scopeOf());
      const error = await failureOf(driving(clock, read));
      expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expect(error.message).toContain('/v1/sensors');
      expect(error.message).not.toContain('<');
    }
  });

  it.each([201, 202, 204, 205, 206, 300, 301, 302, 304, 307, 308])(
    'is no answer where its status is not 200, and the error has that status: %i',
    async (status) => {
      await using upstream = await startUpstream({ projectRateLimit: unlimited });
      const { project, catalogue, sandbox, clock } = upstream;
      const window = { channel: 'HNZ', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' };
      for (const [source, read] of [
        ['project', () => project.sensors(page, scopeOf())],
        ['project', () => project.sensor('AGUA', scopeOf())],
        ['catalogue', () => catalogue.sensors({ page: 1, limit: 100 }, scopeOf())],
        ['catalogue', () => catalogue.waveformStream(asId('s1'), window, scopeOf())],
      ] as const) {
        // 204 is how web services of the FDSN say that there is no data.
        if (status === 204 && String(read).includes('waveformStream')) continue;
        sandbox.faults.add({ source, status, times: 2, ...([204, 304].includes(status) && { body: '' }) });
        const asked: Promise<unknown> = read();
        expect(await failureOf(driving(clock, asked))).toMatchObject({
          code: 'UPSTREAM_UNAVAILABLE',
          upstream: { source: source.toUpperCase(), status },
        });
        sandbox.faults.clear();
      }
    },
  );

  it('is UPSTREAM_UNAVAILABLE for a single resource without its identity', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', body: '{"station":"AGUA"}' });
    const error = await failureOf(project.sensor('AGUA', scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(error.message).toContain('/v1/sensors/{id}');
  });

  it('loses no more than its bad elements, which are counted and warned of once', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, lines } = upstream;
    sandbox.faults.add({
      source: 'project',
      rewrite: (body) => {
        const { data, ...rest } = body as { data: object[] };
        return { ...rest, data: [null, 7, { station: 'NOID' }, ...data.slice(3)] };
      },
    });
    const { value } = await project.sensors(page, scopeOf());
    expect(value.items).toHaveLength(value.received - 3);
    expect(value.total).toBe(value.received);
    const warnings = lines.filter((line) => line.includes('"warn"'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"dropped":3');
  });

  it('is refused over 32 MiB without being read to its end', async () => {
    let sent = 0;
    await using tiny = await startTiny((_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const more = () => {
        while (!response.destroyed && sent < 200) {
          sent++;
          if (!response.write(chunk)) return response.once('drain', more);
        }
        return response.end();
      };
      more();
    });
    await using client = projectAt(tiny.url, realClock);
    const error = await failureOf(client.project(scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(error.message).toContain('32 MiB');
    expect(sent).toBeLessThan(150);
    expect(tiny.requests).toHaveLength(1);
  });
});

describe('a second attempt', () => {
  const helped: readonly [what: string, fault: Omit<Fault, 'source'>][] = [
    ['a broken connection', { drop: true }],
    ['a body that is cut off', { truncate: true }],
    ['status 500', { status: 500 }],
    ['status 503', { status: 503, body: '{"error":{"code":"maintenance","message":"soon"}}' }],
  ];
  it.each(helped)('is made once after %s', async (_, fault) => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ ...fault, source: 'project' });
    const scope = scopeOf();
    await driving(clock, project.sensors(page, scope));
    expect(scope.meter.requests).toBe(2);
    sandbox.forget();
    sandbox.faults.add({ ...fault, source: 'project', times: 100 });
    await failureOf(driving(clock, project.sensors(page, scopeOf({ maxAgeMs: 0 }))));
    expect(sandbox.seen('project')).toHaveLength(2);
  });

  const useless: readonly [what: string, fault: Omit<Fault, 'source'>][] = [
    ['400', { status: 400 }],
    ['401', { status: 401 }],
    ['403', { status: 403 }],
    ['504', { status: 504 }],
    ['a body that is not JSON', { wrongBody: true }],
    ['a body without its list', { body: '{}' }],
  ];
  it.each(useless)('is not made after %s', async (_, fault) => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ ...fault, source: 'project', times: 100 });
    await failureOf(driving(clock, project.sensors(page, scopeOf())));
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('is not made when upstream did not answer in time', async () => {
    await using upstream = await startUpstream({ client: { timeoutMs: 50 } });
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', hang: true, times: 100 });
    const error = await failureOf(project.sensors(page, scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT', upstream: { status: null } });
    await eventually(() => expect(sandbox.seen('project')).toMatchObject([{ aborted: true }]));
  });

  it('is not made for the background, for which nobody waits', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', status: 500, times: 100 });
    await failureOf(project.sensors(page, scopeOf({ priority: 'background' })));
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('pays budget, and where it cannot, the first failure stands', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 20, perDay: 1 },
    });
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 500, times: 100 });
    const error = await failureOf(driving(clock, project.sensors(page, scopeOf())));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', upstream: { status: 500 } });
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it.each([
    [0, 100],
    [0.5, 300],
    [1, 500],
  ])(
    'comes after a pause of its own, so that those who failed together do not return together: %d',
    async (random, pauseMs) => {
      await using upstream = await startUpstream({ client: { random: () => random } });
      const { project, sandbox, clock } = upstream;
      sandbox.faults.add({ source: 'project', status: 500 });
      const read = project.sensors(page, scopeOf());
      await eventually(() => expect(clock.pendingTimers).toBe(1));
      await clock.advance(pauseMs - 1);
      expect(sandbox.inFlight('project')).toBe(0);
      expect(sandbox.seen('project')).toHaveLength(1);
      await clock.advance(1);
      await read;
      expect(sandbox.seen('project')).toHaveLength(2);
    },
  );

  it('ends with its caller, also during the pause', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 500, times: 100 });
    const leaving = new AbortController();
    const read = project.sensors(page, scopeOf({ signal: leaving.signal }));
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(1));
    leaving.abort(new Error('gone'));
    await expect(read).rejects.toThrow('gone');
    await clock.advance(10_000);
    expect(sandbox.seen('project')).toHaveLength(1);
  });
});
