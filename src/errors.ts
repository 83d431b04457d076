/** Every failure that the gateway reports: one class and one stable code per cause (docs/behaviour.md 4). */

/** One of the two REST interfaces behind the graph. */
export type Source = 'PROJECT' | 'CATALOGUE';

/** The upstream response that caused the failure. It never holds a key, an address or a body. */
export interface UpstreamAnswer {
  readonly source: Source;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** `error.code` of the body (docs/interfaces.md P7, C7). */
  readonly code: string | null;
  /** `meta.request_id` (docs/interfaces.md C4). */
  readonly requestId: string | null;
}

export interface FailureDetails {
  /** Set where an upstream response is the cause. */
  readonly upstream?: UpstreamAnswer | undefined;
  /** Seconds after which a retry can succeed. */
  readonly retryAfterS?: number | undefined;
  /** The GraphQL argument that is wrong. */
  readonly argument?: string | undefined;
  /** Written to the log, never sent to a client. */
  readonly cause?: unknown;
}

/** A failure with a message that may be sent to a client. */
export abstract class GatewayError extends Error {
  /** The stable code of docs/behaviour.md 4. */
  abstract readonly code: string;
  readonly upstream: UpstreamAnswer | undefined;
  readonly retryAfterS: number | undefined;
  readonly argument: string | undefined;

  constructor(message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = new.target.name;
    this.upstream = details.upstream;
    this.retryAfterS = details.retryAfterS;
    this.argument = details.argument;
  }
}

/** An argument is wrong; `argument` names it. Also upstream 400. */
export class BadUserInput extends GatewayError {
  readonly code = 'BAD_USER_INPUT';
}

/** The client's credentials are missing or invalid; in `passthrough`, upstream refused the client's key. */
export class Unauthenticated extends GatewayError {
  readonly code = 'UNAUTHENTICATED';
}

/** Upstream 403, or 404 on a list: for example a plan without event detection. */
export class Forbidden extends GatewayError {
  readonly code = 'FORBIDDEN';
}

/** Upstream refused the gateway's own key. */
export class UpstreamUnauthorized extends GatewayError {
  readonly code = 'UPSTREAM_UNAUTHORIZED';
}

/**
 * No permit within UPSTREAM_MAX_WAIT_MS, or upstream 429. `upstream` is set only for the latter: an exhausted budget is
 * the gateway's own count, so there is no upstream response to name (docs/behaviour.md 4).
 */
export class UpstreamRateLimited extends GatewayError {
  readonly code = 'UPSTREAM_RATE_LIMITED';
}

/** No answer in time, or upstream 503 `timeout`. */
export class UpstreamTimeout extends GatewayError {
  readonly code = 'UPSTREAM_TIMEOUT';
}

/** Connection refused or broken, 5xx, or a body that does not match the spec. */
export class UpstreamUnavailable extends GatewayError {
  readonly code = 'UPSTREAM_UNAVAILABLE';
}

/** An `after` or `before` cursor that this gateway did not issue, or that belongs to another list. */
export class CursorInvalid extends GatewayError {
  readonly code = 'CURSOR_INVALID';
}

/** A cursor after which the change log is no longer complete, so that a replay would miss changes. */
export class CursorExpired extends GatewayError {
  readonly code = 'CURSOR_EXPIRED';
}

/** The buffer of a subscription overflowed because its client reads too slowly (docs/behaviour.md 9.5). */
export class FellBehind extends GatewayError {
  readonly code = 'FELL_BEHIND';
}

/** The operation exceeds a query limit, or could need more upstream requests than MAX_COST. */
export class QueryTooComplex extends GatewayError {
  readonly code = 'QUERY_TOO_COMPLEX';
}

/** The client sent more operations than CLIENT_RATE_PER_MINUTE. */
export class ClientRateLimited extends GatewayError {
  readonly code = 'CLIENT_RATE_LIMITED';
}

/** Abort reason of the work for a client that has disconnected; nobody receives it. */
export class ClientGone extends GatewayError {
  readonly code = 'CLIENT_GONE';
}

/** The one interface that could answer is not configured. */
export class NotConfigured extends GatewayError {
  readonly code = 'NOT_CONFIGURED';
}

/** `NotConfigured` with a message that names the settings that would mend it. */
export function notConfigured(source: Source): NotConfigured {
  const [name, header] =
    source === 'PROJECT' ? ['project', 'Authorization'] : ['catalogue', 'X-Catalogue-Key'];
  return new NotConfigured(
    `Only the ${name} interface can answer this, and there is no key for it: the operator sets ${source}_API_URL and ` +
      `its key; with AUTH_MODE=passthrough the client sends its own as ${header}`,
  );
}
