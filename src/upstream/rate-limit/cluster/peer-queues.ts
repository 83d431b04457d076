import { type Clock, type ForwardMs, longAgo, plus } from '../../../clock.js';
import type { Priority } from '../../read/read.js';

// Instances repeat every second which priorities wait.
const waitsMs = 2_000;

/** Priorities that wait for the same budget at other instances (docs/behaviour.md 8). */
export class PeerQueues {
  readonly #clock: Clock;
  readonly #untilMs: Record<Priority, ForwardMs> = {
    query: longAgo,
    feed: longAgo,
    background: longAgo,
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waits(priority: Priority): void {
    this.#untilMs[priority] = plus(this.#clock.now(), waitsMs);
  }

  served(priority: Priority): void {
    this.#untilMs[priority] = longAgo;
  }

  /** Number of requests that wait here, plus one for each priority known to wait at another instance. */
  and({ query, feed, background }: Readonly<Record<Priority, number>>): Readonly<Record<Priority, number>> {
    const now = this.#clock.now();
    return {
      query: query + Number(now < this.#untilMs.query),
      feed: feed + Number(now < this.#untilMs.feed),
      background: background + Number(now < this.#untilMs.background),
    };
  }
}
