import type { Clock } from '../../../clock.js';
import type { Priority } from '../../read/read.js';

// Those who wait say so every second.
const waitsMs = 2_000;

/** Who waits for the same budget at other instances (docs/behaviour.md 8). */
export class PeerQueues {
  readonly #clock: Clock;
  readonly #untilMs: Record<Priority, number> = {
    query: Number.NEGATIVE_INFINITY,
    feed: Number.NEGATIVE_INFINITY,
    background: Number.NEGATIVE_INFINITY,
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waits(priority: Priority): void {
    this.#untilMs[priority] = this.#clock.now() + waitsMs;
  }

  served(priority: Priority): void {
    this.#untilMs[priority] = Number.NEGATIVE_INFINITY;
  }

  /** How many wait here and, as far as is known, elsewhere. */
  and({ query, feed, background }: Readonly<Record<Priority, number>>): Readonly<Record<Priority, number>> {
    const now = this.#clock.now();
    return {
      query: query + Number(now < this.#untilMs.query),
      feed: feed + Number(now < this.#untilMs.feed),
      background: background + Number(now < this.#untilMs.background),
    };
  }
}
