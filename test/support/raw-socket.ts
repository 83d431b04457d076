import { WebSocket } from 'ws';
import type { TestGateway } from './gateway.js';

/** A WebSocket spoken by hand: for what a well-behaved client would not do. */
export interface RawSocket extends AsyncDisposable {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** The next message, parsed; rejects when the socket closes before one comes. */
  next(): Promise<Message>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export interface Message {
  readonly type: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads by the shape of their own query
  readonly payload?: any;
}

export interface RawSocketOptions {
  readonly protocol?: string | readonly string[];
  readonly headers?: Record<string, string>;
  /** Sent at once as `connection_init`, and its acknowledgement awaited; left out, nothing is sent. */
  readonly init?: object;
}

export async function openSocket(
  gw: Pick<TestGateway, 'url'>,
  { protocol = 'graphql-transport-ws', headers = {}, init }: RawSocketOptions = {},
): Promise<RawSocket> {
  const protocols = typeof protocol === 'string' ? protocol : [...protocol];
  const socket = new WebSocket(`${gw.url.replace(/^http/, 'ws')}/graphql`, protocols, { headers });
  const received: Message[] = [];
  const waiting: { resolve(message: Message): void; reject(error: Error): void }[] = [];
  socket.on('message', (data) => {
    const message: Message = JSON.parse(String(data));
    const waiter = waiting.shift();
    if (waiter) waiter.resolve(message);
    else received.push(message);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      for (const { reject } of waiting.splice(0)) reject(new Error(`The socket was closed with ${code}`));
      resolve({ code, reason: String(reason) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  const raw: RawSocket = {
    socket,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next() {
      const message = received.shift();
      if (message) return Promise.resolve(message);
      if (socket.readyState === socket.CLOSED) return Promise.reject(new Error('The socket is closed'));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await closed;
    },
  };
  if (init) {
    raw.send({ type: 'connection_init', payload: init });
    const ack = await raw.next();
    if (ack.type !== 'connection_ack') throw new Error(`Expected connection_ack, got ${ack.type}`);
  }
  return raw;
}
