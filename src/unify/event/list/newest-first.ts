import { forever, longAgo, plus, type UnixMs } from '../../../clock.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import { totalOf } from './issue-time-scan.js';
import type { ProjectReader, ProjectResume } from './project-reader.js';
import {
  assumedLagMs,
  floorSecond,
  mostStragglers,
  ProjectScan,
  type ProjectScanOptions,
} from './project-scan.js';

/**
 * Scans the project's events newest first, from a list ordered by issue time. No solution is issued before its
 * earthquake begins: when all solutions issued after a time are known, so are all earthquakes that began after it.
 */
export class NewestFirst extends ProjectScan {
  #pages = 0;
  /** The solutions issued since the beginning of the page have been counted. */
  #isCounted = false;

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, pushdown } = options;
    super(reader, options, reader.scans('desc', floorSecond(pushdown.fromMs), resume?.pinMs ?? forever));
  }

  get frontier(): number {
    return Math.min(this.#scannedTo(), ...this.reader.stragglers.map(([, originMs]) => -originMs));
  }

  async advance(): Promise<void> {
    const scannedTo = this.#scannedTo();
    const due = this.reader.stragglers.filter(([, originMs]) => -originMs <= scannedTo);
    const next = due.sort((a, b) => b[1] - a[1])[0];
    if (next && this.#pages > 0) return this.reader.readStraggler(next);
    const behind = Math.max(...this.scans.map((scan) => scan.reachedMs));
    const isTop = this.#pages === 0 && (this.options.resume?.pinMs ?? null) === null;
    await this.reader.advance(
      this.scans.filter((scan) => !scan.isDone && scan.reachedMs === behind),
      isTop,
    );
    this.#pages++;
    if (isTop || this.#pages === fewPages) await this.#jump(isTop);
  }

  resumeAt(originMs: UnixMs): ProjectResume | null {
    const { horizonMs, readOnMs } = this.reader;
    if (horizonMs === longAgo) return null;
    const { lookAheadMs } = this.options.pushdown.reach;
    const known = this.reader.known((origin) => origin <= originMs + lookAheadMs);
    // One more than a cursor may have shows where there are too many.
    const ahead = [...this.reader.stragglers, ...known]
      .sort(([a], [b]) => b - a)
      .slice(0, mostStragglers + 1);
    const pins = [...new Set(this.scans.flatMap((scan) => scan.pins))].sort((a, b) => a - b);
    const base = { horizonMs, readOnMs, lagMs: null, isAssumed: this.isAssumed };
    const ways = pins.flatMap((pinMs, index) => {
      const stragglers = ahead.filter(([issued]) => issued > pinMs);
      const isPossible = stragglers.length <= mostStragglers && Number.isFinite(pinMs);
      // Each straggler costs a request, and so does each page after the pin.
      return isPossible ? [{ pinMs, stragglers, requests: index + stragglers.length }] : [];
    });
    const [best] = ways.sort((a, b) => a.requests - b.requests);
    if (!best || best.requests > pins.length) return { ...base, pinMs: null, stragglers: [] };
    return { ...base, pinMs: best.pinMs, stragglers: best.stragglers };
  }

  #scannedTo(): number {
    const reached = Math.max(...this.scans.map((scan) => scan.reachedMs));
    if (reached < this.options.pushdown.issuedFromMs) return Number.POSITIVE_INFINITY;
    // One second of margin: an issue time may be in whole seconds where the origin time is not.
    return -reached - 1000;
  }

  /**
   * A list that begins in the past is preceded by all solutions issued since. If they are too many to read, the scan
   * begins one day after `startMs`; later solutions are then missed, which the page reports.
   */
  async #jump(isTop: boolean): Promise<void> {
    const { startMs, resume, pushdown } = this.options;
    if (resume || this.#isCounted) return;
    const reached = Math.max(...this.scans.map((scan) => scan.reachedMs));
    if (isTop && reached > pushdown.issuedToMs) return this.#beginAt(plus(pushdown.issuedToMs, 2000));
    if (!(reached > startMs) || (await this.#canReadSince(startMs, reached))) return;
    this.isAssumed = true;
    return this.#beginAt(plus(startMs, assumedLagMs));
  }

  async #beginAt(ms: UnixMs): Promise<void> {
    this.scans = this.reader.scans('desc', floorSecond(this.options.pushdown.fromMs), floorSecond(ms));
    await this.reader.advance(this.scans);
  }

  async #canReadSince(startMs: UnixMs, reached: number): Promise<boolean> {
    const total = totalOf(this.scans) ?? 0;
    if (total <= fewPages * largestPage.project) return true;
    const most = (this.reader.left - fewPages) * largestPage.project;
    // If the rate so far is far over the limit, or a few pages suffice by it, the exact count is not worth a request.
    const issued = this.reader.size;
    const estimate =
      issued * ((this.reader.horizonMs - startMs) / Math.max(1, this.reader.horizonMs - reached));
    if (estimate > most * 4) return false;
    if (this.#pages < fewPages && estimate <= fewPages * largestPage.project) return true;
    this.#isCounted = true;
    const since = this.reader.scans('desc', floorSecond(startMs), forever);
    await this.reader.advance(since);
    return (totalOf(since) ?? 0) <= most;
  }
}

// Up to so many pages are read without a request for the count first.
const fewPages = 3;
