import type { ServerResponse } from 'node:http';
import { headersOfStream } from './framing.js';
import { setHead } from './head.js';

/** Sends a response of Yoga, which answers refused operations alone. In the media type of a stream it has one part. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status;
  const text = await answer.text();
  if (/^(text\/event-stream|multipart\/)/.test(answer.headers.get('content-type') ?? '')) {
    // Yoga's own header names a coding that does not exist.
    response.removeHeader('content-encoding');
    setHead(response, headersOfStream);
  } else {
    // Errors must not be cached.
    response.setHeader('cache-control', 'no-store');
    response.setHeader('content-length', Buffer.byteLength(text));
  }
  response.end(text);
}
