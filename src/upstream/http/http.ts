import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { realClock } from '../../clock.js';
import { type Source, UpstreamTimeout, UpstreamUnavailable } from '../../errors.js';
import { badBody, interfaceName, isWhole } from '../decode/response.js';
import { onAbort } from './abort.js';
import { createAgent, type ProxyOptions } from './agent.js';
import { decoded, isCodingError, unreadableCoding } from './content-coding.js';

/** One GET with the key of one project or organization. */
export interface HttpRequest {
  readonly source: Source;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path with query, already encoded. */
  readonly path: string;
  readonly key: string;
  /** The endpoint as the specs spell it: error messages contain no other part of the address. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Destroying it ends the request. */
  readonly stream: Readable;
}

/**
 * Sends one GET with its own time-out, over connections that all clients share. A response with any status is a result;
 * only a missing response is a failure.
 */
export interface Http {
  /** Throws `UpstreamTimeout` or `UpstreamUnavailable`, or the signal's reason when it is aborted. */
  get(request: HttpRequest): Promise<HttpResponse>;
  /** As `get`, but the body of a good response is a stream. */
  stream(request: HttpRequest): Promise<HttpStream | HttpResponse>;
  close(): Promise<void>;
}

// docs/behaviour.md 5.12.
const bodyLimitBytes = 32 * 1024 * 1024;
// An error's body is read to its end so that its connection is free again; one that exceeds this is dropped.
const errorBodyLimitBytes = 256 * 1024;

export interface HttpOptions {
  /** Connections per address. More than any burst, so that a request with a permit is sent at once. */
  readonly connections?: number;
  /** Null: without a proxy. */
  readonly proxies?: ProxyOptions | null;
}

export function createHttp({ connections = 64, proxies = null }: HttpOptions = {}): Http {
  const agent = createAgent(connections, proxies);
  return {
    async get(request) {
      const deadline = startDeadline(request);
      try {
        const response = await send(agent, request, deadline.signal, {
          accept: 'application/json',
          bodyTimeout: 0,
        });
        return {
          status: response.statusCode,
          headers: response.headers,
          body: await collect(response, request),
        };
      } catch (error) {
        throw failure(error, request, deadline);
      } finally {
        deadline.clear();
      }
    },
    async stream(request) {
      const deadline = startDeadline(request);
      try {
        // A stream may last for any time: only its idle time is limited.
        const response = await send(agent, request, deadline.signal, {
          accept: '*/*',
          bodyTimeout: request.timeoutMs,
        });
        const { statusCode: status, headers, body } = response;
        if (status >= 300) {
          const answer = { status, headers, body: await collect(response, request) };
          deadline.clear();
          return answer;
        }
        body.once('close', deadline.clear);
        const stream = await decoded(body, headers);
        deadline.stopTiming();
        return { status, headers, stream };
      } catch (error) {
        deadline.clear();
        throw isCodingError(error) ? badBody(request, unreadableCoding) : failure(error, request, deadline);
      }
    },
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Dispatcher,
  request: HttpRequest,
  signal: AbortSignal,
  { accept, bodyTimeout }: { readonly accept: string; readonly bodyTimeout: number },
) {
  const response = await agent.request({
    origin: request.origin,
    path: request.path,
    method: 'GET',
    headers: {
      authorization: `Bearer ${request.key}`,
      accept,
      // Without this header any coding is acceptable. Some proxies compress in spite of it: `decoded` undoes that.
      'accept-encoding': 'identity',
      'user-agent': 'seisgraph',
    },
    bodyTimeout,
    signal,
  });
  // A body that is destroyed before it is read emits an error, which without a listener ends the process.
  response.body.on('error', () => undefined);
  return response;
}

async function collect(response: Dispatcher.ResponseData, request: HttpRequest): Promise<Buffer> {
  const { statusCode: status, headers } = response;
  const limit = isWhole(status) ? bodyLimitBytes : errorBodyLimitBytes;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Leaving the loop early destroys the body and its connection.
    for await (const chunk of (await decoded(response.body, headers)) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) {
        if (!isWhole(status)) break;
        throw badBody(request, `more than ${bodyLimitBytes / 1024 / 1024} MiB`, status);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (!isCodingError(error)) throw error;
    // The status of a refusal says enough.
    if (isWhole(status)) throw badBody(request, unreadableCoding, status);
  }
  return Buffer.concat(chunks);
}

/** Real time even where tests drive the clock: sockets depend on it. */
function startDeadline({ signal, timeoutMs }: HttpRequest) {
  const controller = new AbortController();
  const state = { expired: false };
  const timer = realClock.timer(timeoutMs, () => {
    state.expired = true;
    controller.abort();
  });
  const stopListening = onAbort(signal, () => controller.abort(signal.reason));
  return {
    signal: controller.signal,
    get expired() {
      return state.expired;
    },
    stopTiming: () => timer.cancel(),
    clear() {
      timer.cancel();
      stopListening();
    },
  };
}

function failure(error: unknown, request: HttpRequest, deadline: { readonly expired: boolean }): unknown {
  if (request.signal.aborted) return request.signal.reason;
  const upstream = { source: request.source, status: null, code: null, requestId: null };
  const name = interfaceName(request.source);
  if (deadline.expired) {
    return new UpstreamTimeout(
      `The ${name} interface did not answer ${request.endpoint} within ${request.timeoutMs / 1000} s`,
      { upstream },
    );
  }
  if (error instanceof UpstreamUnavailable) return error;
  // undici's errors contain addresses and headers: only its code is passed on.
  return new UpstreamUnavailable(`The ${name} interface could not be reached for ${request.endpoint}`, {
    upstream,
    cause: causeCode(error),
  });
}

function causeCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}
