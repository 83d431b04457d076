import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { isAsyncIterable, isPromise } from 'graphql-yoga';
import { clientError } from '../../graph/errors/error-codes.js';
import { hasParts } from '../../graph/incremental/directives.js';
import type { ExecutionPart } from '../../graph/incremental/results.js';
import { isShort } from '../../graph/limits/estimate.js';
import type { Maybe } from '../../maybe.js';
import { unchanged } from '../../upstream/cache/dependencies.js';
import type { Parameters } from '../http/request/parameters.js';
import type { Answer } from './answer.js';
import { type AnswerInParts, answerInParts } from './answer-in-parts.js';
import { type GraphQLEngine, noteOperation, type OperationArgs } from './engine.js';
import { finishResult, shownResult } from './finished-result.js';
import { jsonOf } from './json-pieces.js';
import type { Operation } from './operation.js';

/**
 * Parse → validate. Returns the arguments for the execution, or the validation errors. Parsed documents are cached.
 * Throws a GraphQLError where there is no text, it cannot be parsed, or it does not have the operation.
 */
export function prepare(
  engine: GraphQLEngine,
  parameters: Parameters,
  operation: Operation,
): OperationArgs | readonly GraphQLError[] {
  const { persisted } = engine;
  const query = persisted.textFor(parameters);
  if (query === undefined) throw noQuery();
  operation.dependencies?.add(persisted, () => unchanged(() => persisted.known));
  // An id sent with its text registers the text, which a cached answer would skip.
  const isNamed = parameters.documentId ?? parameters.extensions?.persistedQuery;
  if (isNamed && parameters.query) operation.dependencies?.refuse('it registers its text');
  const { document, errors } = engine.read(query);
  const operationName = parameters.operationName ?? null;
  noteOperation(operation, document, operationName);
  if (!getOperationAST(document, operationName)) throw noOperation();
  if (errors.length > 0) return errors;
  if (hasParts(document)) operation.dependencies?.refuse('it can be answered in parts');
  return {
    schema: engine.schema,
    document,
    operationName,
    variableValues: parameters.variables,
    contextValue: engine.contextOf(operation),
  };
}

/**
 * Cost → execute → serialise; in parts for an operation that takes them. A fault becomes an answer with an error; it never
 * rejects.
 */
export function run(engine: GraphQLEngine, args: OperationArgs): Maybe<Answer | AnswerInParts> {
  const failed = (error: unknown) => serialise({ errors: [clientError(error, engine.log)] }, args);
  try {
    // `engine.execute` includes the cost estimate, as Yoga's last plugin before the execution.
    const result = engine.execute(args);
    // Yoga returns its own thenable, which is not an instance of Promise.
    if (!isPromise(result))
      return inParts(result) ? answerInParts(engine, args, result) : serialise(result, args);
    return Promise.resolve(result).then<Answer | AnswerInParts, Answer>(
      (settled) => (inParts(settled) ? answerInParts(engine, args, settled) : serialise(settled, args)),
      failed,
    );
  } catch (error) {
    return failed(error);
  }
}

function inParts(
  result: ExecutionResult | AsyncIterable<ExecutionPart>,
): result is AsyncIterable<ExecutionPart> {
  return isAsyncIterable(result);
}

function serialise(executed: ExecutionResult, { contextValue }: OperationArgs): Answer {
  const { operation, estimate } = contextValue;
  const result = finishResult(executed, operation);
  return { result, json: jsonOf(shownResult(result), isShort(estimate) && !result.errors) };
}

// Code and message of both are Yoga's, which answers such requests over HTTP.
const noOperation = () =>
  new GraphQLError('Could not determine what operation to execute.', {
    extensions: { code: 'OPERATION_RESOLUTION_FAILURE' },
  });

const noQuery = () => new GraphQLError('Must provide query string.', { extensions: { code: 'BAD_REQUEST' } });
