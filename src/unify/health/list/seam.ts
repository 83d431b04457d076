import type { Instant } from '../../time/instant.js';
import type { HealthReport } from '../report.js';

/** Behind the first `rank` of the reports with this timestamp; behind all of them where `rank` is null. */
export interface HealthPosition {
  readonly timestamp: Instant;
  readonly rank: number | null;
}

/**
 * How far a walk through pages and windows has come. What comes again where two of them meet is let pass once only: by
 * how many there were with the last timestamp, since several reports may bear the same.
 */
export class HealthSeam {
  #at: HealthPosition | null;
  #repeated = 0;

  constructor(after: HealthPosition | null) {
    this.#at = after;
  }

  get position(): HealthPosition | null {
    return this.#at;
  }

  /** A page begins, which may repeat what the last one ended with. */
  turn(): void {
    this.#repeated = this.#at?.rank ?? 0;
  }

  /** The position behind a report; null when it has been passed before. */
  pass(report: HealthReport): HealthPosition | null {
    const order = this.#at ? report.timestamp.compare(this.#at.timestamp) : 1;
    if (order > 0) {
      this.#at = { timestamp: report.timestamp, rank: 1 };
      // Upstream's ranges exclude their beginning: the page may not have repeated anything.
      this.#repeated = 0;
      return this.#at;
    }
    const rank = this.#at?.rank ?? null;
    if (order < 0 || rank === null) return null;
    if (this.#repeated > 0) {
      this.#repeated--;
      return null;
    }
    this.#at = { timestamp: report.timestamp, rank: rank + 1 };
    return this.#at;
  }

  /** All up to this time has been read. */
  reach(time: Instant): void {
    if (!this.#at || this.#at.timestamp.compare(time) < 0) this.#at = { timestamp: time, rank: null };
  }
}
