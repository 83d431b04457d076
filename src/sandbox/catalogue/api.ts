import { ParameterError } from '../http/parameters.js';
import { type WindowVerdict, windowCounters } from '../http/rate-limit.js';
import { type ApiRequest, bearerKey, jsonReply, type Reply } from '../http/reply.js';
import { randomOf } from '../random.js';
import { textOf } from '../time.js';
import type { World } from '../world.js';
import { CatalogueFailure } from './failure.js';
import { type CatalogueChoices, catalogueInterface } from './routes.js';

export interface CatalogueApiOptions {
  readonly world: World;
  readonly revoked: ReadonlySet<string>;
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  /** Unit of `X-RateLimit-Reset`: Unix seconds, or seconds from now. docs/interfaces.md C8 gives none. */
  readonly resetUnit: 'unix' | 'delta';
  readonly choices: CatalogueChoices;
  readonly seed: number;
}

/** The catalogue interface with its key check, its envelope and its limits (docs/interfaces.md C4, C5, C8) in front. */
export function catalogueApi(options: CatalogueApiOptions): (request: ApiRequest) => Reply {
  const { world, revoked, limits } = options;
  const answer = catalogueInterface(options.choices, options.seed);
  const counters = windowCounters(limits.perMinute, limits.perDay);
  const random = randomOf('request id', options.seed);

  return (request) => {
    const requestId = `req_${Math.floor(random.next() * 2 ** 48).toString(36)}`;
    const key = bearerKey(request.authorization);
    const known = key !== undefined && !revoked.has(key) ? world.catalogueKeys.get(key) : undefined;
    // A request without a known key counts against nobody, but carries the headers too.
    const verdict =
      key !== undefined && known ? counters.take(key, request.nowMs) : counters.untouched(request.nowMs);
    const headers = headersOf(verdict, request.nowMs);
    try {
      if (request.method !== 'GET') {
        throw new CatalogueFailure(405, 'method_not_allowed', 'The endpoints are read operations');
      }
      if (!known) throw new CatalogueFailure(401, 'unauthorized', 'The API key is missing or not valid');
      if (!verdict.isAllowed) throw new CatalogueFailure(429, 'rate_limit_exceeded', 'Rate limit exceeded');
      const meta = { request_id: requestId, timestamp: textOf(request.nowMs) };
      const reply = answer(request, known, meta);
      return { ...reply, headers: { ...headers, ...reply.headers } };
    } catch (error) {
      const { status, code, message, details } = failureOf(error);
      const more = status === 405 ? { allow: 'GET' } : undefined;
      const body = { error: { code, message, details }, meta: { request_id: requestId } };
      return jsonReply(status, body, { ...headers, ...more });
    }
  };

  function headersOf(verdict: WindowVerdict, nowMs: number): Record<string, string> {
    const fromMs = options.resetUnit === 'unix' ? 0 : nowMs;
    return {
      'x-ratelimit-limit': String(verdict.limit),
      'x-ratelimit-remaining': String(verdict.remaining),
      'x-ratelimit-reset': String(Math.ceil((verdict.resetMs - fromMs) / 1000)),
    };
  }
}

function failureOf(error: unknown): CatalogueFailure {
  if (error instanceof CatalogueFailure) return error;
  if (error instanceof ParameterError) {
    return new CatalogueFailure(400, 'invalid_request', error.message, { parameter: error.parameter });
  }
  // A world that a test has made unreadable: said in the body, as the sandbox keeps no log.
  return new CatalogueFailure(500, 'internal_error', error instanceof Error ? error.message : String(error));
}
