import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

async function ready(gw: TestGateway) {
  const response = await gw.fetch('/ready');
  const { status, interfaces } = await response.json();
  const states = Object.fromEntries(
    interfaces.map(({ source, state }: { source: string; state: string }) => [source, state]),
  );
  return { http: response.status, status, ...states };
}

describe('/health', () => {
  it('knows nothing of upstream', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    gw.sandbox.faults.add({ source: 'catalogue', drop: true, times: 100 });
    const response = await gw.fetch('/health');
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('answers GET and HEAD alone', async () => {
    await using gw = await startGateway();
    expect((await gw.fetch('/health', { method: 'HEAD' })).status).toBe(200);
    expect((await gw.fetch('/health', { method: 'POST' })).status).toBe(405);
  });
});

describe('/ready', () => {
  it('is ok when every configured interface answers', async () => {
    await using gw = await startGateway();
    expect(await ready(gw)).toEqual({ http: 200, status: 'ok', PROJECT: 'ok', CATALOGUE: 'ok' });
    await using single = await startGateway({ catalogue: false });
    expect(await ready(single)).toEqual({ http: 200, status: 'ok', PROJECT: 'ok' });
  });

  it('is degraded when one is unavailable, and 503 when none can answer', async () => {
    await using gw = await startGateway();
    const catalogue = gw.sandbox.faults.add({ source: 'catalogue', drop: true, times: 100 });
    await vi.waitFor(async () => {
      expect(await ready(gw)).toEqual({ http: 200, status: 'degraded', PROJECT: 'ok', CATALOGUE: 'away' });
    }, 15_000);
    await using none = await startGateway({ behind: gw.sandbox, project: false });
    await vi.waitFor(async () => {
      expect(await ready(none)).toMatchObject({ http: 503, status: 'unavailable', CATALOGUE: 'away' });
    }, 15_000);
    catalogue.remove();
    await vi.waitFor(
      async () => expect(await ready(none)).toMatchObject({ http: 200, status: 'ok' }),
      15_000,
    );
  });

  it('is degraded while a feed that someone listens to has not succeeded for three intervals', async () => {
    const clock = new ManualClock();
    // Nothing is open in an empty world, so that no poll comes earlier.
    const sandbox = { world: emptyWorld() };
    await using gw = await startGateway({ clock, sandbox, env: { TRIGGER_POLL_INTERVAL_MS: '10000' } });
    await using socket = await openSocket(gw, { init: {} });
    socket.send({
      id: '1',
      type: 'subscribe',
      payload: { query: 'subscription { triggerChanges { cursor } }' },
    });
    const feed = async () => {
      const { status, feeds } = await (await gw.fetch('/ready')).json();
      const { active, ok } = feeds.find(({ name }: { name: string }) => name === 'triggerChanges');
      return { status, active, ok };
    };
    await vi.waitFor(async () => expect(await feed()).toEqual({ status: 'ok', active: true, ok: true }));
    await vi.waitFor(() => expect(gw.sandbox.seen('project', '/v1/triggers').length).toBeGreaterThan(0));
    const outage = gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/triggers',
      status: 403,
      times: 999,
    });
    for (let second = 0; second < 29; second++) await clock.advance(1_000);
    expect(await feed()).toMatchObject({ ok: true });
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(await feed()).toEqual({ status: 'degraded', active: true, ok: false });
    });
    outage.remove();
    await vi.waitFor(async () => {
      await clock.advance(5_000);
      expect(await feed()).toEqual({ status: 'ok', active: true, ok: true });
    }, 15_000);
  });

  it('says that the key of the gateway was refused', async () => {
    await using gw = await startGateway();
    gw.sandbox.revoke(gw.sandbox.projectKey);
    expect(await ready(gw)).toMatchObject({ http: 200, status: 'degraded', PROJECT: 'refused' });
  });

  it('says that the day of an interface is spent: it may not be asked, but is there', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, project: false });
    expect(await ready(gw)).toEqual({ http: 200, status: 'ok', CATALOGUE: 'ok' });
    const { networks } = await gw.query('{ networks { name } }');
    const headers = { 'retry-after': '3600' };
    gw.sandbox.faults.add({ source: 'catalogue', path: /data/, status: 429, headers, times: 1 });
    await gw.fetch('/waveforms/S1/HNZ.mseed?start=2026-01-01&end=2026-01-02');
    const spent = { http: 200, status: 'degraded', CATALOGUE: 'spent' };
    expect(await ready(gw)).toEqual(spent);
    await clock.advance(1_800_000);
    expect(await ready(gw)).toEqual(spent);
    expect(await gw.query('{ networks { name } }')).toEqual({ networks });
    await clock.advance(1_800_000);
    await vi.waitFor(async () => expect(await ready(gw)).toMatchObject({ status: 'ok', CATALOGUE: 'ok' }));
  });

  it('does not take the spent budget of a minute for more than it is', async () => {
    const clock = new ManualClock();
    const env = { PROJECT_RATE_PER_MINUTE: '1', PROJECT_RATE_BURST: '1', UPSTREAM_MAX_WAIT_MS: '0' };
    await using gw = await startGateway({ clock, catalogue: false, env });
    await gw.queryWithErrors('{ project { name } }');
    const { errors } = await gw.queryWithErrors('{ sensors(first: 1) { nodes { id } } }');
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_RATE_LIMITED');
    expect(await ready(gw)).toEqual({ http: 200, status: 'ok', PROJECT: 'ok' });
  });

  it('is no feed: nothing of the budget is kept for one because of it', async () => {
    const clock = new ManualClock();
    const env = { PROJECT_RATE_PER_MINUTE: '20', PROJECT_RATE_BURST: '20', UPSTREAM_MAX_WAIT_MS: '0' };
    await using gw = await startGateway({ clock, catalogue: false, env });
    expect(await ready(gw)).toMatchObject({ PROJECT: 'ok' });
    const sent = gw.sandbox.seen('project').length;
    for (let read = sent; read < 20; read++) {
      const from = new Date(clock.wallMs() - read * 60_000);
      await gw.query(
        'query ($from: DateTime!) { triggers(first: 1, filter: { from: $from }) { totalCount } }',
        { from },
      );
    }
    expect(gw.sandbox.seen('project')).toHaveLength(20);
  });

  it('sees an outage that a query has met, and its end, without a query', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, catalogue: false });
    expect(await ready(gw)).toMatchObject({ status: 'ok' });
    const outage = gw.sandbox.faults.add({ source: 'project', status: 502, times: 100 });
    const asked = gw.queryWithErrors('{ project { name } sensors(first: 1) { nodes { id } } }');
    await vi.waitFor(async () => {
      await clock.advance(500);
      expect(await ready(gw)).toMatchObject({ http: 503, PROJECT: 'away' });
    }, 15_000);
    await vi.waitFor(async () => {
      await clock.advance(500);
      await Promise.race([asked, Promise.reject(new Error('not yet'))]);
    });
    outage.remove();
    await vi.waitFor(async () => {
      await clock.advance(2_000);
      expect(await ready(gw)).toMatchObject({ http: 200, PROJECT: 'ok' });
    }, 15_000);
  });

  it('costs upstream next to nothing, however often it is asked', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock });
    for (let second = 0; second < 60; second++) {
      await ready(gw);
      await clock.advance(1_000);
    }
    expect(gw.sandbox.seen('project').length).toBeLessThanOrEqual(7);
    expect(gw.sandbox.seen('catalogue').length).toBeLessThanOrEqual(2);
  });

  it('tells no address, key or name', async () => {
    await using gw = await startGateway();
    const response = await gw.fetch('/ready');
    const text = await response.text();
    expect(text).not.toMatch(/127\.0\.0\.1|http|svc_sk/);
    expect(text).not.toContain(gw.sandbox.world.project.project.name);
  });

  it('needs no key of the gateway in passthrough', async () => {
    await using gw = await startGateway({ env: { AUTH_MODE: 'passthrough' } });
    expect(await ready(gw)).toEqual({ http: 200, status: 'ok', PROJECT: 'ok', CATALOGUE: 'ok' });
    await gw.sandbox.close();
    await using away = await startGateway({ behind: gw.sandbox, env: { AUTH_MODE: 'passthrough' } });
    await vi.waitFor(async () => {
      expect(await ready(away)).toMatchObject({ http: 503, PROJECT: 'away', CATALOGUE: 'away' });
    }, 15_000);
  });
});
