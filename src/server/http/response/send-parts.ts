import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Clock, Timer } from '../../../clock.js';
import { statusOf } from '../../execution/answer.js';
import type { Json } from '../../execution/json-pieces.js';
import type { Exchange } from '../exchange.js';
import { type Framing, framed, headersOfStream } from './framing.js';
import { writePieces } from './send-pieces.js';

/** @param result the first part, which decides the status */
export function startParts(
  { response, head }: Exchange,
  result: ExecutionResult,
  { contentType }: Framing,
): void {
  const { status, headers } = statusOf(result, 'application/json');
  response.writeHead(status, [...head, ...headers, 'content-type', contentType, ...headersOfStream]);
}

interface PartsSending {
  readonly framing: Framing;
  readonly clock: Clock;
  /** Ends the response, unfinished, when it is aborted. */
  readonly leaving?: AbortSignal;
}

/** Sends each part as soon as it is there, no faster than the client reads. Ends the source when the client disconnects. */
export async function sendParts(
  parts: AsyncIterable<Json>,
  response: ServerResponse,
  { framing, clock, leaving }: PartsSending,
): Promise<void> {
  const { start, before, after, end } = framing;
  const iterator = parts[Symbol.asyncIterator]();
  let isOver = response.destroyed || leaving?.aborted === true;
  let isWaiting = false;
  let wake = () => {};
  const stop = () => {
    isOver = true;
    wake();
  };
  /** The next part; null at the end of the response. Promise.race would leak a reaction for every part. */
  const next = () =>
    new Promise<IteratorResult<Json> | null>((resolve, reject) => {
      wake = () => resolve(null);
      if (isOver) wake();
      else iterator.next().then(resolve, reject);
    });
  response.once('close', stop);
  leaving?.addEventListener('abort', stop, { once: true });
  const heartbeat = startHeartbeat(framing, clock, (text) => {
    // A client that does not read gets no more of them, and none comes within a part.
    if (isWaiting && response.writableLength === 0) response.write(text);
  });
  try {
    response.write(start);
    for (;;) {
      isWaiting = true;
      const step = await next();
      isWaiting = false;
      if (step === null) return;
      if (step.done) break;
      const json = step.value;
      const pieces = typeof json === 'string' ? [before + json + after] : framed(json, framing);
      await writePieces(pieces, response, clock);
    }
    response.write(end);
  } finally {
    heartbeat?.cancel();
    response.off('close', stop);
    leaving?.removeEventListener('abort', stop);
    response.end();
    // Nobody reads the source any more; a failure to end it is not a fault.
    iterator.return?.().catch(() => {});
  }
}

function startHeartbeat({ heartbeat }: Framing, clock: Clock, send: (text: string) => void): Timer | null {
  if (heartbeat === null) return null;
  const { text, everyMs } = heartbeat;
  const sendHeartbeat = () => {
    send(text);
    timer = clock.timer(everyMs, sendHeartbeat);
  };
  let timer = clock.timer(everyMs, sendHeartbeat);
  return { cancel: () => timer.cancel() };
}
