import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setHead } from './head.js';
import { headersOfStream } from './send-answer.js';

/**
 * Sends a response of Yoga. A stream is sent at the client's pace. It ends when the client disconnects, and when
 * `leaving` is aborted: then without `complete`, so that the client reconnects and resumes.
 */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  leaving: AbortSignal,
): Promise<void> {
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status;
  if (isStream(answer)) {
    // Yoga's own header names a coding that does not exist.
    response.removeHeader('content-encoding');
    setHead(response, headersOfStream);
    return pump(answer.body, response, leaving);
  }
  const text = await answer.text();
  // Yoga itself answers only errors, which must not be cached.
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

/** Server-sent events, or the parts of a multipart answer. */
export function isStream(answer: Response): answer is Response & { body: ReadableStream<Uint8Array> } {
  return (
    answer.body !== null && /^(text\/event-stream|multipart\/)/.test(answer.headers.get('content-type') ?? '')
  );
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
  /** Resolves with the promise, or with null at the end. Promise.race would leak a reaction for every chunk. */
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
    // Notifies the source of the stream that nobody reads it any more; a failure to cancel is not a fault.
    void reader.cancel().catch(() => {});
  }
}
