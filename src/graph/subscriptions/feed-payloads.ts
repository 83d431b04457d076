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

/** An operation whose payloads are made. */
interface Payload {
  readonly operation: PayloadOperation;
  /** Null where it is executed by itself alone. */
  readonly selection: Selection | null;
  /** True where its last payload had to wait for a read of upstream: the others would have to wait with it. */
  waits: boolean;
}

/** A payload in which a change is wanted. */
interface Wanted {
  readonly payload: Payload;
  readonly selection: Selection;
  readonly resolve: (result: Maybe<SharedResult>) => void;
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
  #merged: readonly MergedSelections[] = [];

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
    const payload: Payload = { operation, selection: selectionOf(this.#schema, operation), waits: false };
    const payloads: Payloads = new PayloadCache(this.#stream.clock, (delivery) => {
      const { selection, waits } = payload;
      // A replay is of one subscriber.
      if (selection === null || waits || delivery.isReplayed) return this.#alone(payload, delivery);
      return new Promise((resolve) => this.#wantedOf(delivery).push({ payload, selection, resolve }));
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

  /**
   * Executes the selections merged. Where that has errors each is executed by itself, and has its own; so it is where the
   * merged execution waits for upstream, since what needs no read would have to wait as well.
   */
  async #together(wanted: readonly Wanted[], delivery: Delivery<LoggedChange>): Promise<void> {
    let at = 0;
    for (const merged of this.#mergedOf(wanted.map(({ selection }) => selection))) {
      const part = wanted.slice(at, at + merged.selections.length);
      at += part.length;
      const result = part.length > 1 ? await this.#executedAtOnce(merged, delivery) : null;
      for (const { payload, selection, resolve } of part) {
        if (!result) {
          resolve(this.#alone(payload, delivery));
          continue;
        }
        const slice = this.#slices.take(Math.ceil(payload.operation.values / copiesPerValue), this);
        if (slice) await slice;
        resolve(this.#shared({ data: merged.answerFor(selection, result.data) }));
      }
    }
  }

  /** The next change is mostly wanted in the same payloads. */
  #mergedOf(selections: readonly Selection[]): readonly MergedSelections[] {
    const before = this.#selections;
    const isSame =
      selections.length === before.length && selections.every((selection, at) => selection === before[at]);
    if (!isSame) this.#merged = MergedSelections.of(selections, this.#slices.perSlice);
    this.#selections = selections;
    return this.#merged;
  }

  /** Null where the execution has errors, or waits for upstream. */
  async #executedAtOnce(
    merged: Executable,
    delivery: Delivery<LoggedChange>,
  ): Promise<ExecutionResult | null> {
    const slice = this.#slice(merged, delivery);
    if (slice) await slice;
    const result = this.#execute(merged, delivery);
    return result instanceof Promise || result.errors ? null : result;
  }

  #alone(payload: Payload, delivery: Delivery<LoggedChange>): Maybe<SharedResult> {
    const { operation } = payload;
    const begin = () => {
      const result = this.#execute(operation, delivery);
      payload.waits = result instanceof Promise;
      return whenKnown(result, (known) => this.#shared(known));
    };
    const slice = this.#slice(operation, delivery);
    return slice ? slice.then(begin) : begin();
  }

  /** Null where the execution may begin at once. */
  #slice({ values }: Executable, { change }: Delivery<LoggedChange>): Promise<void> | null {
    // All payloads of a change share its cursor.
    const { isFirst } = this.#contextOf(change);
    const cursorValues = isFirst ? Math.ceil(this.#stream.feed.recordsPerCursor / recordsPerValue) : 0;
    return this.#slices.take(values + cursorValues, this);
  }

  /** Never fails. */
  #execute(
    { document, operationName, variableValues }: Executable,
    delivery: Delivery<LoggedChange>,
  ): Maybe<ExecutionResult> {
    const { contextValue } = this.#contextOf(delivery.change);
    const schema = this.#schema;
    const rootValue = delivery;
    const failure = (error: unknown) => ({ errors: [clientError(error, this.#log)] });
    try {
      const result = execute({ schema, document, operationName, variableValues, rootValue, contextValue });
      return result instanceof Promise ? result.catch(failure) : (result as ExecutionResult);
    } catch (error) {
      return failure(error);
    }
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
