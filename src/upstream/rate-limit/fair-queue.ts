/** What a fair queue needs to know of those who wait in it. */
export interface Queued {
  /** The operation it belongs to. */
  readonly turn: object;
}

/**
 * Those who wait at one priority, served by operation in turn, and within an operation in the order of their coming. Who
 * had been served and has come back goes first.
 */
export class FairQueue<Waiter extends Queued> {
  readonly #back: Waiter[] = [];
  // A Map goes through its keys in the order they were put in: whose turn it was goes to the end.
  readonly #turns = new Map<object, Waiter[]>();
  #size = 0;

  get size(): number {
    return this.#back.length + this.#size;
  }

  add(waiter: Waiter): void {
    const own = this.#turns.get(waiter.turn);
    if (own) own.push(waiter);
    else this.#turns.set(waiter.turn, [waiter]);
    this.#size++;
  }

  addBack(waiter: Waiter): void {
    this.#back.push(waiter);
  }

  take(): Waiter | undefined {
    if (this.#back.length > 0) return this.#back.shift();
    for (const [turn, waiters] of this.#turns) {
      const waiter = waiters.shift();
      this.#turns.delete(turn);
      if (waiters.length > 0) this.#turns.set(turn, waiters);
      if (waiter) this.#size--;
      return waiter;
    }
    return undefined;
  }

  /** False where it does not wait here. */
  remove(waiter: Waiter): boolean {
    const atBack = this.#back.indexOf(waiter);
    if (atBack >= 0) return this.#back.splice(atBack, 1).length > 0;
    const own = this.#turns.get(waiter.turn);
    const at = own?.indexOf(waiter) ?? -1;
    if (!own || at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#turns.delete(waiter.turn);
    this.#size--;
    return true;
  }

  /** How many are served before the next one of this operation. */
  ahead(turn: object): number {
    const own = this.#turns.get(turn)?.length ?? 0;
    let ahead = this.#back.length + own;
    for (const [other, waiters] of this.#turns) {
      if (other !== turn) ahead += Math.min(waiters.length, own + 1);
    }
    return ahead;
  }

  all(): readonly Waiter[] {
    return [...this.#back, ...[...this.#turns.values()].flat()];
  }
}
