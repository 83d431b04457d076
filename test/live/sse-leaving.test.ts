import { setMaxListeners } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { emptyWorld } from '../../src/sandbox/world.js';
import { openEventStream } from '../support/event-stream.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const query = 'subscription { triggerChanges { trigger { triggerId } } }';

/** Each opens a stream of server-sent events; `text` is what has come, `leave` is how its client goes. */
const clients = {
  'aborts its request': async (gw: TestGateway) => {
    const gone = new AbortController();
    const stream = await openEventStream(gw, query, { signal: gone.signal });
    return { ...stream, leave: () => gone.abort() };
  },
  'cancels its reader': async (gw: TestGateway) => {
    const stream = await openEventStream(gw, query);
    return { ...stream, leave: () => void stream.reader.cancel() };
  },
  'loses its connection': async (gw: TestGateway) => {
    const { port } = new URL(gw.url);
    const socket = connect(Number(port), '127.0.0.1');
    let got = '';
    socket.on('data', (data) => {
      got += data;
    });
    const body = JSON.stringify({ query });
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
        `Accept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return { text: () => got, leave: () => void socket.destroy() };
  },
};

describe.each(Object.keys(clients) as (keyof typeof clients)[])('a stream whose client %s', (how) => {
  it.each(['before any change', 'after one'])('is no listener any more, %s', async (when) => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false, world: emptyWorld() } });
    const { text, leave } = await clients[how](gw);
    await polling(gw.sandbox);
    if (when === 'after one') {
      addTrigger(gw.sandbox, { id: 7 });
      await expect.poll(text, { timeout: 10_000 }).toContain('"triggerId":"7"');
    }
    expect((await feed(gw)).subscriberCount).toBe(1);
    leave();
    await expect.poll(async () => (await feed(gw)).subscriberCount, { interval: 10, timeout: 5_000 }).toBe(0);
    const polls = gw.sandbox.seen('project', '/v1/triggers').length;
    await expect.poll(async () => (await feed(gw)).active, { interval: 10, timeout: 5_000 }).toBe(false);
    // Two intervals: the one that it goes on for, in case its client is back at once, and one already under way.
    expect(gw.sandbox.seen('project', '/v1/triggers').length - polls).toBeLessThanOrEqual(2);
  });
});

describe('a stream on which nothing happens', () => {
  it('gets a comment every 12 seconds, before any proxy takes it for dead', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false, world: emptyWorld() } });
    const { text } = await openEventStream(gw, query);
    await expect.poll(text, { timeout: 20_000 }).toBe(':\n\n:\n\n');
  }, 30_000);
});

describe('a dozen streams', () => {
  it('are no leak to Node', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => {
      if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
    };
    process.on('warning', keep);
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false, world: emptyWorld() } });
    const gone = new AbortController();
    setMaxListeners(0, gone.signal);
    await Promise.all(Array.from({ length: 12 }, () => openEventStream(gw, query, { signal: gone.signal })));
    await expect.poll(async () => (await feed(gw)).subscriberCount, { timeout: 10_000 }).toBe(12);
    gone.abort();
    await expect.poll(async () => (await feed(gw)).subscriberCount, { timeout: 10_000 }).toBe(0);
    process.off('warning', keep);
    expect(warnings).toEqual([]);
  });
});

async function feed(gw: TestGateway) {
  return (await gw.query('{ gateway { feeds { active subscriberCount } } }')).gateway.feeds[0];
}
