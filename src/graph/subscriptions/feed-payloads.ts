import { type ExecutionArgs, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import type { Slices } from '../../event-loop-slices.js';
import type { ChangeStream } from '../../live/delivery/change-stream.js';
import { PayloadCache } from '../../live/delivery/payload-cache.js';
import type { LoggedChange } from '../../live/feeds/feed.js';
import type { Delivery } from '../../live/tracking/change.js';
import type { Log } from '../../log.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import { type Tenant, UnifyContext } from '../../unify/context.js';
import { newCostMeter } from '../../upstream/read/read.js';
import type { GraphContext } from '../context.js';
import { clientError } from '../errors/error-codes.js';
import type { PayloadOperation } from './live-operation.js';
import { MergedSelections, type Selection, selectionOf } from './merged-selections.js';
import { SharedResult } from './shared-result.js';

// A cursor over 5,000 records takes as long as a thousand values of an answer.
const recordsPerValue = 5;
// To copy values takes so much less time than to resolve them.
const copiesPerValue = 10;

type Payloads = PayloadCache<LoggedChange, SharedResult>;
type Executable = Pick<PayloadOperation, 'document' | 'values'> &
  Partial<Pick<PayloadOperation, 'operationName' | 'variableValues'>>;

/** A payload in which a change is wanted. */
interface Wanted {
  readonly operation: PayloadOperation;
  readonly selection: Selection;
  readonly resolve: (payload: Maybe<SharedResult>) => void;
}

/**
 * Makes the payloads of the changes of one feed. Selections in which a change is wanted at the same time are executed merged
 * into one, of which each gets its part (docs/behaviour.md 9.8).
 */
export class FeedPayloads {
  readonly #stream: ChangeStream<LoggedChange>;
  readonly #schema: GraphQLSchema;
  readonly #tenant: Tenant;
  readonly #others: Omit<GraphContext, 'unify'>;
  readonly #slices: Slices;
  readonly #log: Log;
  readonly #caches = new Map<string, Payloads>();
  readonly #contexts = new Map<LoggedChange, GraphContext>();
  readonly #wanted = new Map<LoggedChange, Wanted[]>();
  readonly #left = new AbortController();
  #selections: readonly Selection[] = [];
  #merged = new MergedSelections([]);

  constructor(stream: ChangeStream<LoggedChange>, { schema, contextValue }: ExecutionArgs, log: Log) {
    this.#stream = stream;
    this.#schema = schema;
    const { unify, gateway, feeds } = contextValue as GraphContext;
    this.#tenant = unify.tenant;
    this.#others = { gateway, feeds };
    this.#slices = unify.slices;
    this.#log = log;
  }

  /** The payloads of one operation, for all groups of subscribers that differ in their filters alone. */
  of(operation: PayloadOperation): Payloads {
    const known = this.#caches.get(operation.key);
    if (known) return known;
    const selection = selectionOf(this.#schema, operation);
    const payloads: Payloads = new PayloadCache(this.#stream.clock, (delivery) => {
      // A replay is of one subscriber.
      if (selection === null || delivery.isReplayed) return this.#alone(operation, delivery);
      return new Promise((resolve) => this.#wantedOf(delivery).push({ operation, selection, resolve }));
    });
    this.#caches.set(operation.key, payloads);
    return payloads;
  }

  /** A group of subscribers has left. */
  left({ key }: PayloadOperation): void {
    if (this.#caches.get(key)?.users === 0) this.#caches.delete(key);
  }

  /** The last subscriber has left: aborts the reads in flight. */
  close(): void {
    this.#left.abort();
  }

  /** The payloads in which the change is wanted in this turn of the event loop, which wakes all groups of subscribers. */
  #wantedOf(delivery: Delivery<LoggedChange>): Wanted[] {
    const { change } = delivery;
    const known = this.#wanted.get(change);
    if (known) return known;
    const wanted: Wanted[] = [];
    this.#wanted.set(change, wanted);
    queueMicrotask(() => {
      this.#wanted.delete(change);
      void this.#together(wanted, delivery);
    });
    return wanted;
  }

  /** Executes the selections as one. Where that has errors, each is executed by itself, and has its own. */
  async #together(wanted: readonly Wanted[], delivery: Delivery<LoggedChange>): Promise<void> {
    const merged = wanted.length > 1 ? this.#mergedOf(wanted.map(({ selection }) => selection)) : null;
    const result = merged && (await this.#executed(merged, delivery));
    if (!merged || !result?.data || result.errors) {
      for (const { operation, resolve } of wanted) resolve(this.#alone(operation, delivery));
      return;
    }
    for (const { operation, selection, resolve } of wanted) {
      const slice = this.#slices.take(Math.ceil(operation.values / copiesPerValue), this);
      if (slice) await slice;
      resolve(this.#shared({ data: merged.answerFor(selection, result.data) }));
    }
  }

  /** The next change is mostly wanted in the same payloads. */
  #mergedOf(selections: readonly Selection[]): MergedSelections {
    const before = this.#selections;
    const isSame =
      selections.length === before.length && selections.every((selection, at) => selection === before[at]);
    if (!isSame) this.#merged = new MergedSelections(selections);
    this.#selections = selections;
    return this.#merged;
  }

  #alone(operation: PayloadOperation, delivery: Delivery<LoggedChange>): Maybe<SharedResult> {
    return whenKnown(this.#executed(operation, delivery), (result) => this.#shared(result));
  }

  /** Never fails. */
  #executed(
    { document, values, operationName, variableValues }: Executable,
    delivery: Delivery<LoggedChange>,
  ): Maybe<ExecutionResult> {
    const { contextValue, isFirst } = this.#contextOf(delivery.change);
    // All payloads of a change share its cursor.
    const cursorValues = isFirst ? Math.ceil(this.#stream.feed.recordsPerCursor / recordsPerValue) : 0;
    const schema = this.#schema;
    const rootValue = delivery;
    const failure = (error: unknown) => ({ errors: [clientError(error, this.#log)] });
    const begin = (): Maybe<ExecutionResult> => {
      try {
        const result = execute({ schema, document, operationName, variableValues, rootValue, contextValue });
        return result instanceof Promise ? result.catch(failure) : (result as ExecutionResult);
      } catch (error) {
        return failure(error);
      }
    };
    const slice = this.#slices.take(values + cursorValues, this);
    return slice ? slice.then(begin) : begin();
  }

  #shared(result: ExecutionResult): SharedResult {
    const errors = result.errors?.map((error) => clientError(error, this.#log));
    return new SharedResult(errors ? { ...result, errors } : result);
  }

  /**
   * Executions of one change that start in the same iteration of the event loop share their loaders. Later ones get new
   * loaders: the earlier reads may be outdated by then, or have failed.
   */
  #contextOf(change: LoggedChange): { readonly contextValue: GraphContext; readonly isFirst: boolean } {
    if (this.#contexts.size === 0) setImmediate(() => this.#contexts.clear());
    const known = this.#contexts.get(change);
    if (known) return { contextValue: known, isFirst: false };
    const scope = {
      signal: this.#left.signal,
      priority: 'feed',
      operationKey: this,
      meter: newCostMeter(),
    } as const;
    const contextValue = { ...this.#others, unify: new UnifyContext(this.#tenant, scope) };
    this.#contexts.set(change, contextValue);
    return { contextValue, isFirst: true };
  }
}
