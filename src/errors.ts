/** Every failure the gateway knows: one class and one stable code per cause (docs/behaviour.md 4). */

/** One of the two REST interfaces behind the graph. */
export type Source = 'PROJECT' | 'CATALOGUE';

/** What upstream said when it caused the failure. Never a key, an address or a body. */
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
  /** What upstream answered, where it is the cause. */
  readonly upstream?: UpstreamAnswer | undefined;
  /** Seconds after which trying again can help. */
  readonly retryAfterS?: number | undefined;
  /** The GraphQL argument that is wrong. */
  readonly argument?: string | undefined;
  /** For the log alone. */
  readonly cause?: unknown;
}

/** A failure whose message a client may read. */
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

/** The client has not proved who it is; in `passthrough`, upstream refused the client's key. */
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
 * No budget within the wait, or upstream 429. Only the latter has `upstream`: a budget that is spent is the gateway's
 * own count, and no request of upstream's could be named (docs/behaviour.md 4).
 */
export class UpstreamRateLimited extends GatewayError {
  readonly code = 'UPSTREAM_RATE_LIMITED';
}

/** No answer in time, or upstream 503 `timeout`. */
export class UpstreamTimeout extends GatewayError {
  readonly code = 'UPSTREAM_TIMEOUT';
}

/** Connection refused or broken, 5xx, or a body that is not what the spec says. */
export class UpstreamUnavailable extends GatewayError {
  readonly code = 'UPSTREAM_UNAVAILABLE';
}

/** An `after` or `before` that is not ours, or of another list. */
export class CursorInvalid extends GatewayError {
  readonly code = 'CURSOR_INVALID';
}

/** A cursor that can no longer be resumed without loss. */
export class CursorExpired extends GatewayError {
  readonly code = 'CURSOR_EXPIRED';
}

/** A subscription whose reader is too slow for what happens (docs/behaviour.md 9.5). */
export class FellBehind extends GatewayError {
  readonly code = 'FELL_BEHIND';
}

/** A query limit, or more upstream requests than MAX_COST. */
export class QueryTooComplex extends GatewayError {
  readonly code = 'QUERY_TOO_COMPLEX';
}

/** Over CLIENT_RATE_PER_MINUTE. */
export class ClientRateLimited extends GatewayError {
  readonly code = 'CLIENT_RATE_LIMITED';
}

/** The client has left, and with it whoever would read this: the reason that its work is aborted with. */
export class ClientGone extends GatewayError {
  readonly code = 'CLIENT_GONE';
}

/** The one interface that could answer is not configured. */
export class NotConfigured extends GatewayError {
  readonly code = 'NOT_CONFIGURED';
}

/** For `NOT_CONFIGURED`: what would change it. */
export function notConfigured(source: Source): NotConfigured {
  const [name, header] =
    source === 'PROJECT' ? ['project', 'Authorization'] : ['catalogue', 'X-Catalogue-Key'];
  return new NotConfigured(
    `Only the ${name} interface can answer this, and there is no key for it: the operator sets ${source}_API_URL and ` +
      `its key; with AUTH_MODE=passthrough the client sends its own as ${header}`,
  );
}
