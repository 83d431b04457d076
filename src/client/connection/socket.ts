import type { FormattedExecutionResult } from 'graphql';
import { type Client, createClient } from 'graphql-ws/client';
import { GraphError, networkError } from '../errors.js';
import { addressOf } from './address.js';
import type { Open } from './event-stream.js';
import { Queue } from './queue.js';

export interface SocketOptions {
  /** Address of the graph: `http` stands for `ws`, and a relative one belongs to the page. */
  readonly url: string;
  readonly connectionParams: Readonly<Record<string, unknown>>;
  /** A class like the browser's own; Node has none before 22, where that of the package `ws` does. */
  readonly webSocketImpl: unknown;
}

// A connection that was lost without a word is noticed by an unanswered ping, like the gateway notices it.
const pingEveryMs = 12_000;
const pongWithinMs = 8_000;
const openWithinMs = 20_000;

interface Connection extends SocketOptions {
  readonly client: Client;
  /** Whether the gateway has acknowledged it: only then are subscriptions sent. */
  isAcknowledged: boolean;
}

// One for each gateway and identity, so that all subscriptions of a page share its socket; each is there as long as its
// socket, since a page that renews its token has a new identity each time.
const connections = new Set<Connection>();

/** Subscribes over WebSocket. A consumer that is far behind ends the subscription: a socket cannot be held up. */
export function overSocket(options: SocketOptions): Open {
  const address = addressOf(options.url, 'ws');
  return async function* open(operation, signal, onOpen) {
    if (signal.aborted) return;
    if (!options.webSocketImpl && !globalThis.WebSocket) {
      throw new TypeError(
        'Node has no WebSocket before 22: pass that of the package `ws` as `webSocketImpl`',
      );
    }
    const known = [...connections].find((connection) => isSame(connection, options));
    const connection = known ?? connectionTo(address, options);
    const { client } = connection;
    const unlisten = client.on('connected', onOpen);
    if (connection.isAcknowledged) onOpen();
    const leave = () => {
      unlisten();
      dispose();
      results.end();
    };
    const results = new Queue<FormattedExecutionResult>(leave);
    const dispose = client.subscribe(
      { query: operation.query, variables: { ...operation.variables } },
      {
        next: (result) => results.push(result as FormattedExecutionResult),
        error: (error) => results.end({ error: errorOf(error) }),
        complete: () => results.end(),
      },
    );
    signal.addEventListener('abort', leave, { once: true });
    try {
      yield* results;
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  };
}

function isSame(one: SocketOptions, other: SocketOptions): boolean {
  const keyOf = ({ url, connectionParams }: SocketOptions) => JSON.stringify([url, connectionParams]);
  return one.webSocketImpl === other.webSocketImpl && keyOf(one) === keyOf(other);
}

function connectionTo(address: string, options: SocketOptions): Connection {
  const { connectionParams, webSocketImpl } = options;
  let unanswered: ReturnType<typeof setTimeout>;
  const client = createClient({
    url: address,
    connectionParams: { ...connectionParams },
    // Each subscription reconnects by itself: its variables change with its cursor.
    retryAttempts: 0,
    keepAlive: pingEveryMs,
    webSocketImpl: openingInTime(webSocketImpl ?? globalThis.WebSocket),
    on: {
      connecting: () => void connections.add(connection),
      connected() {
        connection.isAcknowledged = true;
      },
      ping(isReceived) {
        if (!isReceived) unanswered = setTimeout(() => client.terminate(), pongWithinMs);
      },
      pong: () => clearTimeout(unanswered),
      closed() {
        clearTimeout(unanswered);
        connection.isAcknowledged = false;
        connections.delete(connection);
      },
    },
  });
  const connection: Connection = { ...options, client, isAcknowledged: false };
  return connection;
}

/** The class, whose sockets close where they do not open: pings begin only then. graphql-ws refuses what is no such class. */
function openingInTime(socketClass: unknown): unknown {
  if (typeof socketClass !== 'function') return socketClass;
  return class extends (socketClass as typeof WebSocket) {
    constructor(url: string, protocols: string) {
      super(url, protocols);
      const timer = setTimeout(() => this.close(), openWithinMs);
      for (const kind of ['open', 'error', 'close']) this.addEventListener(kind, () => clearTimeout(timer));
    }
  };
}

/** graphql-ws throws the errors of the operation, or the event with which the socket closed. */
function errorOf(thrown: unknown): GraphError {
  if (Array.isArray(thrown)) return new GraphError(thrown[0]);
  const { code, reason } = thrown as Partial<CloseEvent>;
  const message = `The socket closed with ${code ?? 'no code'}: ${reason || 'no reason'}`;
  const known = code === undefined ? undefined : codeOfClosing[code];
  if (known === undefined) return networkError(message, thrown);
  return new GraphError({ message, extensions: { code: known } });
}

// Closings after which the same connection would be refused again.
const codeOfClosing: Readonly<Record<number, string>> = {
  4400: 'BAD_REQUEST',
  4401: 'UNAUTHENTICATED',
  4403: 'UNAUTHENTICATED',
  4500: 'INTERNAL_SERVER_ERROR',
};
