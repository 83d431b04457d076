import type { ForwardMs } from '../../clock.js';
import { onAbort } from '../http/abort.js';
import { type Priority, priorityRank, type ReadScope } from '../read/read.js';

/** The part of a request in flight that its waiters can still change. */
export interface RequestControl {
  /** Aborted when the last waiter has left. */
  readonly signal: AbortSignal;
  priority: Priority;
  operationKey: object;
  /** Set while it waits in the request queue. */
  raise: ((priority: Priority, operationKey: object) => void) | undefined;
  /** Time spent in the request queue so far. */
  waitedMs: number;
}

/** The control of a request that is not coalesced. */
export function unsharedControl(scope: ReadScope): RequestControl {
  const { signal, priority, operationKey } = scope;
  return { signal, priority, operationKey, raise: undefined, waitedMs: 0 };
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
   */
  async join(scope: ReadScope, now: () => ForwardMs): Promise<T> {
    scope.signal.throwIfAborted();
    const joinedMs = now();
    const control = this.control;
    if (priorityRank[scope.priority] < priorityRank[control.priority]) {
      control.priority = scope.priority;
      control.operationKey = scope.operationKey;
      control.raise?.(scope.priority, scope.operationKey);
    }
    this.#waiters++;
    let stopListening = () => {};
    const left = new Promise<never>((_, reject) => {
      stopListening = onAbort(scope.signal, () => reject(scope.signal.reason));
    });
    try {
      return await Promise.race([this.#result, left]);
    } finally {
      stopListening();
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, Math.min(control.waitedMs, now() - joinedMs));
      this.#waiters--;
      if (this.#waiters === 0 && !this.#ended) this.#controller.abort(scope.signal.reason);
    }
  }
}
