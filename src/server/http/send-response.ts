import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * Sends what Yoga answered. A stream goes out as fast as the client takes it, ends when the client goes, and when `leaving`
 * is aborted: without `complete`, so that its client comes back and resumes.
 */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  leaving: AbortSignal,
): Promise<void> {
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status;
  if (isStream(answer)) return pump(answer.body, response, leaving);
  const text = await answer.text();
  // No cache may keep what Yoga answers itself: errors.
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
