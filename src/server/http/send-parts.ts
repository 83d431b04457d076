import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import type { Clock, Timer } from '../../clock.js';
import { statusOf } from '../execution/answer.js';
import type { Json } from '../execution/json-pieces.js';
import type { Exchange } from './exchange.js';
import { headersOfStream } from './send-answer.js';
import { drained } from './send-pieces.js';

/** How parts are put into one response. */
export interface Framing {
  readonly contentType: string;
  readonly start: string;
  readonly before: string;
  readonly after: string;
  /** Sent while nothing else is, so that no proxy takes the connection for dead; null where clients take none. */
  readonly heartbeat: string | null;
  readonly end: string;
}

// A boundary follows each part at once: clients take a part only when they see its end.
const delimiter = '\r\n---';
const partHead = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';

/** Parts of a query's answer, as Apollo Client and Relay read them. */
export const multipartParts: Framing = {
  contentType: 'multipart/mixed; boundary="-"; deferSpec=20220824',
  start: delimiter,
  before: partHead,
  after: delimiter,
  heartbeat: null,
  end: '--\r\n',
};

/** Results of a subscription, by Apollo's protocol of subscriptions over multipart HTTP. */
export const multipartChanges: Framing = {
  contentType: 'multipart/mixed; boundary="-"; subscriptionSpec=1.0',
  start: delimiter,
  before: `${partHead}{"payload":`,
  after: `}${delimiter}`,
  heartbeat: `${partHead}{}${delimiter}`,
  end: '--\r\n',
};

/** Server-sent events of the GraphQL over SSE protocol. */
export const eventParts: Framing = {
  contentType: 'text/event-stream',
  start: ':\n\n',
  before: 'event: next\ndata: ',
  after: '\n\n',
  heartbeat: ':\n\n',
  end: 'event: complete\ndata:\n\n',
};

// Apollo's router sends one as often.
const heartbeatMs = 5_000;

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

/** Sends each part as soon as it is there, at the client's pace. Ends the source when the client disconnects. */
export async function sendParts(
  parts: AsyncIterable<Json>,
  response: ServerResponse,
  { framing, clock, leaving }: PartsSending,
): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]();
  let isOver = response.destroyed || leaving?.aborted === true;
  let wake = () => {};
  const stop = () => {
    isOver = true;
    wake();
  };
  /** The next part; null at the end of the response. */
  const next = () =>
    new Promise<IteratorResult<Json> | null>((resolve, reject) => {
      wake = () => resolve(null);
      if (isOver) wake();
      else iterator.next().then(resolve, reject);
    });
  const write = async (text: string) => {
    if (!response.write(text)) await drained(response, clock);
  };
  response.once('close', stop);
  leaving?.addEventListener('abort', stop, { once: true });
  try {
    response.write(framing.start);
    for (;;) {
      const beat = heartbeats(response, framing, clock);
      const step = await next();
      beat?.cancel();
      if (step === null) return;
      if (step.done) break;
      await write(framing.before);
      for (const piece of typeof step.value === 'string' ? [step.value] : step.value) {
        await write(piece);
        if (typeof step.value !== 'string') await nextTurn();
      }
      await write(framing.after);
    }
    response.write(framing.end);
  } finally {
    response.off('close', stop);
    leaving?.removeEventListener('abort', stop);
    response.end();
    // Nobody reads the source any more; a failure to end it is not a fault.
    iterator.return?.().catch(() => {});
  }
}

function heartbeats(response: ServerResponse, { heartbeat }: Framing, clock: Clock): Timer | null {
  if (heartbeat === null) return null;
  let timer: Timer;
  const beat = () => {
    // A client that does not read gets no more of them.
    if (response.writableLength === 0) response.write(heartbeat);
    timer = clock.timer(heartbeatMs, beat);
  };
  timer = clock.timer(heartbeatMs, beat);
  return { cancel: () => timer.cancel() };
}
