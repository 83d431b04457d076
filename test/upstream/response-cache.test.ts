import { describe, expect, it } from 'vitest';
import { type Clock, plus } from '../../src/clock.js';
import { UpstreamRateLimited, UpstreamUnavailable } from '../../src/errors.js';
import { createResponseCache } from '../../src/upstream/cache/response-cache.js';
import { asId } from '../../src/upstream/decode/fields.js';
import type { ProjectClient } from '../../src/upstream/project/client.js';
import type { ReadScope } from '../../src/upstream/read/read.js';
import { forward } from '../support/moments.js';
import { driving, eventually, failureOf, scopeOf, startUpstream, unlimited } from './harness.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const page = { limit: 100, offset: 0 };
const newest = { limit: 5, offset: 0, order: 'desc' as const };

type Ask = (client: ProjectClient, scope: ReadScope) => Promise<unknown>;

/** docs/behaviour.md 5.6, for what the project interface has. */
const ages: readonly [what: string, freshS: number, ask: Ask][] = [
  ['triggers', 2, (client, scope) => client.triggers(newest, scope)],
  ['sensors', 10, (client, scope) => client.sensors(page, scope)],
  ['events', 10, (client, scope) => client.events(newest, scope)],
  ['the project', 30, (client, scope) => client.project(scope)],
  ['latest health', 60, (client, scope) => client.healthReports(asId('F4B395BF7E35'), { limit: 1 }, scope)],
];

