/** How old the cached responses may be that a client's operation is answered from (docs/behaviour.md 5.6). */
export interface Demand {
  /** 0: none that was asked for before the request came. */
  readonly maxAgeMs: number;
  /** When the request came: ages are counted up to then. */
  readonly atMs: number;
}

/** Whether a response is young enough by the clock. */
export function isRecent({ maxAgeMs, atMs }: Demand, readAtMs: number): boolean {
  // A response that was read in the very millisecond of the request may have been read before it.
  return maxAgeMs > 0 && readAtMs >= atMs - maxAgeMs;
}

/**
 * Tells which requests to one interface were sent after a demand came. Clocks do not: a response that arrives later can have
 * been asked for earlier, and much happens within one millisecond.
 */
export class SendOrder {
  #count = 0;
  readonly #sent = new WeakMap<object, number>();
  readonly #sentBefore = new WeakMap<Demand, number>();

  /** To be told of each demand before anything is read for it. */
  came(demand: Demand): void {
    if (!this.#sentBefore.has(demand)) this.#sentBefore.set(demand, this.#count);
  }

  /** @param request any object that stands for it */
  sent(request: object): void {
    this.#count += 1;
    this.#sent.set(request, this.#count);
  }

  answered(request: object, response: object): void {
    this.#sent.set(response, this.#sent.get(request) ?? 0);
  }

  /** False as long as a request has not been sent. */
  isBefore(subject: object, demand: Demand): boolean {
    return (this.#sent.get(subject) ?? Number.POSITIVE_INFINITY) <= this.#countAt(demand);
  }

  /** False for a response that another instance has read. */
  isAfter(subject: object, demand: Demand): boolean {
    return (this.#sent.get(subject) ?? 0) > this.#countAt(demand);
  }

  #countAt(demand: Demand): number {
    return this.#sentBefore.get(demand) ?? this.#count;
  }
}
