import { type ExecutionResult, GraphQLError, type OperationTypeNode } from 'graphql';
import type { ResultOutlet } from '../graph/result-outlet.js';
import { type CostMeter, newCostMeter } from '../upstream/read.js';
import type { Client } from './auth.js';

/** One operation on its way through the gateway, over HTTP or a WebSocket. */
export interface Operation {
  /** Joins the log's lines; the response names it. */
  readonly id: string;
  readonly client: Client;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  readonly meter: CostMeter;
  /** Whether the client asked for `extensions.upstream` (contract 5.7). */
  readonly wantsCost: boolean;
  /** Where a subscription's results go straight to, over a WebSocket. */
  readonly outlet?: ResultOutlet | undefined;
  /** W3C trace context that the client sent. */
  readonly traceparent: string | null;
  /** Known once the document has been read; for the log and the metrics. */
  name: string | null;
  kind: OperationTypeNode | 'waveform' | null;
  /** Codes of the errors that the client was sent. */
  readonly errorCodes: Set<string>;
  /** What is to be written as JSON, where the server writes it itself. */
  body: object | null;
}

/** Told of every operation when it is over. */
export type OnFinished = (operation: Operation, finished: Finished) => void;

export interface Finished {
  readonly durationMs: number;
  /** HTTP status; null over a WebSocket. */
  readonly status: number | null;
}

export function newOperation(
  given: Pick<Operation, 'id' | 'client' | 'signal' | 'wantsCost' | 'outlet' | 'traceparent'>,
): Operation {
  return { ...given, meter: newCostMeter(), name: null, kind: null, errorCodes: new Set(), body: null };
}

/** The result as the client gets it: every error with a code, the cost where it was asked for, the HTTP status. */
export function finishResult(result: ExecutionResult, operation: Operation): ExecutionResult {
  if (!result.errors && !operation.wantsCost) return result;
  const { requestIds: _, ...cost } = operation.meter;
  const errors = result.errors?.map(withCode);
  for (const error of errors ?? []) operation.errorCodes.add(String(error.extensions.code));
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

/** The result with its JSON left to the server, which has it in `operation.body` once Yoga would write it. */
export function withoutJson(result: ExecutionResult, operation: Operation): ExecutionResult {
  const left = { ...result };
  const stringify = (toWrite: object) => {
    operation.body = toWrite;
    return '';
  };
  return Object.defineProperty(left, 'stringify', { value: stringify, enumerable: false });
}

function withCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions;
  // What graphql itself refuses has no code of its own: it is always something about the document or its variables.
  if (code === undefined) return extended(error, { code: 'BAD_USER_INPUT' });
  if (code === 'REQUEST_ENTITY_TOO_LARGE') return extended(error, { code: 'QUERY_TOO_COMPLEX' });
  // No GraphQL request at all is a 400 for whatever media type.
  return code === 'BAD_REQUEST' && http?.spec ? extended(error, { http: { ...http, spec: false } }) : error;
}

/** contract 4: 401 when nothing could be answered; 4xx without any data only for those who asked for the new media type. */
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

/** The errors as they go over a socket: what they say to HTTP is for HTTP alone. */
export function withoutHttp(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => (error.extensions.http ? extended(error, { http: undefined }) : error));
}