describe('an answer', () => {
  it.each(ages)('about %s is fresh for %d s', async (_, freshS, ask) => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    await ask(project, scopeOf());
    await clock.advance(freshS * 1000);
    const fresh = scopeOf();
    await ask(project, fresh);
    expect(sandbox.seen('project')).toHaveLength(1);
    expect(fresh.meter).toMatchObject({ requests: 0, cacheHits: 1, staleHits: 0, oldestAgeS: freshS });
    await clock.advance(1);
    const old = scopeOf();
    await ask(project, old);
    expect(old.meter).toMatchObject({ requests: 0, cacheHits: 0, staleHits: 1 });
    await eventually(() => expect(sandbox.seen('project')).toHaveLength(2));
    await eventually(() => expect(project.status().waiting.background).toBe(0));
    const refreshed = scopeOf();
    await eventually(async () => {
      await ask(project, refreshed);
      expect(refreshed.meter.cacheHits).toBeGreaterThan(0);
    });
    expect(sandbox.seen('project')).toHaveLength(2);
  });

  it('about networks is fresh for 300 s', async () => {
    await using upstream = await startUpstream();
    const { catalogue, sandbox, clock } = upstream;
    await catalogue.networks(scopeOf());
    await clock.advance(300_000);
    await catalogue.networks(scopeOf());
    expect(sandbox.seen('catalogue')).toHaveLength(1);
    await clock.advance(1);
    await catalogue.networks(scopeOf());
    await eventually(() => expect(sandbox.seen('catalogue')).toHaveLength(2));
  });

  it.each(ages)(
    'about %s is served at once up to five lifetimes; an older one waits for upstream',
    async (_, freshS, ask) => {
      await using upstream = await startUpstream({ projectRateLimit: unlimited });
      const { project, sandbox, clock } = upstream;
      await ask(project, scopeOf());
      await clock.advance(5 * freshS * 1000);
      const stale = scopeOf();
      await ask(project, stale);
      expect(stale.meter).toMatchObject({ requests: 0, staleHits: 1, oldestAgeS: 5 * freshS });
      await eventually(() => expect(sandbox.seen('project')).toHaveLength(2));
      await eventually(() => expect(sandbox.inFlight('project')).toBe(0));
      await ask(project, scopeOf({ maxAgeMs: 0 }));
      await clock.advance(5 * freshS * 1000 + 1);
      const old = scopeOf();
      await ask(project, old);
      expect(old.meter).toMatchObject({ requests: 1, cacheHits: 0, staleHits: 0, oldestAgeS: 0 });
    },
  );

  it('of five lifetimes is served at once and revalidated behind', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    const first = await project.sensors(page, scopeOf());
    await clock.advance(50_000);
    sandbox.faults.add({ source: 'project', hang: true });
    const leaving = new AbortController();
    expect(await project.sensors(page, scopeOf({ signal: leaving.signal }))).toEqual(first);
    leaving.abort();
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    project.close();
    await eventually(() => expect(sandbox.inFlight('project')).toBe(0));
    const other = upstream.projectWith({});
    await other.sensors(page, scopeOf());
    await clock.advance(50_001);
    const scope = scopeOf();
    const read = await other.sensors(page, scope);
    expect(read.readAtMs).toBe(clock.now());
    expect(scope.meter).toMatchObject({ requests: 1, staleHits: 0 });
  });

  it('of a day is served while upstream fails, and none that is older', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    const first = await project.sensors(page, scopeOf());
    sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    await clock.advance(24 * hourMs);
    const scope = scopeOf();
    expect(await driving(clock, project.sensors(page, scope), 1)).toEqual(first);
    expect(scope.meter).toMatchObject({ requests: 2, staleHits: 1 });
    await clock.advance(minuteMs);
    expect(await failureOf(driving(clock, project.sensors(page, scopeOf())))).toBeInstanceOf(
      UpstreamUnavailable,
    );
  });

  it('of a day is served when the budget is spent', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 20, perDay: 1 },
    });
    const { project, clock } = upstream;
    const first = await project.sensors(page, scopeOf());
    await clock.advance(2 * hourMs);
    const scope = scopeOf();
    expect(await project.sensors(page, scope)).toEqual(first);
    expect(scope.meter).toMatchObject({ requests: 0, staleHits: 1 });
    expect(await failureOf(project.project(scopeOf()))).toBeInstanceOf(UpstreamRateLimited);
  });

  it('is not served any more after upstream has refused it', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    await project.events(newest, scopeOf());
    sandbox.faults.add({ source: 'project', path: '/v1/events', status: 403, times: 2 });
    await clock.advance(minuteMs / 2);
    await project.events(newest, scopeOf());
    await eventually(async () => {
      expect((await failureOf(project.events(newest, scopeOf()))).code).toBe('FORBIDDEN');
    });
  });

  it('will do only up to the age that the caller names, and is cached for the others', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    await project.sensors(page, scopeOf());
    await project.sensors(page, scopeOf({ maxAgeMs: 0 }));
    expect(sandbox.seen('project')).toHaveLength(2);
    await clock.advance(50_000);
    await project.sensors(page, scopeOf({ maxAgeMs: 60_000 }));
    expect(sandbox.seen('project')).toHaveLength(2);
    const scope = scopeOf({ maxAgeMs: 40_000 });
    await project.sensors(page, scope);
    expect(scope.meter.requests).toBe(1);
    await project.sensors(page, scopeOf());
    expect(sandbox.seen('project')).toHaveLength(3);
  });

  it('will do from the time on that the caller names, however much later it gets there', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    const { readAtMs } = await project.sensors(page, scopeOf());
    const asked = scopeOf({ notBeforeMs: readAtMs });
    await clock.advance(1);
    await project.sensors(page, asked);
    expect(sandbox.seen('project')).toHaveLength(1);
    await project.sensors(page, scopeOf({ notBeforeMs: plus(readAtMs, 1) }));
    expect(sandbox.seen('project')).toHaveLength(2);
  });

  it('has the records of the one before where upstream sent the same, and was read later', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox, clock } = upstream;
    const ask = () => project.sensors(page, { ...scopeOf(), maxAgeMs: 0 });
    const first = await ask();
    await clock.advance(1_000);
    const second = await ask();
    expect(sandbox.seen('project')).toHaveLength(2);
    expect(second.value).toBe(first.value);
    expect(second.readAtMs).toBe(first.readAtMs + 1_000);
    for (const sensor of sandbox.world.project.sensors) sensor.sensor_type = 'OTHER';
    const third = await ask();
    expect(third.value).not.toBe(first.value);
    expect(new Set(third.value.items.map((sensor) => sensor.sensor_type))).toEqual(new Set(['OTHER']));
  });

  it('cannot be changed by whoever gets it', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue } = upstream;
    const sensors = await project.sensors(page, scopeOf());
    const health = await project.healthReports(
      asId(sensors.value.items[0]?.device_id ?? ''),
      { limit: 3 },
      scopeOf(),
    );
    const events = await catalogue.events({ page: 1, limit: 5 }, scopeOf());
    const detail = await catalogue.event(asId(events.value.items[0]?.id ?? ''), scopeOf());
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    for (const read of [sensors, health, events, detail]) expect(isFrozen(read?.value)).toBe(true);
  });
});

