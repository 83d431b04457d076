import type { IncomingHttpHeaders } from 'node:http';
import {
  BadUserInput,
  Forbidden,
  type GatewayError,
  type Source,
  Unauthenticated,
  type UpstreamAnswer,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnauthorized,
  UpstreamUnavailable,
} from '../../errors.js';
import { scrubber } from '../../scrubber.js';
import { parseJson } from './json.js';

/** The owner of a key: the gateway, or a client that brought it (`passthrough`). */
export type KeyOwner = 'gateway' | 'client';

/** A request, as far as an error message may describe it. */
export interface Asked {
  readonly source: Source;
  /** As the specs spell it: `/v1/sensors/{id}`. */
  readonly endpoint: string;
  readonly list: boolean;
  /** Wire parameter → the argument of the graph it came from. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The keys behind a request, as far as its errors depend on them. */
export interface Keys {
  readonly owner: KeyOwner;
  /** All that upstream must not be quoted with: this request's key and every other secret of its tenant. */
  readonly secrets: readonly string[];
}

export const notFound = Symbol('not found');

/**
 * A response's JSON, or `notFound` for a single resource that does not exist; any other response is thrown as the error
 * that docs/behaviour.md 4 lists. The only text of a body that reaches a message is upstream's about a wrong parameter,
 * scrubbed.
 */
export function readResponse(
  answer: { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer },
  asked: Asked,
  keys: Keys,
  retryAfterS?: number,
): unknown {
  const { status } = answer;
  if (isWhole(status)) return parseBody(answer.body, asked, status);
  if ((status === 404 || status === 410) && !asked.list) return notFound;
  throw refusal(answer, asked, keys, retryAfterS);
}

/** Upstream's id of this request (docs/interfaces.md C4, `meta.request_id`); null where it gives none. */
export function requestIdOf(
  headers: IncomingHttpHeaders,
  body: unknown,
  secrets: readonly string[],
): string | null {
  const inBody = identifierOf(recordOf(recordOf(body)?.meta)?.request_id, secrets);
  return inBody ?? identifierOf(headers['x-request-id'], secrets);
}

/** `project` or `catalogue`, for messages. */
export function interfaceName(source: Source): string {
  return source === 'PROJECT' ? 'project' : 'catalogue';
}

/** True for a status with the whole resource: 203 is a 200 that a proxy on the way has transformed. */
export const isWhole = (status: number): boolean => status === 200 || status === 203;

/** The error for a body that does not match the spec (docs/behaviour.md 5.12), naming the endpoint. */
export function badBody(
  asked: Pick<Asked, 'source' | 'endpoint'>,
  what: string,
  status = 200,
): UpstreamUnavailable {
  return new UpstreamUnavailable(
    `The ${interfaceName(asked.source)} interface answered ${asked.endpoint} with ${what}`,
    { upstream: { source: asked.source, status, code: null, requestId: null } },
  );
}

/** The error that stands for `count` records that are missing from a list because they could not be read. */
export function unreadableRecords(source: Source, count: number): UpstreamUnavailable {
  const records = count === 1 ? '1 record that cannot' : `${count} records that cannot`;
  return new UpstreamUnavailable(
    `The ${interfaceName(source)} interface sent ${records} be read, so the list can lack as many`,
    { upstream: { source, status: 200, code: null, requestId: null } },
  );
}

function parseBody(body: Buffer, asked: Asked, status: number): unknown {
  if (body.length === 0) throw badBody(asked, `an empty body (status ${status})`, status);
  try {
    // TextDecoder also drops a byte order mark, which JSON.parse would reject.
    return parseJson(new TextDecoder().decode(body));
  } catch {
    throw badBody(asked, 'a body that is not JSON', status);
  }
}

function refusal(
  answer: { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer },
  asked: Asked,
  keys: Keys,
  retryAfterS: number | undefined,
): GatewayError {
  const { status } = answer;
  const parsed = jsonOrNull(answer.body);
  const body = errorBody(parsed);
  const upstream: UpstreamAnswer = {
    source: asked.source,
    status,
    code: identifierOf(body.code, keys.secrets),
    requestId: requestIdOf(answer.headers, parsed, keys.secrets),
  };
  const name = interfaceName(asked.source);
  switch (status) {
    case 400:
    case 422: {
      const said = messageOf(body.message, keys.secrets);
      return new BadUserInput(said ?? `The ${name} interface refused an argument of ${asked.endpoint}`, {
        upstream,
        argument: argumentOf(said, body.details, asked.parameters),
      });
    }
    case 401:
      return keys.owner === 'client'
        ? new Unauthenticated(`The ${name} interface refused the key of this request`, { upstream })
        : new UpstreamUnauthorized(`The ${name} interface refused the gateway's key`, { upstream });
    case 402:
    case 403:
    case 404:
    case 410:
      return new Forbidden(
        status === 402 || status === 403
          ? `The ${name} interface does not permit ${asked.endpoint} with this key`
          : `The ${name} interface does not offer ${asked.endpoint} to this key: its plan may not include it`,
        { upstream },
      );
    case 408:
      return new UpstreamTimeout(`The ${name} interface timed out on ${asked.endpoint}`, { upstream });
    case 429:
      return new UpstreamRateLimited(`The ${name} interface is over its request limit`, {
        upstream,
        retryAfterS,
      });
    case 503:
      if (upstream.code === 'timeout') {
        // docs/interfaces.md P7: the query ran too long; narrow the range or page size.
        return new UpstreamTimeout(
          `The ${name} interface took too long over ${asked.endpoint}: ask for a shorter range or fewer at a time`,
          { upstream },
        );
      }
      break;
  }
  return new UpstreamUnavailable(`The ${name} interface answered ${asked.endpoint} with status ${status}`, {
    upstream,
    retryAfterS,
  });
}

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
}

function jsonOrNull(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

// docs/interfaces.md P7: {error: {code, message}}; docs/interfaces.md C7 adds details. A proxy may send anything.
function errorBody(parsed: unknown): ErrorBody {
  const error = recordOf(recordOf(parsed)?.error);
  return {
    code: error?.code,
    message: error?.message,
    details: error?.details,
  };
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

// A code or id is short and has no spaces; anything else, or one that repeats a secret, is not passed on.
function identifierOf(value: unknown, secrets: readonly string[]): string | null {
  return typeof value === 'string' && /^[\w.:/+=-]{1,128}$/.test(value) && scrubber(secrets)(value) === value
    ? value
    : null;
}

function messageOf(value: unknown, secrets: readonly string[]): string | undefined {
  if (typeof value !== 'string') return undefined;
  const clean = scrubber(secrets)(value)
    .replace(/\b[a-z][\w+.-]*:\/\/\S+/gi, '[address]')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f<>]+/g, ' ')
    .trim()
    .slice(0, 300);
  return clean === '' ? undefined : clean;
}

/**
 * Finds the parameter that the message is about: docs/interfaces.md P7 says that it names it; catalogue has `details`.
 */
function argumentOf(
  message: string | undefined,
  details: unknown,
  parameters: Readonly<Record<string, string>>,
): string | undefined {
  const text = `${message ?? ''} ${JSON.stringify(details ?? '')}`;
  let first: { readonly at: number; readonly argument: string } | undefined;
  for (const [parameter, argument] of Object.entries(parameters)) {
    const at = text.search(new RegExp(`(?<![\\w-])${parameter}(?![\\w-])`, 'i'));
    if (at >= 0 && (!first || at < first.at)) first = { at, argument };
  }
  return first?.argument;
}
