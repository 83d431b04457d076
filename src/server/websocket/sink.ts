import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';

// Bound of unsent bytes per socket; changes beyond it wait in the change log, which all subscribers share.
const mostUnsentBytes = 64 * 1024;

/**
 * The results of subscriptions on one socket, as `next` messages of graphql-transport-ws.
 * @param connection the TCP or TLS socket under `socket`
 */
export function socketSinks(socket: WebSocket, connection: Socket): (id: string) => ResultSink {
  let waiting: (() => void)[] = [];
  // Callbacks wait only at 64 KiB or more, beyond the connection's high-water mark, so that 'drain' is sure to follow.
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
        // Written between frames of ws, which writes each frame whole: messages are neither compressed nor fragmented.
        if (socket.readyState === socket.OPEN) connection.write(nextFrame(id, head, result));
      },
      whenReady: (run) => void waiting.push(run),
    };
  };
}

let latest: { readonly id: string; readonly result: Result; readonly frame: Buffer } | null = null;

type Result = Parameters<ResultSink['send']>[0];

/** The frame of a `next` message. The latest one is cached, since many sockets use the same operation id. */
function nextFrame(id: string, head: Buffer, result: Result): Buffer {
  if (latest?.result !== result || latest.id !== id) {
    latest = { id, result, frame: textFrame(head, result, tail) };
  }
  return latest.frame;
}

const tail = Buffer.from('}');

/** One unmasked text frame (RFC 6455, section 5.2), as servers send them. */
function textFrame(head: Buffer, result: Result, tail: Buffer): Buffer {
  const resultLength = Buffer.byteLength(result);
  const length = head.length + resultLength + tail.length;
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
  const resultAt = headerLength + head.length;
  if (typeof result === 'string') frame.write(result, resultAt);
  else frame.set(result, resultAt);
  frame.set(tail, resultAt + resultLength);
  return frame;
}
