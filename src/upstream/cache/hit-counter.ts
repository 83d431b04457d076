import type { Clock, ForwardMs } from '../../clock.js';
import type { ReadCounts } from './dependencies.js';

/** Counts the reads that the cache answers: in the cost of each operation, and of one interface altogether. */
export class HitCounter {
  readonly #clock: Clock;
  #total = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get total(): number {
    return this.#total;
  }

  count(meter: ReadCounts, as: 'cacheHits' | 'staleHits', times = 1): void {
    meter[as] += times;
    this.#total += times;
  }

  /** Counts hits on a response that was read at `readAtMs` of the forward clock. */
  countAged(meter: ReadCounts, readAtMs: ForwardMs, as: 'cacheHits' | 'staleHits', times = 1): void {
    this.count(meter, as, times);
    const ageS = Math.max(0, this.#clock.now() - readAtMs) / 1000;
    meter.oldestAgeS = Math.max(meter.oldestAgeS, ageS);
  }
}
