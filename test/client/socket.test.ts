import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { LiveTriggersDocument, subscribeWithResume } from '../../src/client/index.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { heapMiB } from '../support/heap.js';

afterEach(() => void vi.useRealTimers());

interface Seen {
  readonly tokens: unknown[];
  readonly subscribed: { after: string | null }[];
  completed: number;
}

/** A gateway whose feed has `count` changes, numbered from 1, that it sends at once. */
async function startServer(count: number) {
  const seen: Seen = { tokens: [], subscribed: [], completed: 0 };
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (text) => {
      const { type, id, payload } = JSON.parse(String(text));
      if (type === 'connection_init') {
        seen.tokens.push(payload.authorization);
        send({ type: 'connection_ack' });
      }
      if (type === 'complete') seen.completed++;
      if (type !== 'subscribe') return;
      seen.subscribed.push(payload.variables);
      for (let position = Number(payload.variables.after) + 1; position <= count; position++)
        send({ type: 'next', id, payload: { data: { triggerChanges: { cursor: String(position) } } } });
    });
  });
  await once(server, 'listening');
  const close = async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  cleanUpAfterTests(close);
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return { url, seen, server, [Symbol.asyncDispose]: close };
}

/** Takes connections, and answers nothing. */
async function startSilence() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  cleanUpAfterTests(close);
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return { url, sockets, [Symbol.asyncDispose]: close };
}

const follow = (url: string, options: { authorization?: string; webSocketImpl?: unknown } = {}) =>
  subscribeWithResume(LiveTriggersDocument, {
    url,
    transport: 'ws',
    connectionParams: { authorization: options.authorization },
    webSocketImpl: options.webSocketImpl ?? WebSocket,
  });
type Changes = ReturnType<typeof follow>;
const cursorOf = async (changes: Changes) => (await changes.next()).value?.data.triggerChanges.cursor;
const leave = async (...all: Changes[]) => {
  for (const changes of all) await changes.return?.();
};

describe('a subscription over a socket', () => {
  it('says what to pass where there is no class of sockets', async () => {
    vi.stubGlobal('WebSocket', undefined);
    const url = 'http://127.0.0.1:1/graphql';
    const changes = subscribeWithResume(LiveTriggersDocument, { url, transport: 'ws' });
    await expect(changes.next()).rejects.toThrow('pass that of the package `ws` as `webSocketImpl`');
    vi.unstubAllGlobals();
  });

  it('whose consumer is far behind is left, and goes on behind the last change that came', async () => {
    const count = 2_500;
    await using server = await startServer(count);
    const changes = follow(server.url);
    expect(await cursorOf(changes)).toBe('1');
    await expect.poll(() => server.seen.completed, { timeout: 10_000 }).toBe(1);
    for (let position = 2; position <= count; position++)
      expect(await cursorOf(changes)).toBe(String(position));
    expect(server.seen.subscribed[0]?.after).toBeNull();
    expect(Number(server.seen.subscribed[1]?.after)).toBeLessThanOrEqual(1_001);
    await leave(changes);
  });

  it('shares the socket of its identity while that is open, and has a new one afterwards', async () => {
    await using server = await startServer(1);
    const sameTime = [follow(server.url), follow(server.url)];
    for (const changes of sameTime) expect(await cursorOf(changes)).toBe('1');
    const renewed = follow(server.url, { authorization: 'renewed' });
    expect(await cursorOf(renewed)).toBe('1');
    expect(server.seen.tokens).toEqual([undefined, 'renewed']);
    await leave(...sameTime, renewed);
    await expect.poll(() => server.server.clients.size).toBe(0);
    const later = [follow(server.url), follow(server.url)];
    for (const changes of later) expect(await cursorOf(changes)).toBe('1');
    expect(server.seen.tokens).toEqual([undefined, 'renewed', undefined]);
    await leave(...later);
  });

  it('holds nothing of an identity whose socket has closed, such as a token that is renewed', async () => {
    await using server = await startServer(1);
    const useToken = async (position: number) => {
      const changes = follow(server.url, { authorization: String(position).padStart(4 * 1024 ** 2) });
      expect(await cursorOf(changes)).toBe('1');
      await leave(changes);
      await expect.poll(() => server.server.clients.size).toBe(0);
      server.seen.tokens.length = 0;
    };
    await useToken(0);
    const before = heapMiB();
    for (let position = 1; position <= 10; position++) await useToken(position);
    expect(heapMiB() - before).toBeLessThan(20);
  });

  it('uses the class of sockets that it was given, beside one of the same identity with another', async () => {
    await using server = await startServer(1);
    let made = 0;
    class Counted extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols);
        made++;
      }
    }
    const one = follow(server.url);
    expect(await cursorOf(one)).toBe('1');
    const other = follow(server.url, { webSocketImpl: Counted });
    expect(await cursorOf(other)).toBe('1');
    expect(made).toBe(1);
    await leave(one, other);
  });

  it('shares one socket with the others again after all have lost it', async () => {
    await using server = await startServer(2);
    const all = [follow(server.url), follow(server.url)];
    for (const changes of all) expect(await cursorOf(changes)).toBe('1');
    for (const changes of all) expect(await cursorOf(changes)).toBe('2');
    const next = all.map(cursorOf);
    for (const socket of server.server.clients) socket.terminate();
    await expect.poll(() => server.seen.subscribed.length, { timeout: 10_000 }).toBe(4);
    expect(server.server.clients.size).toBe(1);
    await leave(...all);
    expect(await Promise.all(next)).toEqual([undefined, undefined]);
  });

  it('ends at once where it is left while its socket opens', async () => {
    await using server = await startSilence();
    const changes = follow(server.url);
    const next = changes.next();
    await expect.poll(() => server.sockets.length).toBe(1);
    await leave(changes);
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('opens another socket where one does not open', async () => {
    await using server = await startSilence();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const changes = follow(server.url);
    const next = changes.next();
    while (server.sockets.length < 2) {
      await vi.advanceTimersByTimeAsync(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await leave(changes);
    await next;
  });
});

it.each(['ws', 'sse'] as const)('an address that can be none is refused at once, over %s', (transport) => {
  const subscribe = () =>
    subscribeWithResume(LiveTriggersDocument, {
      url: 'localhost:4000/graphql',
      transport,
      webSocketImpl: WebSocket,
    });
  expect(subscribe).toThrow('has to begin with http');
});
