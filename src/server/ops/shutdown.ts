import type { Server } from 'node:http';
import type { Listener } from '../http/listen.js';
import type { Sockets } from '../websocket/websocket.js';

export interface DrainOptions {
  readonly server: Server;
  readonly listener: Listener;
  readonly sockets: Sockets;
  /** Aborted here: from then on open streams end and new operations are refused. */
  readonly leaving: AbortController;
  /** Time limit for the requests in flight. */
  readonly graceMs: number;
}

/**
 * Graceful shutdown (docs/behaviour.md 3), in this order: stop accepting connections, end streams, close sockets with
 * 1012 so that clients reconnect, then complete the requests in flight for up to `graceMs`.
 */
export async function drain({ server, listener, sockets, leaving, graceMs }: DrainOptions): Promise<void> {
  const closed = listener.close();
  leaving.abort();
  sockets.restart();
  // Node keeps connections alive for a next request even after the server has stopped accepting.
  const tidying = setInterval(() => server.closeIdleConnections(), 50);
  const cutting = setTimeout(() => {
    sockets.close();
    server.closeAllConnections();
  }, graceMs);
  try {
    await closed;
  } finally {
    clearInterval(tidying);
    clearTimeout(cutting);
    sockets.close();
  }
}
