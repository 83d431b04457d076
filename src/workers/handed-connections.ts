import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Listener } from '../server/http/listen.js';

/** Connections that an HTTP server is handed one by one, instead of listening for them itself. */
export interface HandedConnections extends Listener {
  /** False where it takes no more. */
  take(socket: Socket): boolean;
}

export function handedConnections(server: Server, { url, port }: Omit<Listener, 'close'>): HandedConnections {
  const open = new Set<Socket>();
  let isClosed = false;
  let whenEmpty = () => {};
  // From then on an HTTP server keeps account of its connections: which are idle, and which take too long.
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
      // It never listened itself: this only ends its checks of idle connections.
      server.close();
      return new Promise((resolve) => {
        whenEmpty = resolve;
        if (open.size === 0) resolve();
      });
    },
  };
}
