/** An entry of a fair queue. */
export interface Queued {
  /** The operation it belongs to. */
  readonly operationKey: object;
}

/**
 * Requests that wait at one priority: operations take turns, and each operation's requests go in order of arrival.
 * Re-queued requests go first.
 */
export class FairQueue<Waiter extends Queued> {
  readonly #requeued: Waiter[] = [];
  // A Map iterates in insertion order: an operation that was served is inserted again at the end.
  readonly #byOperation = new Map<object, Waiter[]>();
  #size = 0;

  get size(): number {
    return this.#requeued.length + this.#size;
  }

  add(waiter: Waiter): void {
    const own = this.#byOperation.get(waiter.operationKey);
    if (own) own.push(waiter);
    else this.#byOperation.set(waiter.operationKey, [waiter]);
    this.#size++;
  }

  addBack(waiter: Waiter): void {
    this.#requeued.push(waiter);
  }

  take(): Waiter | undefined {
    if (this.#requeued.length > 0) return this.#requeued.shift();
    for (const [operationKey, waiters] of this.#byOperation) {
      const waiter = waiters.shift();
      this.#byOperation.delete(operationKey);
      if (waiters.length > 0) this.#byOperation.set(operationKey, waiters);
      if (waiter) this.#size--;
      return waiter;
    }
    return undefined;
  }

  /** False where it is not in this queue. */
  remove(waiter: Waiter): boolean {
    const atRequeued = this.#requeued.indexOf(waiter);
    if (atRequeued >= 0) return this.#requeued.splice(atRequeued, 1).length > 0;
    const own = this.#byOperation.get(waiter.operationKey);
    const at = own?.indexOf(waiter) ?? -1;
    if (!own || at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#byOperation.delete(waiter.operationKey);
    this.#size--;
    return true;
  }

  /** Number of requests served before the next one of this operation. */
  ahead(operationKey: object): number {
    const own = this.#byOperation.get(operationKey)?.length ?? 0;
    let ahead = this.#requeued.length + own;
    for (const [other, waiters] of this.#byOperation) {
      if (other !== operationKey) ahead += Math.min(waiters.length, own + 1);
    }
    return ahead;
  }

  all(): readonly Waiter[] {
    return [...this.#requeued, ...[...this.#byOperation.values()].flat()];
  }
}
