import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ClientGone, GatewayError } from '../../errors.js';
import { Slices } from '../../event-loop-slices.js';
import { ChangeStream } from '../../live/delivery/change-stream.js';
import { FanOut } from '../../live/delivery/fan-out.js';
import { PayloadCache } from '../../live/delivery/payload-cache.js';
import { PullSink } from '../../live/delivery/pull-sink.js';
import type { LoggedChange } from '../../live/feeds/feed.js';
import type { Delivery } from '../../live/tracking/change.js';
import type { Log } from '../../log.js';
import { UnifyContext } from '../../unify/context.js';
import { onAbort } from '../../upstream/http/abort.js';
import { newCostMeter } from '../../upstream/read/read.js';
import type { GraphContext } from '../context.js';
import { clientError } from '../errors/error-codes.js';
import { liveOperation, type PayloadOperation } from './live-operation.js';
import { DirectSink } from './result-sink.js';
import { SharedResult } from './shared-result.js';

// Sockets written to per event-loop slice, about 3 ms: writing to ten thousand at once would block other clients.
const deliveriesPerSlice = 250;
// A cursor over 5,000 records takes as long as a thousand values of an answer.
const recordsPerValue = 5;

/**
 * Runs subscriptions of the live feeds: one execution per change and distinct selection with variables, for any number
 * of subscribers and filters (docs/behaviour.md 9.8). Each change has its own loaders, so that its sensor is as fresh
 * as in a query (docs/behaviour.md 9.9).
 */
export function sharedSubscriptions(log: Log): Plugin<GraphContext> {
  const groupsByFeed = new WeakMap<object, FeedGroups>();
  const deliveries = new Slices(deliveriesPerSlice);

  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
    const source = await createSourceEventStream(args);
    if (!(source instanceof ChangeStream)) return source as ExecutionResult;
    const stream: ChangeStream<LoggedChange> = source;
    const results = new PullSink<SharedResult>(
      () => leave(),
      (error) => failed(error, log),
    );
    const { sink, unify } = args.contextValue as GraphContext;
    const leave = groupOf(stream, args).join(stream.after, sink ? new DirectSink(sink, results) : results);
    const { signal } = unify.scope;
    // A transport may call `return` only after the next result, so the client's disconnect ends the stream as well.
    onAbort(signal, () => {
      const { reason } = signal;
      if (!(reason instanceof GatewayError) || reason instanceof ClientGone) return void results.return();
      leave();
      results.end(reason);
    });
    return resultsOf(results);
  }

  function groupOf(stream: ChangeStream<LoggedChange>, args: ExecutionArgs) {
    const operation = liveOperation(args);
    const feedGroups = groupsByFeed.get(stream.feed) ?? new FeedGroups();
    groupsByFeed.set(stream.feed, feedGroups);
    const { groups, payloads } = feedGroups;
    const known = groups.get(operation.key);
    if (known) return known;
    const payload =
      payloads.get(operation.payload.key) ??
      new PayloadCache(stream.clock, (delivery: Delivery<LoggedChange>) => {
        const { context, isFirst } = feedGroups.contextOf(delivery.change, args.contextValue as GraphContext);
        // All payloads of a change share its cursor.
        const cursorValues = isFirst ? Math.ceil(stream.feed.recordsPerCursor / recordsPerValue) : 0;
        const { values } = operation.payload;
        return run(operation.payload, values + cursorValues, args.schema, delivery, context);
      });
    payloads.set(operation.payload.key, payload);
    const group: FanOut<LoggedChange, SharedResult> = new FanOut<LoggedChange, SharedResult>({
      feed: stream.feed,
      clock: stream.clock,
      filter: stream.filter,
      preparation: stream.preparation,
      render: payload,
      slices: deliveries,
      onEmpty() {
        groups.delete(operation.key);
        if (payload.users === 0) payloads.delete(operation.payload.key);
        if (groups.size > 0) return;
        groupsByFeed.delete(stream.feed);
        feedGroups.close();
      },
    });
    groups.set(operation.key, group);
    return group;
  }

  function run(
    operation: PayloadOperation,
    amount: number,
    schema: GraphQLSchema,
    delivery: Delivery<LoggedChange>,
    contextValue: GraphContext,
  ): SharedResult | Promise<SharedResult> {
    const { slices, scope } = contextValue.unify;
    const slice = slices.take(amount, scope.operationKey);
    return slice ? slice.then(begin) : begin();

    function begin(): SharedResult | Promise<SharedResult> {
      const { document, operationName, variableValues } = operation;
      try {
        const result = execute({
          schema,
          document,
          operationName,
          variableValues,
          rootValue: delivery,
          contextValue,
        });
        return result instanceof Promise
          ? result.then(shared, (error) => failed(error, log))
          : shared(result as ExecutionResult);
      } catch (error) {
        return failed(error, log);
      }
    }
  }

  function shared(result: ExecutionResult): SharedResult {
    const errors = result.errors?.map((error) => clientError(error, log));
    return new SharedResult(errors ? { ...result, errors } : result);
  }

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn((args) => subscribe(args as ExecutionArgs)) };
}

/** Subscribers of one feed: groups with the same filter and payload, and the payload caches that groups share. */
class FeedGroups {
  readonly groups = new Map<string, FanOut<LoggedChange, SharedResult>>();
  readonly payloads = new Map<string, PayloadCache<LoggedChange, SharedResult>>();
  readonly #left = new AbortController();
  readonly #contexts = new Map<LoggedChange, GraphContext>();

  /**
   * Executions of one change that start in the same iteration of the event loop share their loaders. Later ones get new
   * loaders: the earlier reads may be outdated by then, or have failed.
   */
  contextOf(
    change: LoggedChange,
    { unify, gateway, feeds }: GraphContext,
  ): { readonly context: GraphContext; readonly isFirst: boolean } {
    if (this.#contexts.size === 0) setImmediate(() => this.#contexts.clear());
    const known = this.#contexts.get(change);
    if (known) return { context: known, isFirst: false };
    const scope = {
      signal: this.#left.signal,
      priority: 'feed',
      operationKey: this,
      meter: newCostMeter(),
    } as const;
    const context = { unify: new UnifyContext(unify.tenant, scope), gateway, feeds };
    this.#contexts.set(change, context);
    return { context, isFirst: true };
  }

  /** The last subscriber has left: aborts the reads in flight. */
  close(): void {
    this.#left.abort();
  }
}

function failed(error: unknown, log: Log): SharedResult {
  return new SharedResult({ errors: [clientError(error, log)] });
}

/** The results as an iterator. Not an async generator: its `return` would wait for the next change. */
function resultsOf(sink: PullSink<SharedResult>): AsyncIterableIterator<ExecutionResult> {
  const done = { done: true, value: undefined } as const;
  return {
    async next() {
      const step = await sink.next();
      return step.done ? done : { done: false, value: step.value.result };
    },
    async return() {
      await sink.return();
      return done;
    },
    async throw() {
      await sink.return();
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
