import { onAbort } from '../http/abort.js';
import { type Priority, priorityRank, type ReadScope } from '../read/read.js';

/** A request on its way, as far as those who wait for it can still change it. */
export interface RequestControl {
  /** Aborted when the last who waited has left. */
  readonly signal: AbortSignal;
  priority: Priority;
  operationKey: object;
  /** Set while it stands in the request queue. */
  raise: ((priority: Priority, turn: object) => void) | undefined;
  /** Time spent in the request queue so far. */
  waitedMs: number;
}

/** The control of a request that is shared with nobody. */
export function unsharedControl(scope: ReadScope): RequestControl {
  const { signal, priority, operationKey: turn } = scope;
  return { signal, priority, operationKey: turn, raise: undefined, waitedMs: 0 };
}

/** One upstream request and all who wait for it (docs/behaviour.md 5.3, 5.9). */
export class CoalescedRequest<T> {
  readonly #controller = new AbortController();
  readonly control: RequestControl;
  readonly #result: Promise<T>;
  #waiters = 0;
  #landed = false;

  constructor(scope: ReadScope, fly: (control: RequestControl) => Promise<T>) {
    this.control = unsharedControl({ ...scope, signal: this.#controller.signal });
    this.#result = fly(this.control).finally(() => {
      this.#landed = true;
    });
    // Whoever waits gets the failure; when all have left nobody does.
    this.#result.catch(() => undefined);
  }

  /** All have left: what comes of it is nobody's answer. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the answer until the caller leaves. The most urgent who waits decides its place in the line. */
  async join(scope: ReadScope, now: () => number): Promise<T> {
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
      if (this.#waiters === 0 && !this.#landed) this.#controller.abort(scope.signal.reason);
    }
  }
}