describe('what is immutable', () => {
  it('is not asked for again: a closed trigger, and triggers of which none can still become visible', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    const all = await project.triggers({ limit: 500, offset: 0, order: 'desc' }, scopeOf());
    const closed = all.value.items.find(({ status }) => status === 'closed');
    const [deviceId, from] = [closed?.device_id, closed?.start_time];
    const single = { ...newest, deviceId, from, to: from };
    const before = { ...newest, from: '2025-12-01', to: '2025-12-30' };
    for (const query of [single, before]) {
      await project.triggers(query, scopeOf());
      sandbox.forget();
      await clock.advance(3 * hourMs);
      await project.triggers(query, scopeOf());
      expect(sandbox.seen('project')).toEqual([]);
    }
  });

  it('are not triggers that can still change or be added to', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({
      source: 'project',
      times: 1,
      rewrite: () => ({
        data: [{ id: 1, device_id: 'A', start_time: '2026-01-01T00:00:00Z', status: 'open' }],
        total: 1,
      }),
    });
    const point = { ...newest, deviceId: 'A', from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' };
    const recent = { ...newest, to: new Date(clock.wallMs() - 23 * hourMs).toISOString() };
    for (const query of [point, recent]) {
      await project.triggers(query, scopeOf());
      sandbox.forget();
      await clock.advance(minuteMs);
      await project.triggers(query, scopeOf());
      await eventually(() => expect(sandbox.seen('project')).toHaveLength(1));
    }
  });

  it('is not asked for again: health reports and waveforms of the past', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue, sandbox, clock } = upstream;
    const at = (agoMs: number) => new Date(clock.wallMs() - agoMs).toISOString();
    const { items } = (await catalogue.sensors({ page: 1, limit: 1 }, scopeOf())).value;
    const health = { from: at(5 * hourMs), to: at(2 * hourMs) };
    const waveform = { channel: 'HNZ', start: at(2 * hourMs), end: at(2 * hourMs - minuteMs) };
    const ask = async () => {
      await project.healthReports(asId('F4B395BF7E35'), health, scopeOf());
      await catalogue.waveform(asId(items[0]?.id ?? ''), waveform, scopeOf());
    };
    await ask();
    sandbox.forget();
    await clock.advance(3 * hourMs);
    await ask();
    expect(sandbox.requests).toEqual([]);
  });

  it('is the detail of an event as long as a list shows it unchanged', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue, sandbox, clock } = upstream;
    const read = async (interfaceOf: 'project' | 'catalogue') => {
      if (interfaceOf === 'project') {
        const { items } = (await project.events(newest, scopeOf({ maxAgeMs: 0 }))).value;
        return project.event(asId(items[0]?.id ?? ''), scopeOf());
      }
      const { items } = (await catalogue.events({ page: 1, limit: 5 }, scopeOf({ maxAgeMs: 0 }))).value;
      return catalogue.event(asId(items[0]?.id ?? ''), scopeOf());
    };
    for (const source of ['project', 'catalogue'] as const) {
      sandbox.forget();
      for (let i = 0; i < 5; i++) {
        await read(source);
        await clock.advance(hourMs);
      }
      expect(sandbox.seen(source, /events\/./)).toHaveLength(1);
      const raised = sandbox.faults.add({
        source,
        path: '/v1/events',
        rewrite: (body) => ({
          ...(body as object),
          data: (body as { data: object[] }).data.map((event) => ({ ...event, magnitude: 9.9 })),
        }),
      });
      await read(source);
      expect(sandbox.seen(source, /events\/./)).toHaveLength(2);
      raised.remove();
    }
  });
});

