import type { Clock } from '../clock.js';
import type { Delivery } from './change.js';

// contract 5.6, 9.9: what a payload says beside the change itself is as fresh as a query would give it.
const freshForMs = 2_000;
const mostKept = 64;

/** Payloads of one group: each is made once for all who are given it at about the same time. */
export class Renders<C, P> {
  readonly #clock: Clock;
  readonly #render: (delivery: Delivery<C>) => P | Promise<P>;
  readonly #live = new Map<C, Made<P>>();
  readonly #replayed = new Map<C, Made<P>>();

  constructor(clock: Clock, render: (delivery: Delivery<C>) => P | Promise<P>) {
    this.#clock = clock;
    this.#render = render;
  }

  /** @param ahead changes whose payloads will be wanted next */
  of(change: C, isReplayed: boolean, ahead?: () => Iterable<C>): P | Promise<P> {
    const payload = this.#make(change, isReplayed);
    // Only a payload that has to be waited for leaves time to make others.
    if (payload instanceof Promise && ahead) for (const next of ahead()) this.#make(next, isReplayed);
    return payload;
  }

  /** Everyone has it. */
  forget(change: C): void {
    this.#live.delete(change);
  }

  clear(): void {
    this.#live.clear();
    this.#replayed.clear();
  }

  #make(change: C, isReplayed: boolean): P | Promise<P> {
    const kept = isReplayed ? this.#replayed : this.#live;
    const nowMs = this.#clock.now();
    const before = kept.get(change);
    if (before && nowMs - before.atMs <= freshForMs) return before.payload;
    kept.delete(change);
    const made: Made<P> = { payload: this.#render({ change, isReplayed }), atMs: nowMs };
    kept.set(change, made);
    if (made.payload instanceof Promise) {
      // Whoever comes later takes it without waiting.
      void made.payload.then((payload) => {
        made.payload = payload;
      });
    }
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return made.payload;
  }
}

interface Made<P> {
  payload: P | Promise<P>;
  readonly atMs: number;
}
