import { setImmediate as nextTurn } from 'node:timers/promises';
import { clientError } from '../../graph/errors/error-codes.js';
import { type ExecutionPart, withErrors } from '../../graph/incremental/results.js';
import type { Answer } from './answer.js';
import type { GraphQLEngine, OperationArgs } from './engine.js';
import { finishResult, shownResult, withoutHttp } from './finished-result.js';
import { type Json, jsonOf } from './json-pieces.js';
import type { Operation } from './operation.js';

/** The response to an operation with `@defer` or `@stream`: payloads with `hasNext`, the last one with false. */
export interface AnswerInParts {
  readonly first: Answer;
  /** Ends the execution's remaining work when its consumer returns early. */
  readonly rest: AsyncIterable<Json>;
}

/** The first payload, as soon as it is there, and the following ones; a fault is an error in the last of them. */
export async function answerInParts(
  { log }: GraphQLEngine,
  { contextValue: { operation } }: OperationArgs,
  parts: AsyncIterable<ExecutionPart>,
): Promise<AnswerInParts> {
  const iterator = parts[Symbol.asyncIterator]();
  const next = async (): Promise<ExecutionPart | null> => {
    try {
      const step = await iterator.next();
      return step.done ? null : step.value;
    } catch (error) {
      return { errors: [clientError(error, log)], hasNext: false };
    }
  };
  const first = (await next()) ?? { data: null };
  const result = finishResult(first, operation);
  const { hasNext = false } = first;
  return {
    first: { result, json: jsonOf({ ...shownResult(result), hasNext }, false) },
    rest: restOf(next, () => iterator.return?.(), operation),
  };
}

async function* restOf(
  next: () => Promise<ExecutionPart | null>,
  stop: () => unknown,
  operation: Operation,
): AsyncGenerator<Json> {
  try {
    for (let hasNext = true; hasNext; ) {
      // Parts that are ready at the same time go together: a part of its own for each item of a list would be slow.
      await nextTurn();
      const part = await next();
      if (part === null) return;
      hasNext = part.hasNext === true;
      yield jsonOf(finishPart(part, operation), false);
    }
  } finally {
    stop();
  }
}

/** As `finishResult`, for a payload after the first. The cost in it is that of the answer so far. */
function finishPart(part: ExecutionPart, operation: Operation): ExecutionPart {
  const { incremental, hasNext = false } = part;
  const { data: _, ...finished } = shownResult(finishResult({ ...part, data: null }, operation));
  return {
    ...finished,
    ...(incremental && {
      incremental: incremental.map((one) =>
        withErrors(one, (errors) =>
          withoutHttp(finishResult({ data: null, errors }, operation).errors ?? []),
        ),
      ),
    }),
    hasNext,
  };
}
