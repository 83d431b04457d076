import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { clientError } from '../../graph/errors/error-codes.js';
import type { GraphQLEngine, OperationArgs } from './engine.js';
import { finishResult, shownResult } from './finished-result.js';

/**
 * Cost → subscribe. The results of a subscription, or the one result of a refused one, which still has its `http`
 * extension. A fault becomes a result with an error; it never rejects.
 * @param onResult called with each result before it is delivered
 */
export async function listen(
  engine: GraphQLEngine,
  args: OperationArgs,
  onResult?: (result: ExecutionResult) => void,
): Promise<ExecutionResult | AsyncIterableIterator<ExecutionResult>> {
  const { operation } = args.contextValue;
  try {
    const result = await engine.subscribe(args);
    if (!isAsyncIterable(result)) return finishResult(result, operation);
    return mapped(result, (one) => {
      onResult?.(one);
      return shownResult(finishResult(one, operation));
    });
  } catch (error) {
    return finishResult({ errors: [clientError(error, engine.log)] }, operation);
  }
}

// Not an async generator: its return() would wait for the next result, which may take hours.
export function mapped<T, R>(source: AsyncIterable<T>, map: (value: T) => R): AsyncIterableIterator<R> {
  const iterator = source[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  return {
    async next() {
      const step = await iterator.next();
      return step.done ? done : { done: false, value: map(step.value) };
    },
    async return() {
      await iterator.return?.();
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
