import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';

// What waits in memory for one socket that is read slowly; the rest waits in the feed's log, which all share.
const mostUnsentBytes = 64 * 1024;

/**
 * The results of subscriptions on one socket, as `next` messages of graphql-transport-ws.
 * @param connection what `socket` writes to
 */
export function socketSinks(socket: WebSocket, connection: Socket): (id: string) => ResultSink {
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
        return connection.writableLength < mostUnsentBytes;
      },
      send(result) {
        // Between two frames of ws: it writes each whole, since messages are neither compressed nor in fragments.
        if (socket.readyState === socket.OPEN) connection.write(nextFrame(id, head, result));
      },
      whenReady: (run) => void waiting.push(run),
    };
  };
}

let latest: { readonly id: string; readonly result: Uint8Array; readonly frame: Buffer } | null = null;

/** The frame of a `next` message. Of clients that count their operations, ten thousand sockets get one and the same frame. */
function nextFrame(id: string, head: Buffer, result: Uint8Array): Buffer {
  if (latest?.result !== result || latest.id !== id) {
    latest = { id, result, frame: textFrame(head, result, tail) };
  }
  return latest.frame;
}

const tail = Buffer.from('}');

/** One unmasked text frame (RFC 6455, section 5.2), as servers send them. */
function textFrame(head: Buffer, result: Uint8Array, tail: Buffer): Buffer {
  const length = head.length + result.length + tail.length;
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + length);
  const finalText = 0x81;
  frame[0] = finalText;
  if (headerLength === 2) {
    frame[1] = length;
  } else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.set(head, headerLength);
  frame.set(result, headerLength + head.length);
  frame.set(tail, headerLength + head.length + result.length);
  return frame;
}
