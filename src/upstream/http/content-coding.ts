import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { hasBytes } from './first-bytes.js';

/** A content coding that can be undone. */
export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** The coding that a Content-Encoding header names; undefined for one that is not known, or for several. */
export function codingOf(contentEncoding: unknown): ContentCoding | 'identity' | undefined {
  if (contentEncoding === undefined) return 'identity';
  const codings = String(contentEncoding)
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    // RFC 9110 8.4: `identity` is no coding, although some senders name it, alone or beside another.
    .filter((coding) => coding !== '' && coding !== 'identity');
  const [coding = 'identity'] = codings;
  if (codings.length > 1) return undefined;
  const name = coding === 'x-gzip' ? 'gzip' : coding;
  return name === 'gzip' || name === 'deflate' || name === 'br' || name === 'identity' ? name : undefined;
}

/** RFC 9110 8.4.1.2 means the zlib format, but some senders leave its two bytes of header out. */
export const isZlib = (body: Uint8Array): boolean => ((body[0] ?? 0) & 0x0f) === 8;

/** For messages. */
export const unreadableCoding = 'a content coding that is damaged, or not gzip, deflate or br';

/** The body with its content coding undone; destroying it destroys `body`. Rejects, or fails, with a coding error. */
export async function decoded(body: Readable, headers: IncomingHttpHeaders): Promise<Readable> {
  const coding = codingOf(headers['content-encoding']);
  if (coding === 'identity') return body;
  if (coding === undefined) {
    body.destroy();
    throw new UnknownCoding(unreadableCoding);
  }
  // Their errors reach the reader of the last one.
  return pipeline(body, await decoderOf(coding, body), () => {});
}

/** True for errors that `decoded` adds to those of the body itself. */
export function isCodingError(error: unknown): boolean {
  if (error instanceof UnknownCoding) return true;
  // zlib's own codes, and those of its brotli.
  return error instanceof Error && 'code' in error && /^(Z_|ERR__ERROR_)/.test(String(error.code));
}

class UnknownCoding extends Error {}

async function decoderOf(coding: ContentCoding, body: Readable) {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate': {
      if (!(await hasBytes(body))) return createInflate();
      const first: Buffer = body.read();
      body.unshift(first);
      return isZlib(first) ? createInflate() : createInflateRaw();
    }
  }
}
