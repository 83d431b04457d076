import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * Sends what Yoga answered. A stream goes out as fast as the client takes it, ends when the client goes, and when
 * `leaving` is aborted: at the end of a message, without `complete`, so that its client comes back and resumes.
 */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  leaving: AbortSignal,
): Promise<void> {
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status;
  if (!isStream(answer)) {
    const text = await answer.text();
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
    return;
  }
  await pump(answer.body, response, leaving);
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
  const stop = () => void reader.cancel().catch(() => {});
  response.once('close', stop);
  leaving.addEventListener('abort', stop, { once: true });
  try {
    response.flushHeaders();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (!response.write(value)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  } finally {
    leaving.removeEventListener('abort', stop);
    response.end();
  }
}
