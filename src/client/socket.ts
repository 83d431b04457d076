import type { FormattedExecutionResult } from 'graphql';
import { type Client, createClient } from 'graphql-ws/client';
import { GraphError, networkError } from './errors.js';
import type { Open } from './event-stream.js';

export interface SocketOptions {
  /** Of the graph; `http` stands for `ws`, and a relative one is of the page. */
  readonly url: string;
  readonly connectionParams: Readonly<Record<string, unknown>>;
  /** A class like the browser's own; Node has none before 22, where that of the package `ws` does. */
  readonly webSocketImpl: unknown;
}

// A connection that was lost without a word is noticed by an unanswered ping, like the gateway notices it.
const pingEveryMs = 12_000;
const pongWithinMs = 8_000;

// One for each gateway and identity: all subscriptions of a page share its socket.
const clients = new Map<string, Client>();

/** Subscribes over WebSocket. */
export function overSocket(options: SocketOptions): Open {
  const client = clientOf(options);
  return async function* open(operation, signal) {
    const results = client.iterate({ query: operation.query, variables: { ...operation.variables } });
    const leave = () => void results.return?.();
    signal.addEventListener('abort', leave, { once: true });
    try {
      if (!signal.aborted) yield* results as AsyncIterable<FormattedExecutionResult>;
    } catch (error) {
      throw errorOf(error);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  };
}

function clientOf({ url, connectionParams, webSocketImpl }: SocketOptions): Client {
  const key = JSON.stringify([url, connectionParams]);
  const known = clients.get(key);
  if (known) return known;
  let unanswered: ReturnType<typeof setTimeout>;
  const client = createClient({
    url: new URL(url, globalThis.location?.href).href.replace(/^http/, 'ws'),
    connectionParams: { ...connectionParams },
    // Each subscription reconnects by itself: its variables change with its cursor.
    retryAttempts: 0,
    keepAlive: pingEveryMs,
    ...(webSocketImpl !== undefined && { webSocketImpl }),
    on: {
      ping(isReceived) {
        if (!isReceived) unanswered = setTimeout(() => client.terminate(), pongWithinMs);
      },
      pong: () => clearTimeout(unanswered),
      closed: () => clearTimeout(unanswered),
    },
  });
  clients.set(key, client);
  return client;
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
