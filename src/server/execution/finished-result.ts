import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Operation } from './operation.js';

/**
 * Adds a code to every error, and the cost where the client asked for it. HTTP status and headers are in the `http`
 * extension of the result and of its errors, where Yoga expects them.
 */
export function finishResult(result: ExecutionResult, operation: Operation): ExecutionResult {
  if (!result.errors && !operation.wantsCost) return result;
  const errors = result.errors && finishErrors(result.errors, operation);
  const extensions = {
    ...result.extensions,
    ...costOf(operation),
    ...(errors && httpOf(result, errors)),
  };
  return {
    ...(errors && { errors: errors.map((error) => withoutStatus(error, result)) }),
    ...('data' in result && { data: result.data }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}

/** The cost so far as an extension; null where the client did not ask for it. */
export function costOf({ wantsCost, meter }: Operation): { readonly upstream: object } | null {
  if (!wantsCost) return null;
  const { requestIds: _, ...cost } = meter;
  return { upstream: cost };
}

/** Adds a code to every error, shortens its message, and records the codes with the operation. */
export function finishErrors(errors: readonly GraphQLError[], operation: Operation): readonly GraphQLError[] {
  const finished = errors.map((error) => withCode(shortened(error)));
  for (const { extensions } of finished) operation.addErrorCode(extensions.code);
  return finished;
}

/** The finished result without its `http` extensions, which are not sent. */
export function shownResult(result: ExecutionResult): ExecutionResult {
  if (!result.errors && !result.extensions?.http) return result;
  const { http: _, ...extensions } = result.extensions ?? {};
  return {
    ...(result.errors && { errors: withoutHttp(result.errors) }),
    ...('data' in result && { data: result.data }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}

export function withoutHttp(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => (error.extensions.http ? extended(error, { http: undefined }) : error));
}

// graphql-js repeats names and values of the client in each of up to a hundred messages: a request of 256 KiB would have
// an answer of 25 MB.
const longestMessage = 1_000;

function shortened(error: GraphQLError): GraphQLError {
  const { message } = error;
  if (message.length <= longestMessage) return error;
  // Its end has the reason, after the value.
  return extended(
    error,
    {},
    `${message.slice(0, longestMessage / 2)} … ${message.slice(-longestMessage / 2)}`,
  );
}

function withCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions;
  // Errors of graphql-js itself have no code; they always concern the document or its variables.
  if (code === undefined) return extended(error, { code: 'BAD_USER_INPUT' });
  // A body that is not a GraphQL request is a 400 under every media type.
  return code === 'BAD_REQUEST' && http?.spec ? extended(error, { http: { ...http, spec: false } }) : error;
}

/** 401 when every field failed as UNAUTHENTICATED, 500 without data after a fault; else the media type decides. */
function httpOf(result: ExecutionResult, errors: readonly GraphQLError[]): object {
  const nothingAnswered = Object.values(result.data ?? {}).every((value) => value === null);
  if (nothingAnswered && errors.every(({ extensions }) => extensions.code === 'UNAUTHENTICATED')) {
    return { http: { status: 401, headers: { 'www-authenticate': 'Bearer' } } };
  }
  if ('data' in result) return {};
  if (errors.some(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR')) {
    return { http: { status: 500 } };
  }
  return {};
}

// Yoga takes the response's status from any error, even beside data: then the error must not carry one.
function withoutStatus(error: GraphQLError, result: ExecutionResult): GraphQLError {
  if ('data' in result) return error.extensions.http ? extended(error, { http: undefined }) : error;
  return error.extensions.http ? error : extended(error, { http: { status: 400, spec: true } });
}

function extended(error: GraphQLError, extensions: object, message = error.message): GraphQLError {
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...error.extensions, ...extensions },
  });
}
