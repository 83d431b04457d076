import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway } from '../support/gateway.js';
import { whileTimePasses, worldOf } from './sensors-world.js';

const measured = { headers: { 'x-upstream-cost': '1' } };

describe('the same dashboard', () => {
  const dashboard = `{
    networks { name code }
    sensors(first: 40) { nodes { stationCode status lastSeenAt network { name } } }
    ill: sensors(first: 15) { nodes { latestHealthReport { timestamp batteryVolts } } }
    triggers(first: 50) { nodes { triggerId startTime pgaHorizontal sensor { stationCode } } }
    events(first: 20) { nodes { originTime magnitude place } unavailableSources { code } }
  }`;

  it('by 200 clients in one minute costs what one costs and the refreshes that its ages call for, and no 429', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock });
    const first = await whileTimePasses(clock, gw.queryWithErrors(dashboard, {}, measured));
    expect(first.errors).toBeUndefined();
    const cold = gw.sandbox.requests.length;
    expect(first.extensions.upstream.requests).toBe(cold);
    expect(first.data.sensors.nodes).toHaveLength(40);
    gw.sandbox.forget();
    for (let client = 1; client < 200; client++) {
      await clock.advance(300);
      const { errors, data } = await gw.queryWithErrors(dashboard);
      expect(errors).toBeUndefined();
      expect(data.events.unavailableSources).toEqual([]);
    }
    await clock.advance(1_000);
    const count = (source: 'project' | 'catalogue', path: string | RegExp) =>
      gw.sandbox.seen(source, path).length;
    // docs/behaviour.md 5.6: triggers every 2 s, sensors and events every 10 s, the project every 30 s, health every minute.
    expect(count('project', '/v1/triggers')).toBeLessThanOrEqual(30);
    expect(count('project', '/v1/sensors')).toBeLessThanOrEqual(6);
    expect(count('catalogue', '/v1/sensors')).toBeLessThanOrEqual(6);
    expect(count('project', '/v1/events')).toBeLessThanOrEqual(6);
    expect(count('catalogue', '/v1/events')).toBeLessThanOrEqual(6);
    expect(count('project', '/v1/project')).toBeLessThanOrEqual(2);
    expect(count('project', /soh$/)).toBeLessThanOrEqual(15);
    expect(count('catalogue', /networks/)).toBe(0);
    expect(gw.sandbox.requests.length).toBeLessThanOrEqual(30 + 4 * 6 + 2 + 15);
    expect(gw.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  }, 120_000);
});

describe('what the budget cannot pay within the wait', () => {
  it('is null at its path with the seconds to wait, and the rest is answered', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({
      clock,
      sandbox: { world: worldOf(60) },
      env: { UPSTREAM_MAX_WAIT_MS: '1000' },
    });
    const { data, errors, extensions } = await whileTimePasses(
      clock,
      gw.queryWithErrors(
        '{ sensors(first: 60) { nodes { stationCode latestHealthReport { timestamp } } } networks { name } }',
        {},
        measured,
      ),
    );
    expect(data.sensors.nodes).toHaveLength(60);
    expect(data.networks).toHaveLength(1);
    const refused = errors?.filter(({ extensions: { code } }) => code === 'UPSTREAM_RATE_LIMITED') ?? [];
    expect(refused.length).toBe(errors?.length);
    expect(refused.length).toBeGreaterThan(30);
    for (const { path, extensions } of refused) {
      expect(path).toEqual(['sensors', 'nodes', expect.any(Number), 'latestHealthReport']);
      expect(extensions.retryAfterS).toBeGreaterThan(0);
    }
    expect(extensions.upstream.requests).toBe(gw.sandbox.requests.length);
    expect(gw.sandbox.seen('project', /soh$/).length).toBe(60 - refused.length);
    expect(gw.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  });
});

describe('an interface that fails', () => {
  const interfaces = '{ gateway { interfaces { source reachable lastErrorCode } } }';

  it('is asked twice by one read, not asked after five reads, and `gateway` and `/ready` say so', async () => {
    const clock = new ManualClock();
    // Each process counts by itself how often the interface has failed it.
    await using gw = await startGateway({ clock, sandbox: { world: worldOf(2) }, isAlone: true });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: Number.POSITIVE_INFINITY });
    const ask = () => whileTimePasses(clock, gw.queryWithErrors('{ project { name } }', {}, measured));
    for (let read = 1; read <= 5; read++) {
      const { errors, extensions } = await ask();
      expect(errors).toMatchObject([{ path: ['project'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
      expect(extensions.upstream.requests).toBe(2);
      expect(gw.sandbox.requests).toHaveLength(2 * read);
    }
    const left = await ask();
    expect(left.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryAfterS: 10 } }]);
    expect(left.extensions.upstream.requests).toBe(0);
    expect(gw.sandbox.requests).toHaveLength(10);
    expect((await gw.query(interfaces)).gateway.interfaces).toContainEqual({
      source: 'PROJECT',
      reachable: false,
      lastErrorCode: 'UPSTREAM_UNAVAILABLE',
    });
    const ready = await gw.fetch('/ready');
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'degraded' }]);
    gw.sandbox.faults.clear();
    await clock.advance(10_000);
    expect((await ask()).data).toEqual({ project: { name: 'Sandbox network' } });
    expect((await gw.query(interfaces)).gateway.interfaces).toContainEqual(
      expect.objectContaining({ source: 'PROJECT', reachable: true }),
    );
  });
});
