import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ResultOutlet } from '../graph/result-outlet.js';

// What waits in memory for one socket that is read slowly; the rest waits in the feed's log, which all share.
const mostUnsentBytes = 64 * 1024;

/**
 * The results of subscriptions on one socket, as `next` messages of graphql-transport-ws.
 * @param connection what `socket` writes to
 */
export function socketOutlets(socket: WebSocket, connection: Socket): (id: string) => ResultOutlet {
  const tail = Buffer.from('}');
  let waiting: (() => void)[] = [];
  // More than the connection's own mark is unsent whenever somebody waits, so that it tells when all has gone.
  connection.on('drain', () => {
    const ready = waiting;
    waiting = [];
    for (const run of ready) run();
  });
  return (id) => {
    const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
    return {
      get isReady() {
        return socket.bufferedAmount < mostUnsentBytes;
      },
      send(result) {
        if (socket.readyState !== socket.OPEN) return;
        socket.send(Buffer.concat([head, result, tail]), { binary: false });
      },
      whenReady: (run) => void waiting.push(run),
    };
  };
}
