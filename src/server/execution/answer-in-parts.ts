import { setImmediate as nextIteration } from 'node:timers/promises';
import { clientError } from '../../graph/errors/error-codes.js';
import { type ExecutionPart, withErrors } from '../../graph/incremental/results.js';
import type { Log } from '../../log.js';
import type { Answer } from './answer.js';
import type { GraphQLEngine, OperationArgs } from './engine.js';
import { costOf, finishErrors, finishResult, shownResult, withoutHttp } from './finished-result.js';
import { jsonOf } from './json-pieces.js';
import type { Operation } from './operation.js';

/** The response to an operation with `@defer` or `@stream`: payloads with `hasNext`, the last one with false. */
export interface AnswerInParts {
  readonly first: Answer;
  /** Ends the execution when it is returned; reads in flight end with the operation's signal. */
  readonly rest: AsyncGenerator<Answer>;
}

/** The first payload, as soon as it is there, and the following ones; a fault is an error in the last of them. */
export async function answerInParts(
  { log }: GraphQLEngine,
  { contextValue: { operation } }: OperationArgs,
  parts: AsyncIterable<ExecutionPart>,
): Promise<AnswerInParts> {
  const payloads = payloadsOf(parts, operation, log);
  const first = await payloads.next();
  if (first.done) throw new Error('An execution in parts had none');
  // The same generator, already begun: only then does `return` run its `finally`, also before the second payload.
  return { first: first.value, rest: payloads };
}

async function* payloadsOf(
  parts: AsyncIterable<ExecutionPart>,
  operation: Operation,
  log: Log,
): AsyncGenerator<Answer> {
  let finish = finishFirst;
  try {
    for await (const part of parts) {
      yield finish(part, operation);
      finish = finishLater;
      // Parts that are ready at the same time go together: a part of its own for each item of a list would be slow.
      await nextIteration();
    }
  } catch (error) {
    yield finish({ errors: [clientError(error, log)], hasNext: false }, operation);
  }
}

/** Its result has the HTTP status. */
function finishFirst(part: ExecutionPart, operation: Operation): Answer {
  const result = finishResult(part, operation);
  return { result, json: jsonOf({ ...shownResult(result), hasNext: part.hasNext === true }, false) };
}

/** The cost in it is that of the answer so far. */
function finishLater(part: ExecutionPart, operation: Operation): Answer {
  const extensions = costOf(operation);
  const result: ExecutionPart = {
    ...withErrors(part, (errors) => withoutHttp(finishErrors(errors, operation))),
    ...(extensions && { extensions }),
    hasNext: part.hasNext === true,
  };
  return { result, json: jsonOf(result, false) };
}
