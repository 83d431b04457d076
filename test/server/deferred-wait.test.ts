import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { whileTimePasses } from '../graph/sensors-world.js';
import { startGateway } from '../support/gateway.js';
import { openParts } from '../support/parts.js';
import { openSocket } from '../support/raw-socket.js';

/** One request every ten seconds, none at once after the first. */
const slow = { PROJECT_RATE_PER_MINUTE: '6', PROJECT_RATE_BURST: '1' };
const names = '{ sensors(first: 1) { nodes { stationCode } } }';
const health = 'latestHealthReport { batteryVolts timestamp }';
const withHealth = `{ sensors(first: 1) { nodes { stationCode ... @defer(label: "health") { ${health} } } } }`;

async function startSlow(env: Record<string, string> = {}) {
  const clock = new ManualClock();
  const gw = await startGateway({
    clock,
    catalogue: false,
    isAlone: true,
    env: { ...slow, ...env },
  });
  const waiting = async () => {
    const metrics = await (await gw.fetch('/metrics')).text();
    return Number(/queued_requests\{[^}]*priority="query"\} (\d+)/.exec(metrics)?.[1]);
  };
  const soh = () => gw.sandbox.seen('project', /soh/).length;
  return { clock, gw, waiting, soh, [Symbol.asyncDispose]: () => gw.close() };
}

describe('a deferred part', () => {
  it('follows what is cached as soon as the rate limit allows, later than a whole answer would wait', async () => {
    await using slowly = await startSlow();
    const { gw, clock, soh } = slowly;
    await gw.query(names);
    const parts = await openParts(gw, withHealth);
    expect(await parts.next()).toEqual({
      data: { sensors: { nodes: [{ stationCode: expect.any(String) }] } },
      hasNext: true,
    });
    const next = parts.next();
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(1));
    // Beyond UPSTREAM_MAX_WAIT_MS.
    await clock.advance(6_000);
    expect(soh()).toBe(0);
    await clock.advance(5_000);
    expect(await next).toEqual({
      incremental: [
        {
          label: 'health',
          path: ['sensors', 'nodes', 0],
          data: { latestHealthReport: { batteryVolts: expect.any(Number), timestamp: expect.any(String) } },
        },
      ],
      hasNext: false,
    });
    expect(await parts.next()).toBeNull();
    expect(soh()).toBe(1);
  });

  it('fails alone, at its path and with its code, past UPSTREAM_MAX_DEFERRED_WAIT_MS', async () => {
    await using slowly = await startSlow({ UPSTREAM_MAX_DEFERRED_WAIT_MS: '9000' });
    const { gw } = slowly;
    await gw.query(names);
    const [, part] = await (await openParts(gw, withHealth)).rest();
    expect(part.incremental).toMatchObject([
      {
        label: 'health',
        path: ['sensors', 'nodes', 0],
        data: { latestHealthReport: null },
        errors: [
          {
            path: ['sensors', 'nodes', 0, 'latestHealthReport'],
            extensions: { code: 'UPSTREAM_RATE_LIMITED', retryAfterS: expect.any(Number) },
          },
        ],
      },
    ]);
  });

  it.each([
    ['that does not take parts', withHealth, 'application/json'],
    [
      'of the part that is not deferred',
      withHealth.replace('@defer', '@defer(if: false)').replace('(label: "health")', ''),
      undefined,
    ],
  ])('has no longer wait for a client %s', async (_, query, accept) => {
    await using slowly = await startSlow();
    const { gw } = slowly;
    await gw.query(names);
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: accept ?? 'multipart/mixed, application/json' },
      body: JSON.stringify({ query }),
    });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const { data, errors } = (await response.json()) as { data: object; errors: object[] };
    expect(data).toEqual({
      sensors: { nodes: [{ stationCode: expect.any(String), latestHealthReport: null }] },
    });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_RATE_LIMITED' } }]);
  });

  it('waits on where a less patient client gives up on the same request, in either order', async () => {
    await using slowly = await startSlow();
    const { gw, clock, soh } = slowly;
    await gw.query(names);
    const whole = withHealth.replace('@defer(label: "health")', '');
    const impatient = () => gw.queryWithErrors(whole);
    // Before it: refused at once.
    expect((await impatient()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_RATE_LIMITED' } }]);
    const parts = await openParts(gw, withHealth);
    await parts.next();
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(1));
    // After it: the same request is in the queue already.
    const joined = whileTimePasses(clock, impatient());
    expect((await joined).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_RATE_LIMITED' } }]);
    expect(soh()).toBe(0);
    await clock.advance(11_000);
    const part = await parts.next();
    expect(part.incremental[0].data.latestHealthReport.timestamp).toEqual(expect.any(String));
    expect(soh()).toBe(1);
  });

  it('stays within one request with the rest of its own operation', async () => {
    await using slowly = await startSlow();
    const { gw, clock, soh } = slowly;
    await gw.query(names);
    const parts = await whileTimePasses(
      clock,
      openParts(
        gw,
        `{ sensors(first: 1) { nodes { latestHealthReport { timestamp } ... @defer { again: ${health} } } } }`,
      ),
    );
    expect((await parts.next()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_RATE_LIMITED' } }]);
    expect(soh()).toBe(0);
    await clock.advance(11_000);
    expect((await parts.next()).incremental[0].data.again.timestamp).toEqual(expect.any(String));
    expect(soh()).toBe(1);
  });

  it('is no longer asked for when its client has gone, over HTTP and over a WebSocket', async () => {
    await using slowly = await startSlow();
    const { gw, clock, soh } = slowly;
    await gw.query(names);
    const leaving = new AbortController();
    const parts = await openParts(gw, withHealth, { signal: leaving.signal });
    await parts.next();
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(1));
    leaving.abort();
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(0));
    await using socket = await openSocket(gw, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query: withHealth } });
    expect((await socket.next()).payload.hasNext).toBe(true);
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(1));
    socket.send({ id: '1', type: 'complete' });
    await vi.waitFor(async () => expect(await slowly.waiting()).toBe(0));
    await clock.advance(60_000);
    expect(soh()).toBe(0);
  });

  it('of a sensor that the first part has read waits too, as do the items of a streamed list', async () => {
    await using slowly = await startSlow();
    const { gw, clock } = slowly;
    await gw.query(names);
    const parts = await openParts(
      gw,
      `{ sensors(first: 2) { nodes @stream(initialCount: 1) { stationCode ...Later } } }
      fragment Later on Sensor { ... @include(if: true) { health: ${health} } }`,
    );
    const first = parts.next();
    // The first item is none of the deferred ones: it is refused at once.
    expect((await first).errors).toMatchObject([
      { path: ['sensors', 'nodes', 0, 'health'], extensions: { code: 'UPSTREAM_RATE_LIMITED' } },
    ]);
    await clock.advance(11_000);
    expect((await parts.next()).incremental).toMatchObject([
      { path: ['sensors', 'nodes', 1], items: [{ health: { timestamp: expect.any(String) } }] },
    ]);
  });
});
