import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Delivery } from '../live/change.js';
import { ChangeStream } from '../live/change-stream.js';
import { Group } from '../live/fan-out.js';
import type { LoggedChange } from '../live/feed.js';
import { PullOutlet } from '../live/pull-outlet.js';
import type { Log } from '../log.js';
import { UnifyContext } from '../unify/context.js';
import { onAbort } from '../upstream/abort.js';
import { newCostMeter } from '../upstream/read.js';
import type { GraphContext } from './context.js';
import { clientError } from './error-codes.js';
import { type LiveOperation, liveOperation } from './live-operation.js';
import { DirectOutlet } from './result-outlet.js';
import { SharedResult } from './shared-result.js';

/**
 * Runs subscriptions of the live feeds: one execution for each change and each distinct operation with its variables,
 * however many have subscribed to it (contract 9.8); each with loaders of its own, so that what a change says of its
 * sensor is as fresh as a query would give it (contract 9.9).
 */
export function sharedSubscriptions(log: Log): Plugin<GraphContext> {
  const groups = new WeakMap<object, Map<string, Group<LoggedChange, SharedResult>>>();

  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
    const source = await createSourceEventStream(args);
    if (!(source instanceof ChangeStream)) return source as ExecutionResult;
    const stream: ChangeStream<LoggedChange> = source;
    const results = new PullOutlet<SharedResult>(
      () => leave(),
      (error) => failed(error, log),
    );
    const { outlet, unify } = args.contextValue as GraphContext;
    const leave = groupOf(stream, args).join(
      stream.after,
      outlet ? new DirectOutlet(outlet, results) : results,
    );
    // Who reads the results as a stream may be told that nobody wants them only after the next one.
    onAbort(unify.scope.signal, () => void results.return());
    return resultsOf(results);
  }

  function groupOf(stream: ChangeStream<LoggedChange>, args: ExecutionArgs) {
    const operation = liveOperation(args);
    const byKey = groups.get(stream.feed) ?? new Map<string, Group<LoggedChange, SharedResult>>();
    groups.set(stream.feed, byKey);
    const known = byKey.get(operation.key);
    if (known) return known;
    const left = new AbortController();
    const group = new Group<LoggedChange, SharedResult>({
      feed: stream.feed,
      clock: stream.clock,
      filter: stream.filter,
      render: (delivery) => run(operation, args, delivery, left.signal),
      onEmpty() {
        byKey.delete(operation.key);
        left.abort();
      },
    });
    byKey.set(operation.key, group);
    return group;
  }

  async function run(
    { document, operationName, variableValues }: LiveOperation,
    { schema, contextValue }: ExecutionArgs,
    delivery: Delivery<LoggedChange>,
    signal: AbortSignal,
  ): Promise<SharedResult> {
    try {
      const result = await execute({
        schema,
        document,
        operationName,
        variableValues,
        rootValue: delivery,
        contextValue: freshContext(contextValue as GraphContext, signal),
      });
      const errors = result.errors?.map((error) => clientError(error, log));
      return new SharedResult({ ...result, ...(errors && { errors }) });
    } catch (error) {
      return failed(error, log);
    }
  }

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn((args) => subscribe(args as ExecutionArgs)) };
}

function freshContext({ unify, gateway, feeds }: GraphContext, signal: AbortSignal): GraphContext {
  const scope = { signal, priority: 'feed', turn: {}, meter: newCostMeter() } as const;
  return { unify: new UnifyContext(unify.tenant, scope), gateway, feeds };
}

function failed(error: unknown, log: Log): SharedResult {
  return new SharedResult({ errors: [clientError(error, log)] });
}

/** The results one by one; not an async generator, whose `return` would wait for the next change. */
function resultsOf(outlet: PullOutlet<SharedResult>): AsyncIterableIterator<ExecutionResult> {
  const done = { done: true, value: undefined } as const;
  return {
    async next() {
      const step = await outlet.next();
      return step.done ? done : { done: false, value: step.value.result };
    },
    async return() {
      await outlet.return();
      return done;
    },
    async throw() {
      await outlet.return();
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