describe('what is not there', () => {
  it('is found within 10 s of its appearance, and at once with a key that may see it', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', path: '/v1/sensors/AGUA', status: 404 });
    expect(await project.sensor('AGUA', scopeOf())).toBeNull();
    expect(await project.sensor('AGUA', scopeOf())).toBeNull();
    expect(sandbox.seen('project')).toHaveLength(1);
    const other = upstream.projectWith({ key: sandbox.maskedProjectKey });
    await other.sensor('AGUA', scopeOf());
    expect(sandbox.seen('project')).toHaveLength(2);
    await clock.advance(10_001);
    expect(await project.sensor('AGUA', scopeOf())).not.toBeNull();
  });

  it('is not cached longer for a caller whom old answers would do', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 404 });
    const patient = () => scopeOf({ maxAgeMs: 24 * hourMs });
    expect(await project.sensor('AGUA', patient())).toBeNull();
    await clock.advance(10_001);
    expect(await project.sensor('AGUA', patient())).not.toBeNull();
  });
});

describe('a failure', () => {
  it('is not remembered', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', status: 500, times: 2 });
    await failureOf(driving(clock, project.sensor('AGUA', scopeOf())));
    expect(await project.sensor('AGUA', scopeOf())).not.toBeNull();
  });
});

describe('forgetting', () => {
  it('keeps what was read before, finished or on its way, from being served after', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    await project.project(scopeOf());
    project.discardCache();
    await project.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(2);
    sandbox.faults.add({ source: 'project', path: '/v1/sensors', hang: true });
    const leaving = new AbortController();
    const early = project.sensors(page, scopeOf({ signal: leaving.signal }));
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    project.discardCache();
    await project.sensors(page, scopeOf());
    leaving.abort(new Error('gone'));
    await expect(early).rejects.toThrow('gone');
  });

  it('does not cache a response that was asked for before it', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', latencyMs: 1_000 });
    const early = project.project(scopeOf());
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    project.discardCache();
    await driving(clock, early);
    const scope = scopeOf();
    await project.project(scope);
    expect(scope.meter).toMatchObject({ requests: 1, cacheHits: 0 });
  });

  it('is not undone by a failure of upstream that would have been bridged by a stale response', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    await clock.advance(2 * hourMs);
    sandbox.faults.add({ source: 'project', latencyMs: 1_000, status: 504 });
    const read = failureOf(project.project(scopeOf()));
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    project.discardCache();
    expect((await driving(clock, read)).code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('takes nothing from another key', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    const other = upstream.projectWith({ key: sandbox.maskedProjectKey });
    await project.project(scopeOf());
    await other.project(scopeOf());
    project.close();
    await other.project(scopeOf());
    expect(sandbox.seen('project')).toHaveLength(2);
  });
});

describe('two keys', () => {
  it('never see the responses of the other, however they alternate', async () => {
    await using upstream = await startUpstream({ projectRateLimit: unlimited });
    const { project, sandbox } = upstream;
    const masked = upstream.projectWith({ key: sandbox.maskedProjectKey });
    const own = (await project.project(scopeOf({ maxAgeMs: 0 }))).value.id;
    const other = (await masked.project(scopeOf({ maxAgeMs: 0 }))).value.id;
    expect(own).not.toBe(other);
    project.discardCache();
    masked.discardCache();
    const reads = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 ? masked : project).project(scopeOf())),
    );
    expect(reads.map(({ value }) => value.id)).toEqual(
      Array.from({ length: 200 }, (_, index) => (index % 2 ? other : own)),
    );
  });
});

