import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hourMs, ManualClock, realClock } from '../../src/clock.js';
import { aTrigger } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { quick } from '../live/live-gateway.js';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { driving } from '../upstream/harness.js';

const textOf = (ms: number) => new Date(ms).toISOString();

describe.each([
  ['back', -hourMs],
  ['forward', hourMs],
])('a wall clock that is set %s by an hour', (_, byMs) => {
  it('neither locks a client out nor lets it in', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, env: { CLIENT_RATE_PER_MINUTE: '2' } });
    const statuses = async () => [
      (await gw.queryWithErrors('{ __typename }')).status,
      (await gw.queryWithErrors('{ __typename }')).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    clock.stepWall(byMs);
    expect(await statuses()).toEqual([429, 429]);
    await clock.advance(30_000);
    expect(await statuses()).toEqual([200, 429]);
  });

  it('stops no feed and closes no socket, and dates are told by it', async () => {
    const clock = new ManualClock();
    const sandbox = { world: emptyWorld(), rateLimits: false } as const;
    await using gw = await startGateway({ clock, env: quick, sandbox });
    const { triggers } = gw.sandbox.world.project;
    const upstreamMs = () => clock.wallMs() - (isSet ? byMs : 0);
    let isSet = false;
    const add = () => triggers.push(aTrigger({ id: triggers.length + 1, start_time: textOf(upstreamMs()) }));
    await using socket = await openSocket(gw, { init: {} });
    add();
    const query = 'subscription { triggerChanges { observedAt trigger { triggerId asOf } } }';
    socket.send({ id: '1', type: 'subscribe', payload: { query } });
    const polls = () => gw.sandbox.seen('project', '/v1/triggers').length;
    const polling = async (more: number) => {
      const before = polls();
      while (polls() < before + more) await driving(clock, gw.query('{ __typename }'), 250);
    };
    await polling(2);
    clock.stepWall(byMs);
    isSet = true;
    await polling(2);
    add();
    const { triggerChanges } = (await driving(clock, socket.next(), 50)).payload.data;
    expect(triggerChanges.trigger.triggerId).toBe('2');
    const now = clock.wallMs();
    for (const date of [triggerChanges.observedAt, triggerChanges.trigger.asOf])
      expect(Math.abs(Date.parse(date) - now)).toBeLessThan(60_000);
    await clock.advance(120_000);
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
    const { gateway } = await gw.query('{ gateway { feeds { name active lastPollAt } } }');
    const feed = gateway.feeds.find(({ name }: { name: string }) => name === 'triggerChanges');
    expect(Math.abs(Date.parse(feed.lastPollAt) - clock.wallMs())).toBeLessThan(60_000);
  });
});

describe("the machine's clock", () => {
  afterEach(() => void vi.useRealTimers());

  it('runs forward whatever the wall clock is set to, and names dates by it', () => {
    const readAtMs = realClock.now();
    const date = realClock.wallMs(readAtMs);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - hourMs });
    expect(realClock.now()).toBeGreaterThanOrEqual(readAtMs);
    expect(realClock.now() - readAtMs).toBeLessThan(hourMs);
    expect(Math.abs(realClock.wallMs(readAtMs) - (date - hourMs))).toBeLessThan(1_000);
    // The same moment keeps the same date, so that an answer that is made again is the same.
    expect(realClock.wallMs(readAtMs)).toBe(realClock.wallMs(readAtMs));
  });

  it('is the only one that the gateway reads', () => {
    const readsAnother = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path !== 'clock.ts')
      // The client and the script of a page run in a browser or a program of somebody else, beside no gateway's clock.
      .filter((path) => !path.startsWith('client/') && path !== 'server/http/pages/graphiql-tabs.ts')
      .filter((path) =>
        /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/.test(
          readFileSync(`src/${path}`, 'utf8'),
        ),
      );
    expect(readsAnother).toEqual([]);
  });
});
