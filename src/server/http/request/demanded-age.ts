import type { IncomingHttpHeaders } from 'node:http';
import { GraphQLError } from 'graphql';
import type { ForwardMs } from '../../../clock.js';
import type { Demand } from '../../../upstream/cache/demand.js';

/**
 * The age that a request demands by `Cache-Control: max-age` or `no-cache` (docs/behaviour.md 5.6), in milliseconds;
 * null without a demand. Malformed directives are ignored (RFC 9111). `no-store` concerns the storing of the response,
 * not its age, and is ignored as well.
 */
export function maxAgeInHeaders(headers: IncomingHttpHeaders): number | null {
  const { 'cache-control': cacheControl, pragma } = headers;
  // RFC 9111 5.4: `Pragma: no-cache` of clients that predate Cache-Control.
  if (cacheControl === undefined) return pragma !== undefined && noCache.test(pragma) ? 0 : null;
  let maxAgeMs: number | null = null;
  for (const [, name = '', quoted, plain] of cacheControl.matchAll(directive)) {
    const value = quoted ?? plain;
    const seconds = secondsOf(name.toLowerCase(), value);
    if (seconds !== null) maxAgeMs = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, seconds * 1000);
  }
  return maxAgeMs;
}

/** The demand in `extensions.cacheControl.maxAge` (seconds), in ms. @throws GraphQLError (400) if malformed */
export function maxAgeInExtensions(extensions: Readonly<Record<string, unknown>> | null | undefined) {
  const cacheControl = extensions?.cacheControl;
  if (cacheControl === undefined || cacheControl === null) return null;
  const { maxAge } = cacheControl as { maxAge?: unknown };
  // As with other parameters, null counts as left out.
  if (maxAge === null || maxAge === undefined) return null;
  if (typeof maxAge === 'number' && Number.isFinite(maxAge) && maxAge >= 0) return maxAge * 1000;
  throw new GraphQLError('`extensions.cacheControl.maxAge` must be a number of seconds, 0 or more', {
    extensions: {
      code: 'BAD_USER_INPUT',
      argument: 'extensions.cacheControl.maxAge',
      http: { status: 400, spec: false },
    },
  });
}

export function demandOf(maxAgeMs: number | null, atMs: ForwardMs): Demand | null {
  return maxAgeMs === null ? null : { maxAgeMs, atMs };
}

export function stricter(one: Demand | null, other: Demand | null): Demand | null {
  if (!one || !other) return one ?? other;
  return one.maxAgeMs <= other.maxAgeMs ? one : other;
}

function secondsOf(directive: string, value: string | undefined): number | null {
  if (directive === 'no-cache' && value === undefined) return 0;
  return directive === 'max-age' && value !== undefined && /^\d+$/.test(value) ? Number(value) : null;
}

const noCache = /^\s*no-cache\s*(,|$)/i;

// A directive name and its optional value: a quoted string or a token.
const directive = /(?<=^|,)\s*([\w!#$%&'*+.^`|~-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?\s*(?=,|$)/g;
