import type { IncomingMessage } from 'node:http';

/**
 * Calls `done` with the whole body as text, or with null when it exceeds `maxBytes`; the rest is then discarded. `done`
 * is not called when the client disconnects early. A callback avoids promises, since most bodies are a single chunk.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (text: string | null) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    done(null);
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      request.off('data', take).off('end', end).resume();
      done(null);
      return;
    }
    if (first === null) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  };
  const end = () => done((rest === null ? first : Buffer.concat(rest))?.toString('utf8') ?? '');
  // Ignored: a broken connection also closes the response, which ends the operation.
  request
    .on('data', take)
    .on('end', end)
    .on('error', () => {});
}
