import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { GatewayError } from '../../errors.js';
import type { Log } from '../../log.js';

/**
 * Creates every error that is sent to clients (docs/behaviour.md 4). A `GatewayError` is sent with its code; any other
 * fault is masked, and logged under an id that is in the response.
 */
export function clientError(error: unknown, log: Log): GraphQLError {
  const cause = causeOf(error);
  const at = error instanceof GraphQLError ? error : undefined;
  if (cause instanceof GatewayError) {
    return located(at, cause.message, extensionsOf(cause));
  }
  if (at && (cause === at || cause === undefined)) return at;
  if (cause instanceof GraphQLError) return located(at, cause.message, cause.extensions);
  const id = randomUUID();
  log.error({ id, path: at?.path, fault: faultOf(cause) }, 'Unexpected fault while answering');
  return located(at, 'Unexpected fault: the log has it under this id', { code: 'INTERNAL_SERVER_ERROR', id });
}

function located(
  at: GraphQLError | undefined,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  return new GraphQLError(message, { nodes: at?.nodes ?? null, path: at?.path ?? null, extensions });
}

function extensionsOf(error: GatewayError): Record<string, unknown> {
  return {
    code: error.code,
    ...(error.argument !== undefined && { argument: error.argument }),
    ...(error.upstream && { upstream: error.upstream }),
    ...(error.retryAfterS !== undefined && { retryAfterS: error.retryAfterS }),
    ...(statusOf[error.code] && { http: statusOf[error.code]?.(error) }),
  };
}

// Yoga applies `http` to the response's status and headers; it is not part of the body.
const statusOf: Record<
  string,
  (error: GatewayError) => { status: number; headers?: Record<string, string> }
> = {
  UNAUTHENTICATED: () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } }),
  CLIENT_RATE_LIMITED: (error) => ({
    status: 429,
    headers: { 'retry-after': String(Math.ceil(error.retryAfterS ?? 1)) },
  }),
};

// Executors wrap what a resolver threw, sometimes more than once.
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function faultOf(cause: unknown): Record<string, unknown> {
  if (!(cause instanceof Error)) return { message: String(cause) };
  return { name: cause.name, message: cause.message, stack: cause.stack };
}
