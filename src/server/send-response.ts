import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.js';
import { jsonPieces } from './json-pieces.js';

/**
 * Sends what Yoga answered; `body` is what it was to write and left to this. A stream goes out as fast as the client takes
 * it, ends when the client goes, and when `leaving` is aborted: without `complete`, so that its client comes back and
 * resumes.
 */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  leaving: AbortSignal,
  body: object | null,
  clock: Clock,
): Promise<void> {
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status;
  if (body) return sendJson(body, response, clock);
  if (!isStream(answer)) return sendText(await answer.text(), response);
  await pump(answer.body, response, leaving);
}

/** Server-sent events, or the parts of a multipart answer. */
export function isStream(answer: Response): answer is Response & { body: ReadableStream<Uint8Array> } {
  return (
    answer.body !== null && /^(text\/event-stream|multipart\/)/.test(answer.headers.get('content-type') ?? '')
  );
}

// A client that takes nothing for so long has gone, and with it goes what was kept for it.
const stalledMs = 60_000;

/** What is long goes out piece by piece, as fast as the client takes it, and everyone else is answered between two. */
async function sendJson(body: object, response: ServerResponse, clock: Clock): Promise<void> {
  const pieces = jsonPieces(body);
  const first = pieces.next().value ?? '';
  let piece = pieces.next();
  if (piece.done) return sendText(first, response);
  response.removeHeader('content-length');
  response.write(first);
  for (; !piece.done && !response.destroyed; piece = pieces.next()) {
    if (!response.write(piece.value)) await drained(response, clock);
    // A socket that takes all at once has room again before anything else had its turn.
    await nextTurn();
  }
  response.end();
}

function sendText(text: string, response: ServerResponse): void {
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

/** Resolves when there is room again, or nobody left to write to. */
function drained(response: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.timer(stalledMs, () => response.destroy());
    const done = () => {
      stalled.cancel();
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

async function pump(
  body: ReadableStream<Uint8Array>,
  response: ServerResponse,
  leaving: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  let isOver = response.destroyed || leaving.aborted;
  let wake = () => {};
  const stop = () => {
    isOver = true;
    wake();
  };
  /** What comes first, the promise or the end; a race of promises would keep something of every chunk. */
  const orEnd = <T>(promise: Promise<T>): Promise<T | null> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(null);
      promise.then(resolve, reject);
    });
  response.once('close', stop);
  leaving.addEventListener('abort', stop, { once: true });
  try {
    response.flushHeaders();
    while (!isOver) {
      const step = await orEnd(reader.read());
      if (step === null || step.done) break;
      if (!response.write(step.value)) await orEnd(once(response, 'drain'));
    }
  } finally {
    leaving.removeEventListener('abort', stop);
    response.end();
    // Whoever makes the stream learns that nobody reads it any more; that it was in the middle of it is no fault.
    void reader.cancel().catch(() => {});
  }
}
