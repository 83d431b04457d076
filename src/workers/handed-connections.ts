import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Listener } from '../server/http/listen.js';

/** Connections that the primary passes to an HTTP server one by one; the server does not listen itself. */
export interface HandedConnections extends Listener {
  /** False when it is closed and accepts no more. */
  take(socket: Socket): boolean;
}

export function handedConnections(server: Server, { url, port }: Omit<Listener, 'close'>): HandedConnections {
  const open = new Set<Socket>();
  let isClosed = false;
  let whenEmpty = () => {};
  // Starts the HTTP server's checks of idle and slow connections.
  server.emit('listening');
  return {
    url,
    port,
    take(socket) {
      if (isClosed) return false;
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        if (open.size === 0) whenEmpty();
      });
      server.emit('connection', socket);
      return true;
    },
    close() {
      isClosed = true;
      // The server never listened: this only stops its checks of idle connections.
      server.close();
      return new Promise((resolve) => {
        whenEmpty = resolve;
        if (open.size === 0) resolve();
      });
    },
  };
}
