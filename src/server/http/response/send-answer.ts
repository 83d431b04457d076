import type { Clock } from '../../../clock.js';
import type { Maybe } from '../../../maybe.js';
import { type Answer, statusOf } from '../../execution/answer.js';
import type { AnswerCache } from '../../execution/answer-cache.js';
import { type CachedAnswer, type Coding, codings, digestOf } from '../../execution/cached-answer.js';
import type { Exchange } from '../exchange.js';
import { codingsFor } from '../request/content-coding.js';
import type { MediaType } from '../request/media-type.js';
import { cacheControl, entityTag, isKnownTo } from './caching.js';
import { eventParts, framedAlone, headersOfStream } from './framing.js';
import { isRead } from './reply.js';
import type { ResponseBatch } from './response-batch.js';
import { sendPieces } from './send-pieces.js';

export interface Sending {
  /** Key of the answer cache: see `graphqlRoute`. */
  readonly asked: string;
  readonly type: MediaType;
  readonly answers: AnswerCache;
  readonly clock: Clock;
  readonly batch: ResponseBatch;
}

/** Sends a computed answer, and caches it where that is allowed. */
export function sendAnswer(answer: Answer, exchange: Exchange, sending: Sending): Maybe<void> {
  const { response, head, operation } = exchange;
  const { asked, type, answers, clock } = sending;
  if (response.destroyed) return;
  const { json } = answer;
  if (typeof json === 'string') {
    const cached = answers.write(asked, operation, json);
    if (cached) return sendCached(cached, exchange, sending, []);
  }
  const { status, headers } = statusOf(answer.result, type);
  head.push(...headers, 'content-type', contentTypes[type]);
  const pieces = typeof json === 'string' ? [json] : answers.writing(asked, operation, json);
  if (type === 'text/event-stream') {
    response.writeHead(status, [...head, ...headersOfStream]);
    return sendPieces(framedAlone(pieces, eventParts), response, clock);
  }
  const { dependencies } = operation;
  const isDemanded = operation.demand !== null && answer.result.errors === undefined;
  if (typeof json === 'string' && isDemanded && sendIfKnown(json, exchange, type)) return;
  const isKnown = dependencies !== null && answers.mayWrite(operation);
  if (isDemanded) head.push('cache-control', 'private, no-cache');
  else head.push('cache-control', isKnown ? cacheControl(dependencies, clock.now()) : 'no-store');
  if (typeof json !== 'string') {
    response.writeHead(status, head);
    return sendPieces(pieces, response, clock);
  }
  head.push('content-length', String(Buffer.byteLength(json)));
  response.writeHead(status, head);
  response.end(json);
}

/**
 * Sends 304 to a GET with If-None-Match and a demanded age, when the new answer equals the one that the client has.
 * `fetch` sends both: it adds `no-cache` to a request with If-None-Match.
 */
function sendIfKnown(json: string, { request, response, head }: Exchange, type: MediaType): boolean {
  if (!isRead(request.method)) return false;
  const computed = { digest: digestOf(json) };
  const known = isKnownTo(request.headers['if-none-match'], computed, type, codings);
  head.push('etag', known ?? entityTag(computed, type, null));
  if (known === null) return false;
  head.push('cache-control', 'private, no-cache');
  response.writeHead(304, head).end();
  return true;
}

/** Sends a cached answer: unencoded, encoded, or as 304 where the client has it. */
export function sendCached(
  cached: CachedAnswer,
  { request, response, head }: Exchange,
  { type, clock, batch }: Pick<Sending, 'type' | 'clock' | 'batch'>,
  accepted = codingsFor(request.headers['accept-encoding']),
): Maybe<void> {
  if (type === 'text/event-stream') {
    response.writeHead(200, [...head, 'content-type', type, ...headersOfStream]);
    return sendPieces(framedAlone([cached.json], eventParts), response, clock);
  }
  head.push('cache-control', cacheControl(cached.dependencies, clock.now()));
  const isGet = isRead(request.method);
  const known = isGet ? isKnownTo(request.headers['if-none-match'], cached, type, accepted) : null;
  if (known !== null) {
    head.push('etag', known);
    response.writeHead(304, head).end();
    return;
  }
  const [coding] = accepted;
  const encoded = coding === undefined ? null : cached.encoded(coding);
  const used: Coding | null = encoded && coding ? coding : null;
  const bytes = encoded ?? cached.json;
  if (isGet) head.push('etag', entityTag(cached, type, used));
  if (used) head.push('content-encoding', used);
  head.push('content-type', contentTypes[type], 'content-length', String(bytes.length));
  response.writeHead(200, head);
  // A long answer is sent with a time-out, so that a client which stops reading cannot hold its connection forever.
  if (bytes.length > long) return sendPieces([bytes], response, clock);
  batch.end(response, bytes);
}

// Bytes beyond what the kernel buffers without the client reading.
const long = 64 * 1024;

const contentTypes: Readonly<Record<MediaType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
  'text/event-stream': 'text/event-stream',
};
