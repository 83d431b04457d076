import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ClientGone, GatewayError } from '../../errors.js';
import { Slices } from '../../event-loop-slices.js';
import { ChangeStream } from '../../live/delivery/change-stream.js';
import { FanOut } from '../../live/delivery/fan-out.js';
import { PullSink } from '../../live/delivery/pull-sink.js';
import type { LoggedChange } from '../../live/feeds/feed.js';
import type { Log } from '../../log.js';
import { onAbort } from '../../upstream/http/abort.js';
import type { GraphContext } from '../context.js';
import { clientError } from '../errors/error-codes.js';
import { FeedPayloads } from './feed-payloads.js';
import { liveOperation } from './live-operation.js';
import { DirectSink } from './result-sink.js';
import { SharedResult } from './shared-result.js';

// Sockets written to per event-loop slice, about 3 ms: writing to ten thousand at once would block other clients.
const deliveriesPerSlice = 250;

/**
 * Runs subscriptions of the live feeds: one execution per change, for any number of subscribers, filters and selections
 * (docs/behaviour.md 9.8). Each change has its own loaders, so that its sensor is as fresh as in a query (9.9).
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
    const feedGroups = groupsByFeed.get(stream.feed) ?? {
      groups: new Map(),
      payloads: new FeedPayloads(stream, args, log),
    };
    groupsByFeed.set(stream.feed, feedGroups);
    const { groups, payloads } = feedGroups;
    const known = groups.get(operation.key);
    if (known) return known;
    const group: Group = new FanOut<LoggedChange, SharedResult>({
      feed: stream.feed,
      clock: stream.clock,
      filter: stream.filter,
      preparation: stream.preparation,
      render: payloads.of(operation.payload),
      slices: deliveries,
      onEmpty() {
        groups.delete(operation.key);
        payloads.left(operation.payload);
        if (groups.size > 0) return;
        groupsByFeed.delete(stream.feed);
        payloads.close();
      },
    });
    groups.set(operation.key, group);
    return group;
  }

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn((args) => subscribe(args as ExecutionArgs)) };
}

/** The subscribers of one feed, in groups with the same filter and payload. */
interface FeedGroups {
  readonly groups: Map<string, Group>;
  readonly payloads: FeedPayloads;
}

type Group = FanOut<LoggedChange, SharedResult>;

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
