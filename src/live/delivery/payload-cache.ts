import type { Clock, ForwardMs } from '../../clock.js';
import { freshMs } from '../../upstream/cache/freshness.js';
import type { Delivery } from '../tracking/change.js';

// docs/behaviour.md 9.9: fields beside the change itself are as fresh as in the answer to a query.
const freshForMs = freshMs.trigger;
const mostCached = 64;

/** Makes each payload once for all subscribers that receive it at about the same time. */
export class PayloadCache<C, P> {
  readonly #clock: Clock;
  readonly #make: (delivery: Delivery<C>) => P | Promise<P>;
  readonly #live = new Map<C, Made<P>>();
  readonly #replayed = new Map<C, Made<P>>();
  #users = 0;
  #isClearDue = false;

  /** @param make never fails */
  constructor(clock: Clock, make: (delivery: Delivery<C>) => P | Promise<P>) {
    this.#clock = clock;
    this.#make = make;
  }

  /** Number of fan-outs that use this cache. */
  get users(): number {
    return this.#users;
  }

  join(): void {
    this.#users++;
  }

  leave(): void {
    this.#users--;
    if (this.#users === 0) this.#clear();
  }

  /** @param ahead changes whose payloads will be wanted next */
  of(change: C, isReplayed: boolean, ahead?: () => Iterable<C>): P | Promise<P> {
    const payload = this.#payload(change, isReplayed);
    // Only a payload that is awaited leaves time to make others.
    if (payload instanceof Promise && ahead) for (const next of ahead()) this.#payload(next, isReplayed);
    return payload;
  }

  /** All subscribers of one fan-out have received it. */
  forget(change: C): void {
    if (this.#users < 2) this.#live.delete(change);
    else this.#clearWhenStale();
  }

  /** No subscriber of one fan-out needs the cached payloads any more. */
  clear(): void {
    if (this.#users < 2) this.#clear();
    else this.#clearWhenStale();
  }

  /** Other fan-outs are about to need the same payloads. */
  #clearWhenStale(): void {
    if (this.#isClearDue) return;
    this.#isClearDue = true;
    this.#clock.timer(freshForMs, () => {
      this.#isClearDue = false;
      this.#clear();
    });
  }

  #clear(): void {
    this.#live.clear();
    this.#replayed.clear();
  }

  #payload(change: C, isReplayed: boolean): P | Promise<P> {
    const cached = isReplayed ? this.#replayed : this.#live;
    const nowMs = this.#clock.now();
    const before = cached.get(change);
    if (before && nowMs - before.atMs <= freshForMs) return before.payload;
    cached.delete(change);
    const made: Made<P> = { payload: this.#make({ change, isReplayed }), atMs: nowMs };
    cached.set(change, made);
    if (made.payload instanceof Promise) {
      // Later subscribers receive it synchronously.
      void made.payload.then((payload) => {
        made.payload = payload;
      });
    }
    for (const oldest of cached.keys()) {
      if (cached.size <= mostCached) break;
      cached.delete(oldest);
    }
    return made.payload;
  }
}

interface Made<P> {
  payload: P | Promise<P>;
  readonly atMs: ForwardMs;
}
