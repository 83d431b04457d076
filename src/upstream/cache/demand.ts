import type { ForwardMs } from '../../clock.js';
/** A client's limit on the age of the cached responses that its operation is answered from (docs/behaviour.md 5.6). */
export interface Demand {
  /** 0: no response that was requested before the operation came. */
  readonly maxAgeMs: number;
  /** When the operation came: ages are counted up to then. */
  readonly atMs: ForwardMs;
}

/** True where the response is young enough by the clock. */
export function isRecent({ maxAgeMs, atMs }: Demand, readAtMs: ForwardMs): boolean {
  // A response that was read in the millisecond in which the operation came may have been read before it.
  return maxAgeMs > 0 && readAtMs >= atMs - maxAgeMs;
}

/**
 * Orders requests to one interface against demands. Clocks cannot: a response that arrives later may have been
 * requested earlier, and many events share one millisecond.
 */
export class SendOrder {
  #count = 0;
  readonly #sent = new WeakMap<object, number>();
  readonly #sentBefore = new WeakMap<Demand, number>();

  /** Call for each demand, before the first read under it. */
  came(demand: Demand): void {
    if (!this.#sentBefore.has(demand)) this.#sentBefore.set(demand, this.#count);
  }

  /** @param request any object that identifies it */
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
