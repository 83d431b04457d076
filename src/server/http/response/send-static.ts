import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { codingsFor } from '../request/content-coding.js';
import { heldOf } from './caching.js';

/** A page, or a file of one, that is the same for everyone. */
export interface StaticContent {
  readonly type: string;
  readonly gzipped: Buffer;
  readonly brotli?: Buffer;
  /** Of the content without an encoding. */
  readonly digest: string;
  /** Without it the content is decompressed for the few clients that do not take gzip. */
  readonly body?: Buffer;
  /** Content-Security-Policy: see `pagePolicy`. */
  readonly policy: string;
  /** By default the client asks each time whether it has changed. */
  readonly cacheControl?: string;
}

/** Sends the content, or 304 to a client that has it. */
export function sendStatic(
  { type, gzipped, brotli, digest, body, policy, cacheControl = 'private, no-cache' }: StaticContent,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const encoded = { br: brotli, gzip: gzipped };
  const coding = codingsFor(request.headers['accept-encoding']).find((one) => encoded[one]);
  // A strong validator differs for each encoding (RFC 9110 8.8.3).
  const etag = `"${digest}${coding ? `-${coding}` : ''}"`;
  response.setHeader('content-security-policy', policy);
  response.setHeader('cache-control', cacheControl);
  response.setHeader('etag', etag);
  if (heldOf(request.headers['if-none-match'], [etag]) !== null) {
    response.writeHead(304).end();
    return;
  }
  const sent = (coding && encoded[coding]) ?? body ?? gunzipSync(gzipped);
  if (coding) response.setHeader('content-encoding', coding);
  response.writeHead(200, { 'content-type': type, 'content-length': sent.length });
  response.end(sent);
}

/** The policy of a page that asks its own origin alone; `own` are its scripts, styles and the like. */
export function pagePolicy(...own: readonly string[]): string {
  return [
    "default-src 'none'",
    ...own,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Makes a value on its first use; after a failure the next use makes it again. */
export function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}
