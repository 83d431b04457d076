import { dayMs, type ForwardMs, floorTo, plus, type UnixMs } from '../../../clock.js';
import type { GatewayError } from '../../../errors.js';
import { limits } from '../../../limits.js';
import type { Pushdown } from './filter-pushdown.js';
import { type IssueTimeScan, type TimedRecord, totalOf } from './issue-time-scan.js';
import { type ProjectReader, type ProjectResume, type Scan, tooManyRequests } from './project-reader.js';

export interface ProjectScanOptions {
  readonly pushdown: Pushdown;
  /** Origin time, in milliseconds, at which the page begins; infinite at the beginning of the list. */
  readonly startMs: UnixMs;
  readonly resume: ProjectResume | null;
}

/** A scan of the project's events by origin time, from a list that is ordered by issue time. */
export abstract class ProjectScan implements Scan {
  /** True when completeness rests on an assumption, because proof would take too many requests. */
  isAssumed: boolean;
  protected readonly reader: ProjectReader;
  protected readonly options: ProjectScanOptions;
  protected scans: IssueTimeScan[];

  constructor(reader: ProjectReader, options: ProjectScanOptions, scans: IssueTimeScan[]) {
    const { resume } = options;
    this.reader = reader;
    this.options = options;
    this.scans = scans;
    this.isAssumed = resume?.isAssumed ?? false;
  }

  abstract readonly frontier: number;
  abstract advance(): Promise<void>;
  /** Resume state for the cursor of an event that began at `originMs`. */
  abstract resumeAt(originMs: UnixMs): ProjectResume | null;

  /** The records that the page needs. */
  get records(): ReadonlyMap<string, TimedRecord> {
    return this.reader.needed;
  }

  get unreadable(): ReadonlySet<string> {
    return this.reader.unreadable;
  }

  get oldestReadMs(): ForwardMs {
    return this.reader.oldestReadMs;
  }

  /** Upstream's count of the events in range; null when it does not give one. */
  get total(): number | null {
    return totalOf(this.scans);
  }

  get lack(): GatewayError | null {
    return this.isAssumed ? tooManyRequests('PROJECT', limits.eventPageRequests) : null;
  }

  get canAdvance(): boolean {
    return this.reader.left > 0;
  }

  async settle(): Promise<boolean> {
    return !this.isAssumed && this.reader.readNewer();
  }
}

/**
 * Assumed: where not all later solutions can be read, the latest solution of an earthquake was issued within a day of
 * it.
 */
export const assumedLagMs = dayMs;

/** Rounds down to whole seconds, with one second of margin: it is not documented how upstream compares fractions. */
export function floorSecond(ms: UnixMs): UnixMs {
  return Number.isFinite(ms) ? plus(floorTo(1000, ms), -1000) : ms;
}

// Bounds the length of a cursor.
export const mostStragglers = 8;
