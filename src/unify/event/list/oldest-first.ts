import { forever, latest, longAgo, minuteMs, plus, type UnixMs } from '../../../clock.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import { totalOf } from './issue-time-scan.js';
import type { ProjectReader, ProjectResume, Straggler } from './project-reader.js';
import {
  assumedLagMs,
  floorSecond,
  mostStragglers,
  ProjectScan,
  type ProjectScanOptions,
} from './project-scan.js';

/**
 * Scans the project's events oldest first, from a list ordered by issue time. The solution of an old earthquake can be
 * issued at any later time, so the first page reads everything issued since the beginning. The cursor carries the
 * result (the longest lag from origin to issue, and the exceptions to it), and later pages read only their own range.
 */
export class OldestFirst extends ProjectScan {
  readonly #fromMs: UnixMs;
  /** Milliseconds from origin to issue; null while the scan still reads everything. */
  #lagMs: number | null;

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, pushdown, startMs } = options;
    const lagMs = resume?.pinMs == null ? null : resume.lagMs;
    const fromMs = floorSecond(latest(pushdown.fromMs, startMs));
    const scans =
      lagMs === null
        ? reader.scans('desc', fromMs, forever)
        : reader.scans('asc', resume?.pinMs ?? fromMs, forever);
    super(reader, options, scans);
    this.#lagMs = lagMs;
    this.#fromMs = fromMs;
  }

  get frontier(): number {
    return Math.min(this.#scannedTo(), ...this.reader.stragglers.map(([, originMs]) => originMs));
  }

  async advance(): Promise<void> {
    if (this.#lagMs === null) return this.#readEverything();
    const scannedTo = this.#scannedTo();
    const next = this.reader.stragglers
      .filter(([, originMs]) => originMs <= scannedTo)
      .sort((a, b) => a[1] - b[1])[0];
    if (next && scannedTo > Number.NEGATIVE_INFINITY) return this.reader.readStraggler(next);
    const behind = Math.min(...this.scans.map((scan) => scan.reachedMs));
    await this.reader.advance(this.scans.filter((scan) => !scan.isDone && scan.reachedMs === behind));
  }

  resumeAt(originMs: UnixMs): ProjectResume | null {
    const { horizonMs, readOnMs } = this.reader;
    if (horizonMs === longAgo) return null;
    const needMs = plus(originMs, -this.options.pushdown.reach.lookAheadMs);
    const ahead = this.reader.known((origin) => origin >= needMs).sort((a, b) => lagOf(b) - lagOf(a));
    const lagMs = this.#lagMs ?? Math.max(shortestLagMs, lagOf(ahead[mostStragglers]));
    const unread = this.reader.stragglers.filter(([, origin]) => origin >= needMs);
    const stragglers = [...unread, ...ahead.filter((event) => lagOf(event) > lagMs)];
    const pins = this.#lagMs === null ? [] : this.scans.flatMap((scan) => scan.pins);
    const pinMs = latest(...pins.filter((pin) => pin <= floorSecond(needMs)), longAgo);
    return {
      horizonMs,
      readOnMs,
      pinMs: latest(pinMs === longAgo ? floorSecond(needMs) : pinMs, this.#issuedFrom()),
      stragglers,
      lagMs,
      isAssumed: this.isAssumed,
    };
  }

  #scannedTo(): number {
    if (this.#lagMs === null) return this.#isEverythingKnown() ? Infinity : -Infinity;
    return Math.min(...this.scans.map((scan) => scan.reachedMs)) - this.#lagMs;
  }

  /** Solutions issued before this do not match the filter. */
  #issuedFrom(): UnixMs {
    return floorSecond(this.options.pushdown.issuedFromMs);
  }

  #isEverythingKnown(): boolean {
    const { issuedFromMs } = this.options.pushdown;
    return this.scans.every((scan) => scan.isDone || scan.reachedMs < issuedFromMs);
  }

  async #readEverything(): Promise<void> {
    const { issuedToMs } = this.options.pushdown;
    for (let pages = 0; !this.#isEverythingKnown(); pages++) {
      const total = totalOf(this.scans) ?? 0;
      const needed = Math.ceil(total / largestPage.project) - pages;
      const isUnsteady = this.scans.some(({ restarts }) => restarts > mostRestarts);
      if (isUnsteady || (pages > 0 && needed > this.reader.left - requestsForNewest)) return this.#assume();
      await this.reader.advance(
        this.scans.filter((scan) => !scan.isDone),
        pages === 0,
      );
      if (pages === 0 && this.scans.some((scan) => scan.reachedMs > issuedToMs)) {
        this.scans = this.reader.scans('desc', this.#fromMs, floorSecond(plus(issuedToMs, 2000)));
        await this.reader.advance(this.scans);
      }
    }
  }

  async #assume(): Promise<void> {
    this.isAssumed = true;
    this.#lagMs = assumedLagMs;
    this.scans = this.reader.scans('asc', latest(this.#fromMs, this.#issuedFrom()), forever);
    await this.advance();
  }
}

function lagOf(event: Straggler | undefined): number {
  return event ? event[0] - event[1] : 0;
}

// A page of the list spans more than this, so a shorter lag would save no request.
const shortestLagMs = 10 * minuteMs;

const requestsForNewest = 2;

// Upstream may order the events of one moment anew with each response: their pages would be read again without end.
const mostRestarts = 3;