describe('all that is cached', () => {
  it('stays within its bytes however many different things are asked for', async () => {
    const maxBytes = 300_000;
    await using upstream = await startUpstream({ projectRateLimit: unlimited, maxBytes });
    const { project, cache, clock } = upstream;
    for (let i = 0; i < 200; i++) {
      const to = new Date(clock.wallMs() - i * minuteMs).toISOString();
      await project.healthReports(asId('F4B395BF7E35'), { to, limit: 100 }, scopeOf());
      expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
    }
    expect(cache.entries).toBeGreaterThan(0);
    expect(cache.entries).toBeLessThan(200);
  });

  it('does not cache one response that would evict most of the others', () => {
    const cache = createResponseCache({ maxBytes: 10_000 });
    const part = cache.part('a');
    const cached = {
      value: 1,
      absent: false,
      readAtMs: forward(0),
      askedAtMs: forward(0),
      immutable: false,
      version: null,
      digest: null,
    };
    part.set('small', { ...cached, bytes: 10 });
    part.set('large', { ...cached, bytes: 5_000 });
    expect(part.get('large')).toBeUndefined();
    expect(part.get('small')).toBeDefined();
  });

  it('goes with its key, and leaves no trace', () => {
    const cache = createResponseCache({ maxBytes: 100_000 });
    const cached = {
      value: 1,
      absent: false,
      readAtMs: forward(0),
      askedAtMs: forward(0),
      immutable: false,
      version: null,
      digest: null,
      bytes: 10,
    };
    for (const name of ['a', 'b']) for (let i = 0; i < 10; i++) cache.part(name).set(`${i}`, cached);
    cache.part('a').clear();
    expect(cache.entries).toBe(10);
    expect(cache.part('a').get('1')).toBeUndefined();
    expect(cache.part('b').get('1')).toBeDefined();
  });
});

describe('a demand on age', () => {
  const demand = (clock: Pick<Clock, 'now'>, maxAgeMs = 0) => ({ maxAgeMs, atMs: clock.now() });

  it('is not met by what was asked for before it, however late that arrives', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', latencyMs: 1_000 });
    const early = project.triggers(newest, scopeOf());
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    await clock.advance(500);
    const scopes = [1, 2, 3].map(() => scopeOf({ demand: demand(clock) }));
    const late = scopes.map((scope) => project.triggers(newest, scope));
    await driving(clock, Promise.all([early, ...late]));
    // The first is waited for, so that the same request is never in flight twice; the second is for all three.
    expect(sandbox.seen('project')).toHaveLength(2);
    expect(scopes.map(({ meter }) => meter.requests).sort()).toEqual([0, 0, 1]);
    for (const read of late) expect((await read).readAtMs).toBeGreaterThanOrEqual((await early).readAtMs);
  });

  it('that some age would do for is met by what was on its way', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox, clock } = upstream;
    sandbox.faults.add({ source: 'project', latencyMs: 1_000 });
    const early = project.triggers(newest, scopeOf());
    await eventually(() => expect(sandbox.inFlight('project')).toBe(1));
    const late = project.triggers(newest, scopeOf({ demand: demand(clock, 5_000) }));
    expect(await driving(clock, late)).toBe(await early);
    expect(sandbox.seen('project')).toHaveLength(1);
  });

  it('is met by a request that still waits to be sent', async () => {
    await using upstream = await startUpstream({
      projectRateLimit: { perMinute: 60, burst: 1, perDay: null },
    });
    const { project, sandbox, clock } = upstream;
    await project.project(scopeOf());
    const early = project.triggers(newest, scopeOf());
    const late = project.triggers(newest, scopeOf({ demand: demand(clock) }));
    expect(await driving(clock, late)).toBe(await early);
    expect(sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
  });
});
