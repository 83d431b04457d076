import type { Server } from 'node:http';
import type { Listener } from '../http/listen.js';
import type { Sockets } from '../websocket/websocket.js';

export interface DrainOptions {
  readonly server: Server;
  readonly listener: Listener;
  readonly sockets: Sockets;
  /** Aborted here: from then on open streams end and new operations are refused. */
  readonly leaving: AbortController;
  /** How long what is in flight may take. */
  readonly graceMs: number;
}

/**
 * The order of leaving (docs/behaviour.md 3): nothing new is taken on, sockets are told to come back, streams end, and what is in
 * flight is finished, as far as that takes no longer than the grace.
 */
export async function drain({ server, listener, sockets, leaving, graceMs }: DrainOptions): Promise<void> {
  const closed = listener.close();
  leaving.abort();
  sockets.restart();
  // Node keeps a connection open for the next request even when its server takes none.
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
