import { dayMs, type ForwardMs, floorTo, forever, longAgo, plus, type UnixMs } from '../../../clock.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import type { Pushdown } from './filter-pushdown.js';
import { type IssueTimeScan, totalOf } from './issue-time-scan.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './project-reader.js';

export interface ProjectScanOptions {
  readonly pushdown: Pushdown;
  /** Origin time, in milliseconds, at which the page begins; infinite at the beginning of the list. */
  readonly startMs: UnixMs;
  readonly resume: ProjectResume | null;
}

/**
 * Scans the project's events newest first, from a list ordered by issue time. No solution is issued before its
 * earthquake begins: when all solutions issued after a time are known, so are all earthquakes that began after it.
 */
export class NewestFirst implements Scan {
  isAssumed: boolean;
  readonly #reader: ProjectReader;
  readonly #options: ProjectScanOptions;
  #scans: IssueTimeScan[];
  #stragglers: Straggler[];
  #pages = 0;

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, pushdown } = options;
    this.#reader = reader;
    this.#options = options;
    this.isAssumed = resume?.isAssumed ?? false;
    this.#stragglers = [...(resume?.stragglers ?? [])];
    this.#scans = reader.scans('desc', floorSecond(pushdown.fromMs), resume?.pinMs ?? forever);
  }

  get records(): ReadonlyMap<string, Read<WireEvent>> {
    return this.#reader.records;
  }

  get unreadable(): ReadonlySet<string> {
    return this.#reader.unreadable;
  }

  get oldestReadMs(): ForwardMs {
    return this.#reader.oldestReadMs;
  }

  get frontier(): number {
    return Math.min(
      this.#scannedTo(),
      ...this.#reader.unread(this.#stragglers).map(([, originMs]) => -originMs),
    );
  }

  /** Upstream's count of the events in range; null when it does not give one. */
  get total(): number | null {
    return totalOf(this.#scans);
  }

  get canAdvance(): boolean {
    return this.#reader.left > 0;
  }

  async advance(): Promise<void> {
    const scannedTo = this.#scannedTo();
    const due = this.#reader.unread(this.#stragglers).filter(([, originMs]) => -originMs <= scannedTo);
    const next = due.sort((a, b) => b[1] - a[1])[0];
    if (next && this.#pages > 0) {
      await this.#reader.readMoment(next[0]);
      // A straggler that is missing was issued again and is read with the newest solutions.
      this.#stragglers = this.#stragglers.filter((straggler) => straggler !== next);
      return;
    }
    const behind = Math.max(...this.#scans.map((scan) => scan.reachedMs));
    const isTop = this.#pages === 0 && (this.#options.resume?.pinMs ?? null) === null;
    await this.#reader.advance(
      this.#scans.filter((scan) => !scan.isDone && scan.reachedMs === behind),
      isTop,
    );
    this.#pages++;
    if (isTop) await this.#jump();
  }

  async settle(): Promise<boolean> {
    return !this.isAssumed && this.#reader.readNews();
  }

  /** Resume state for the cursor of an event that began at `originMs`. */
  resumeAt(originMs: UnixMs): ProjectResume | null {
    const { horizonMs, readOnMs } = this.#reader;
    if (horizonMs === longAgo) return null;
    const known = this.#reader
      .known()
      .filter(([, origin]) => origin <= originMs + this.#options.pushdown.reach.lookAheadMs);
    const ahead = [...this.#reader.unread(this.#stragglers), ...known];
    const pins = [...new Set(this.#scans.flatMap((scan) => scan.pins))].sort((a, b) => a - b);
    const base = { horizonMs, readOnMs, lagMs: null, isAssumed: this.isAssumed };
    const ways = pins.flatMap((pinMs, index) => {
      const stragglers = ahead.filter(([issued]) => issued > pinMs);
      const isPossible =
        stragglers.length <= mostStragglers && stragglers.every(([issued]) => Number.isFinite(issued));
      // Each straggler costs a request, and so does each page after the pin.
      return isPossible && Number.isFinite(pinMs)
        ? [{ pinMs, stragglers, requests: index + stragglers.length }]
        : [];
    });
    const [best] = ways.sort((a, b) => a.requests - b.requests);
    if (!best || best.requests > pins.length) return { ...base, pinMs: null, stragglers: [] };
    return { ...base, pinMs: best.pinMs, stragglers: best.stragglers };
  }

  #scannedTo(): number {
    const reached = Math.max(...this.#scans.map((scan) => scan.reachedMs));
    if (reached < this.#options.pushdown.issuedFromMs) return Number.POSITIVE_INFINITY;
    // One second of margin: an issue time may be in whole seconds where the origin time is not.
    return -reached - 1000;
  }

  /**
   * A list that begins in the past is preceded by all solutions issued since. If they are too many to read, the scan
   * begins one day after `startMs`; later solutions are then missed, which the page reports.
   */
  async #jump(): Promise<void> {
    const { startMs, resume, pushdown } = this.#options;
    if (resume) return;
    const reached = Math.max(...this.#scans.map((scan) => scan.reachedMs));
    if (reached > pushdown.issuedToMs) return this.#beginAt(plus(pushdown.issuedToMs, 2000));
    if (!(reached > startMs) || (await this.#canReadSince(startMs, reached))) return;
    this.isAssumed = true;
    return this.#beginAt(plus(startMs, assumedLagMs));
  }

  async #beginAt(ms: UnixMs): Promise<void> {
    this.#scans = this.#reader.scans('desc', floorSecond(this.#options.pushdown.fromMs), floorSecond(ms));
    await this.#reader.advance(this.#scans);
  }

  async #canReadSince(startMs: UnixMs, reached: number): Promise<boolean> {
    const total = totalOf(this.#scans) ?? 0;
    if (total <= fewPages * largestPage.project) return true;
    const most = (this.#reader.left - fewPages) * largestPage.project;
    // If the rate of the first page is far over the limit, the exact count is not worth a request.
    const issued = this.#reader.records.size;
    const estimate =
      issued * ((this.#reader.horizonMs - startMs) / Math.max(1, this.#reader.horizonMs - reached));
    if (estimate > most * 4) return false;
    const since = this.#reader.scans('desc', floorSecond(startMs), forever);
    await this.#reader.advance(since);
    return (totalOf(since) ?? 0) <= most;
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

// Up to so many pages are read without a request for the count first.
const fewPages = 3;
