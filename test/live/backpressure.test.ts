import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway } from '../support/gateway.js';
import { heapMiB } from '../support/heap.js';
import { openSocket } from '../support/raw-socket.js';
import { addTrigger, polling, quick } from './live-gateway.js';
import { Follower, feedsOver, UpstreamModel } from './upstream-model.js';

const text = `subscription { triggerChanges { kind cursor observedAt replayed trigger {
  id triggerId deviceId stationCode locationName status startTime endTime peakTime durationS pgaHorizontal pgaHne pgaHnn
  pgaHnz pgvEhz peakEhzCounts peakFrequencyHz estimatedIntensity { mmi roman shaking color } asOf } } }`;
const subscribe = { id: '1', type: 'subscribe', payload: { query: text } };

describe('a socket that is not read', () => {
  it('is closed with 1013, while others get everything', async () => {
    await using gw = await startGateway({
      // Each poll reads the whole of what follows again.
      env: { ...quick, TRIGGER_POLL_INTERVAL_MS: '2000' },
      sandbox: { rateLimits: false, world: emptyWorld() },
    });
    await using stalled = await openSocket(gw, { init: {} });
    await using first = await openSocket(gw, { init: {} });
    await using second = await openSocket(gw, { init: {} });
    for (const { send } of [stalled, first, second]) send(subscribe);
    await polling(gw.sandbox);
    stalled.socket.pause();
    // More than the kernel takes in for a reader who does not read, on both sides of the connection.
    const count = 5_000;
    const location_name = 'x'.repeat(5_000);
    for (let id = 1; id <= count; id++) addTrigger(gw.sandbox, { id, location_name });
    const everything = Array.from({ length: count }, (_, index) => String(index + 1));
    const healthy = [first, second].map(async (socket) => {
      const got: string[] = [];
      while (got.length < count)
        got.push((await socket.next()).payload.data.triggerChanges.trigger.triggerId);
      return got;
    });
    // It alone is not counted as a listener any more.
    await expect
      .poll(async () => (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0], {
        timeout: 120_000,
      })
      .toEqual({ subscriberCount: 2 });
    stalled.socket.resume();
    expect((await stalled.closed).code).toBe(1013);
    for (const got of await Promise.all(healthy)) expect(got).toEqual(everything);
  }, 180_000);

  it('is no listener any more when it answers no ping, and may still read why', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false, world: emptyWorld() } });
    await using stalled = await openSocket(gw, { init: {} });
    stalled.send(subscribe);
    await polling(gw.sandbox);
    stalled.socket.pause();
    // Two pings, 12 s apart.
    await expect
      .poll(async () => (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0], {
        timeout: 60_000,
      })
      .toEqual({ subscriberCount: 0 });
    stalled.socket.resume();
    expect(await stalled.closed).toEqual({ code: 1013, reason: 'No answer to a ping' });
  }, 90_000);
});

describe('10,000 who subscribe and drop', () => {
  it('leave nothing behind, and polling stops', async () => {
    const upstream = new UpstreamModel();
    const { clock } = upstream;
    const feeds = feedsOver(upstream);
    const cycle = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const follower = new Follower(feeds.triggerChanges({ filter: null, after: null }));
        if (i % 100 === 0) await clock.advance(100);
        follower.leave();
      }
      await clock.advance(60_000);
    };
    await cycle(2_000);
    const before = heapMiB();
    await cycle(10_000);
    const grownMiB = heapMiB() - before;
    expect(grownMiB).toBeLessThan(2);
    expect(clock.pendingTimers).toBe(0);
    for (const { isActive, subscriberCount } of feeds.status()) {
      expect({ isActive, subscriberCount }).toEqual({ isActive: false, subscriberCount: 0 });
    }
  }, 60_000);

  it('by killing their connection leave no listener on the gateway', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false, world: emptyWorld() } });
    const { port } = new URL(gw.url);
    for (let round = 0; round < 10; round++) {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(gw, { init: {} })));
      for (const { send } of sockets) send(subscribe);
      // Server-sent events, cut off without a word.
      const streams = Array.from({ length: 20 }, () => connect(Number(port), '127.0.0.1'));
      for (const stream of streams) {
        stream.on('error', () => {});
        const path = `/graphql?query=${encodeURIComponent(text)}`;
        stream.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
      }
      await polling(gw.sandbox);
      for (const { socket } of sockets) socket.terminate();
      for (const stream of streams) stream.destroy();
    }
    await expect
      .poll(
        async () => (await gw.query('{ gateway { feeds { active subscriberCount } } }')).gateway.feeds[0],
        {
          timeout: 30_000,
        },
      )
      .toEqual({ active: false, subscriberCount: 0 });
  }, 120_000);
});
