import type { Clock, Timer } from '../../clock.js';
import { onAbort } from '../http/abort.js';
import { type Priority, priorityRank, type ReadScope } from '../read/read.js';

/** The part of a request in flight that its waiters can still change. */
export interface RequestControl {
  /** Aborted when the last waiter has left. */
  readonly signal: AbortSignal;
  priority: Priority;
  operationKey: object;
  /** As in `ReadScope`. */
  maxWaitMs: number | undefined;
  /** Set while it waits in the request queue. */
  queued: QueuedControl | undefined;
  /** Time spent in the request queue so far. */
  waitedMs: number;
}

/** What can be done with a request that waits in the request queue. */
export interface QueuedControl {
  /** A more urgent caller waits for the same request. */
  raise(scope: Urgency): void;
  /** The error of a waiter that waits no longer, though others do. */
  refusal(): unknown;
}

export type Urgency = Pick<ReadScope, 'priority' | 'operationKey' | 'maxWaitMs'>;

/** The control of a request that is not coalesced. */
export function unsharedControl(scope: ReadScope): RequestControl {
  const { signal, priority, operationKey, maxWaitMs } = scope;
  return { signal, priority, operationKey, maxWaitMs, queued: undefined, waitedMs: 0 };
}

/** One upstream request and all its waiters (docs/behaviour.md 5.3, 5.9). */
export class CoalescedRequest<T> {
  readonly #controller = new AbortController();
  readonly control: RequestControl;
  readonly #result: Promise<T>;
  #waiters = 0;
  #ended = false;

  constructor(scope: ReadScope, send: (control: RequestControl) => Promise<T>) {
    this.control = unsharedControl({ ...scope, signal: this.#controller.signal });
    this.#result = send(this.control).finally(() => {
      this.#ended = true;
    });
    // Each waiter gets the failure from `join`; when all have left, nobody handles it.
    this.#result.catch(() => undefined);
  }

  /** All waiters have left, and the request is aborted. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /**
   * Waits for the result until the caller leaves. The most urgent waiter decides the request's priority in the queue.
   * @param maxWaitMs how long this caller lets a more patient request wait in the queue
   */
  async join(scope: ReadScope, clock: Clock, maxWaitMs: number): Promise<T> {
    scope.signal.throwIfAborted();
    const sinceMs = clock.now();
    const control = this.control;
    if (priorityRank[scope.priority] < priorityRank[control.priority]) {
      control.priority = scope.priority;
      control.operationKey = scope.operationKey;
      control.maxWaitMs = scope.maxWaitMs;
      control.queued?.raise(scope);
    }
    this.#waiters++;
    let stopListening = () => {};
    let timer: Timer | undefined;
    const left = new Promise<never>((_, reject) => {
      stopListening = onAbort(scope.signal, () => reject(scope.signal.reason));
      if (control.maxWaitMs === undefined || maxWaitMs >= control.maxWaitMs) return;
      const leaveIfQueued = () => {
        if (control.queued) return reject(control.queued.refusal());
        timer = clock.timer(sentCheckMs, leaveIfQueued);
      };
      timer = clock.timer(maxWaitMs, leaveIfQueued);
    });
    try {
      return await Promise.race([this.#result, left]);
    } finally {
      stopListening();
      timer?.cancel();
      scope.meter.waitedMs = Math.max(
        scope.meter.waitedMs,
        Math.min(control.waitedMs, clock.now() - sinceMs),
      );
      this.#waiters--;
      if (this.#waiters === 0 && !this.#ended) this.#controller.abort(scope.signal.reason);
    }
  }
}

// A request that was sent in time can come back to the queue: it is then repeated (docs/behaviour.md 5.10).
const sentCheckMs = 1_000;
