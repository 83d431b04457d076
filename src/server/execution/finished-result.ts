import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Operation } from './operation.js';

/**
 * The result as the client gets it: every error with a code, and the cost where it was asked for. What the result says to
 * HTTP (a status, headers) is in the `http` extension of the result and of its errors, where Yoga looks for it.
 */
export function finishResult(result: ExecutionResult, operation: Operation): ExecutionResult {
  if (!result.errors && !operation.wantsCost) return result;
  const { requestIds: _, ...cost } = operation.meter;
  const errors = result.errors?.map(withCode);
  for (const error of errors ?? []) operation.addErrorCode(error.extensions.code);
  const extensions = {
    ...result.extensions,
    ...(operation.wantsCost && { upstream: cost }),
    ...(errors && httpOf(result, errors)),
  };
  return {
    ...(errors && { errors: errors.map((error) => withoutStatus(error, result)) }),
    ...('data' in result && { data: result.data }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}

/** The finished result as it is written: what it says to HTTP is for HTTP alone. */
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

function withCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions;
  // What graphql itself refuses has no code of its own: it is always something about the document or its variables.
  if (code === undefined) return extended(error, { code: 'BAD_USER_INPUT' });
  // No GraphQL request at all is a 400 for whatever media type.
  return code === 'BAD_REQUEST' && http?.spec ? extended(error, { http: { ...http, spec: false } }) : error;
}

/** 401 when nothing could be answered; 4xx without any data only for those who asked for the new media type. */
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

// Yoga takes the response's status from any error, however much was answered beside it.
function withoutStatus(error: GraphQLError, result: ExecutionResult): GraphQLError {
  if ('data' in result) return error.extensions.http ? extended(error, { http: undefined }) : error;
  return error.extensions.http ? error : extended(error, { http: { status: 400, spec: true } });
}

function extended(error: GraphQLError, extensions: object): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...error.extensions, ...extensions },
  });
}
