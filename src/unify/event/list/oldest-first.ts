import { type ForwardMs, forever, latest, longAgo, minuteMs, plus, type UnixMs } from '../../../clock.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import { type IssueTimeScan, totalOf } from './issue-time-scan.js';
import { assumedLagMs, floorSecond, mostStragglers, type ProjectScanOptions } from './newest-first.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './project-reader.js';

/**
 * Scans the project's events oldest first, from a list ordered by issue time. The solution of an old earthquake can be
 * issued at any later time, so the first page reads everything issued since the beginning. The cursor carries the
 * result (the longest lag from origin to issue, and the exceptions to it), and later pages read only their own range.
 */
export class OldestFirst implements Scan {
  isAssumed: boolean;
  readonly #reader: ProjectReader;
  readonly #options: ProjectScanOptions;
  readonly #fromMs: UnixMs;
  #scans: IssueTimeScan[];
  /** Milliseconds from origin to issue; null while the scan still reads everything. */
  #lagMs: number | null;
  #stragglers: Straggler[];

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, pushdown } = options;
    this.#reader = reader;
    this.#options = options;
    this.isAssumed = resume?.isAssumed ?? false;
    this.#stragglers = [...(resume?.stragglers ?? [])];
    this.#lagMs = resume?.pinMs == null ? null : resume.lagMs;
    this.#fromMs = floorSecond(latest(pushdown.fromMs, options.startMs));
    this.#scans =
      this.#lagMs === null
        ? reader.scans('desc', this.#fromMs, forever)
        : reader.scans('asc', resume?.pinMs ?? this.#fromMs, forever);
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
      ...this.#reader.unread(this.#stragglers).map(([, originMs]) => originMs),
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
    if (this.#lagMs === null) return this.#readEverything();
    const scannedTo = this.#scannedTo();
    const next = this.#reader
      .unread(this.#stragglers)
      .filter(([, originMs]) => originMs <= scannedTo)
      .sort((a, b) => a[1] - b[1])[0];
    if (next && scannedTo > Number.NEGATIVE_INFINITY) {
      await this.#reader.readMoment(next[0]);
      // A straggler that is missing was issued again and is read with the newest solutions.
      this.#stragglers = this.#stragglers.filter((straggler) => straggler !== next);
      return;
    }
    const behind = Math.min(...this.#scans.map((scan) => scan.reachedMs));
    await this.#reader.advance(this.#scans.filter((scan) => !scan.isDone && scan.reachedMs === behind));
  }

  async settle(): Promise<boolean> {
    return !this.isAssumed && this.#reader.readNews();
  }

  /** Resume state for the cursor of an event that began at `originMs`. */
  resumeAt(originMs: UnixMs): ProjectResume | null {
    const { horizonMs, readOnMs } = this.#reader;
    if (horizonMs === longAgo) return null;
    const needMs = plus(originMs, -this.#options.pushdown.reach.lookAheadMs);
    const ahead = this.#reader
      .known()
      .filter(([issued, origin]) => origin >= needMs && Number.isFinite(issued))
      .sort((a, b) => lagOf(b) - lagOf(a));
    const lagMs = this.#lagMs ?? Math.max(shortestLagMs, lagOf(ahead[mostStragglers]));
    const unread = this.#reader.unread(this.#stragglers).filter(([, origin]) => origin >= needMs);
    const stragglers = [...unread, ...ahead.filter((event) => lagOf(event) > lagMs)];
    const pins = this.#lagMs === null ? [] : this.#scans.flatMap((scan) => scan.pins);
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
    return Math.min(...this.#scans.map((scan) => scan.reachedMs)) - this.#lagMs;
  }

  /** Solutions issued before this do not match the filter. */
  #issuedFrom(): UnixMs {
    return floorSecond(this.#options.pushdown.issuedFromMs);
  }

  #isEverythingKnown(): boolean {
    const { issuedFromMs } = this.#options.pushdown;
    return this.#scans.every((scan) => scan.isDone || scan.reachedMs < issuedFromMs);
  }

  async #readEverything(): Promise<void> {
    const { issuedToMs } = this.#options.pushdown;
    for (let pages = 0; !this.#isEverythingKnown(); pages++) {
      const total = totalOf(this.#scans) ?? 0;
      const needed = Math.ceil(total / largestPage.project) - pages;
      if (pages > 0 && needed > this.#reader.left - requestsForNewest) return this.#assume();
      await this.#reader.advance(
        this.#scans.filter((scan) => !scan.isDone),
        pages === 0,
      );
      if (pages === 0 && this.#scans.some((scan) => scan.reachedMs > issuedToMs)) {
        this.#scans = this.#reader.scans('desc', this.#fromMs, floorSecond(plus(issuedToMs, 2000)));
        await this.#reader.advance(this.#scans);
      }
    }
  }

  async #assume(): Promise<void> {
    this.isAssumed = true;
    this.#lagMs = assumedLagMs;
    this.#scans = this.#reader.scans('asc', latest(this.#fromMs, this.#issuedFrom()), forever);
    await this.advance();
  }
}

function lagOf(event: Straggler | undefined): number {
  return event ? event[0] - event[1] : 0;
}

// A page of the list spans more than this, so a shorter lag would save no request.
const shortestLagMs = 10 * minuteMs;

const requestsForNewest = 2;
