import type { IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { type ContentCoding, codingOf, isZlib } from '../../../upstream/http/content-coding.js';

/** The body as text, or the reason why there is none. */
export type Body = { readonly text: string } | { readonly status: 400 | 413; readonly reason: string };

/** Content codings of a body that can be undone, for the Accept-Encoding of a 415 (RFC 9110 15.5.16). */
export const bodyCodings = 'gzip, deflate, br, identity';

/** True where the body has one of `bodyCodings`. */
export function isDecodable({ headers }: IncomingMessage): boolean {
  return codingOf(headers['content-encoding']) !== undefined;
}

/**
 * Calls `done` with the whole body, its content coding undone, unless it exceeds `maxBytes` before or after that; the
 * rest is then discarded. `done` is not called when the client disconnects early. A callback avoids promises, since
 * most bodies are a single chunk.
 */
export function readBody(request: IncomingMessage, maxBytes: number, done: (body: Body) => void): void {
  const tooLarge = { status: 413, reason: `The body exceeds ${maxBytes} bytes (MAX_BODY_BYTES)` } as const;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    done(tooLarge);
    return;
  }
  const coding = codingOf(request.headers['content-encoding']) ?? 'identity';
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      request.off('data', take).off('end', end).resume();
      done(tooLarge);
      return;
    }
    if (first === null) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  };
  const end = () => {
    const body = (rest === null ? first : Buffer.concat(rest)) ?? empty;
    if (coding === 'identity') return done(textOf(body));
    decoders[coding](body, { maxOutputLength: maxBytes }, (error, decoded) => {
      if (error === null) done(textOf(decoded));
      else if (error.code === 'ERR_BUFFER_TOO_LARGE') done(tooLarge);
      else done({ status: 400, reason: `The body is not ${coding}, which Content-Encoding names` });
    });
  };
  // Ignored: a broken connection also closes the response, which ends the operation.
  request
    .on('data', take)
    .on('end', end)
    .on('error', () => {});
}

const empty = Buffer.alloc(0);

// Without a byte order mark, which some clients put before it and JSON.parse would refuse (RFC 8259 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are no text are refused: replaced, they would be an operation that the client did not send. */
function textOf(body: Buffer): Body {
  try {
    return { text: utf8.decode(body) };
  } catch {
    return { status: 400, reason: 'The body is not UTF-8' };
  }
}

type Decoder = (
  body: Buffer,
  options: { readonly maxOutputLength: number },
  done: (error: NodeJS.ErrnoException | null, decoded: Buffer) => void,
) => void;

const decoders: Readonly<Record<ContentCoding, Decoder>> = {
  gzip: gunzip,
  deflate: (body, options, done) =>
    isZlib(body) ? inflate(body, options, done) : inflateRaw(body, options, done),
  br: brotliDecompress,
};
