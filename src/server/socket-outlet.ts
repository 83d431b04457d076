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
  let waiting: (() => void)[] = [];
  // More than the connection's own mark is unsent whenever somebody waits, so that it tells when all has gone.
  connection.on('drain', () => {
    const ready = waiting;
    waiting = [];
    for (const run of ready) run();
  });
  return (id) => ({
    get isReady() {
      return connection.writableLength < mostUnsentBytes;
    },
    send(result) {
      // Between two frames of ws: it writes each whole, since messages are neither compressed nor in fragments.
      if (socket.readyState === socket.OPEN) connection.write(nextFrame(id, result));
    },
    whenReady: (run) => void waiting.push(run),
  });
}

let latest: { readonly id: string; readonly result: Uint8Array; readonly frame: Buffer } | null = null;

/** The frame of a `next` message. Clients count their operations alike: ten thousand sockets get one and the same frame. */
function nextFrame(id: string, result: Uint8Array): Buffer {
  if (latest?.result !== result || latest.id !== id) {
    const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
    latest = { id, result, frame: textFrame([head, result, tail]) };
  }
  return latest.frame;
}

const tail = Buffer.from('}');

/** One unmasked text frame (RFC 6455, section 5.2), as servers send them. */
function textFrame(parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const finalText = 0x81;
  if (length < 126) return Buffer.concat([Buffer.from([finalText, length]), ...parts]);
  const header = Buffer.alloc(length < 65_536 ? 4 : 10);
  header[0] = finalText;
  if (length < 65_536) {
    header[1] = 126;
    header.writeUInt16BE(length, 2);
  } else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, ...parts]);
}
