import type { WebSocket } from 'ws';
import type { ResultOutlet } from '../graph/result-outlet.js';

// What waits in memory for one socket that is read slowly; the rest waits in the feed's log, which all share.
const mostUnsentBytes = 64 * 1024;

/** Results of one subscription, as `next` messages of graphql-transport-ws. */
export function socketOutlet(socket: WebSocket, id: string): ResultOutlet {
  const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  const tail = Buffer.from('}');
  let whenReady: (() => void) | null = null;
  const isReady = () => socket.bufferedAmount < mostUnsentBytes;

  function sent(): void {
    if (!whenReady || !isReady()) return;
    const run = whenReady;
    whenReady = null;
    run();
  }

  return {
    get isReady() {
      return isReady();
    },
    send(result) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(Buffer.concat([head, result, tail]), { binary: false }, sent);
    },
    whenReady(run) {
      whenReady = run;
    },
  };
}
