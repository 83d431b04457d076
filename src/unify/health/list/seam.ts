import type { Instant } from '../../time/instant.js';
import type { HealthReport } from '../report.js';

/** Position behind the first `rank` reports with this timestamp; behind all of them when `rank` is null. */
export interface HealthPosition {
  readonly timestamp: Instant;
  readonly rank: number | null;
}

/**
 * Position of a scan through pages and windows. Reports that are repeated where two of them meet are passed once:
 * counted by rank within the last timestamp, since several reports may have the same one.
 */
export class HealthSeam {
  #position: HealthPosition | null;
  #repeated = 0;

  constructor(after: HealthPosition | null) {
    this.#position = after;
  }

  get position(): HealthPosition | null {
    return this.#position;
  }

  /** Begins a page, which may repeat the last reports of the previous one. */
  beginPage(): void {
    this.#repeated = this.#position?.rank ?? 0;
  }

  /** The position behind a report; null when the report was passed already. */
  pass(report: HealthReport): HealthPosition | null {
    const order = this.#position ? report.timestamp.compare(this.#position.timestamp) : 1;
    if (order > 0) {
      this.#position = { timestamp: report.timestamp, rank: 1 };
      // Upstream's ranges exclude their beginning, so the page may not have repeated anything.
      this.#repeated = 0;
      return this.#position;
    }
    const rank = this.#position?.rank ?? null;
    if (order < 0 || rank === null) return null;
    if (this.#repeated > 0) {
      this.#repeated--;
      return null;
    }
    this.#position = { timestamp: report.timestamp, rank: rank + 1 };
    return this.#position;
  }

  /** Records that all reports up to this time have been read. */
  reach(time: Instant): void {
    if (!this.#position || this.#position.timestamp.compare(time) < 0)
      this.#position = { timestamp: time, rank: null };
  }
}
