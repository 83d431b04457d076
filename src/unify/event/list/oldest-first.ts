import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import { type IssueTimeScan, totalOf } from './issue-time-scan.js';
import { assumedLagMs, floorSecond, mostStragglers, type ProjectScanOptions } from './newest-first.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './project-reader.js';

/**
 * The project's events oldest first, from a list that is ordered by issue time. The solution of an old earthquake can be
 * issued at any later time, so that all issued since the beginning has to be known first. What is learnt from that (how
 * long after their earthquakes the latest solutions come, and which are exceptions) travels in the cursor, and the pages
 * that follow read only what they show.
 */
export class OldestFirst implements Scan {
  isAssumed: boolean;
  readonly #reader: ProjectReader;
  readonly #options: ProjectScanOptions;
  readonly #fromMs: number;
  #walks: IssueTimeScan[];
  /** Null while the walk is the one over everything. */
  #lagMs: number | null;
  #stragglers: Straggler[];

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, narrowing } = options;
    this.#reader = reader;
    this.#options = options;
    this.isAssumed = resume?.isAssumed ?? false;
    this.#stragglers = [...(resume?.stragglers ?? [])];
    this.#lagMs = resume?.pinMs == null ? null : resume.lagMs;
    this.#fromMs = floorSecond(Math.max(narrowing.fromMs, options.startMs));
    this.#walks =
      this.#lagMs === null
        ? reader.walks('desc', this.#fromMs, Number.POSITIVE_INFINITY)
        : reader.walks('asc', resume?.pinMs ?? this.#fromMs, Number.POSITIVE_INFINITY);
  }

  get records(): ReadonlyMap<string, Read<WireEvent>> {
    return this.#reader.records;
  }

  get frontier(): number {
    return Math.min(this.#walked(), ...this.#reader.unread(this.#stragglers).map(([, originMs]) => originMs));
  }

  /** How many events the project has on the list, or issued since it begins. */
  get total(): number | null {
    return totalOf(this.#walks);
  }

  get canAdvance(): boolean {
    return this.#reader.left > 0;
  }

  async advance(): Promise<void> {
    if (this.#lagMs === null) return this.#readEverything();
    const walked = this.#walked();
    const next = this.#reader
      .unread(this.#stragglers)
      .filter(([, originMs]) => originMs <= walked)
      .sort((a, b) => a[1] - b[1])[0];
    if (next && walked > Number.NEGATIVE_INFINITY) {
      await this.#reader.readMoment(next[0]);
      // One that is not there any more has been issued again: it is among the news.
      this.#stragglers = this.#stragglers.filter((straggler) => straggler !== next);
      return;
    }
    const behind = Math.min(...this.#walks.map((walk) => walk.reachedMs));
    await this.#reader.advance(this.#walks.filter((walk) => !walk.isDone && walk.reachedMs === behind));
  }

  async settle(): Promise<boolean> {
    return !this.isAssumed && this.#reader.readNews();
  }

  /** What the cursor of an event that began at `originMs` carries. */
  resumeAt(originMs: number): ProjectResume | null {
    const { horizonMs, atMs } = this.#reader;
    if (horizonMs === Number.NEGATIVE_INFINITY) return null;
    const needMs = originMs - this.#options.narrowing.reach.lookAheadMs;
    const ahead = this.#reader
      .known()
      .filter(([issued, origin]) => origin >= needMs && Number.isFinite(issued))
      .sort((a, b) => lagOf(b) - lagOf(a));
    const lagMs = this.#lagMs ?? Math.max(shortestLagMs, lagOf(ahead[mostStragglers]));
    const unread = this.#reader.unread(this.#stragglers).filter(([, origin]) => origin >= needMs);
    const stragglers = [...unread, ...ahead.filter((event) => lagOf(event) > lagMs)];
    const pins = this.#lagMs === null ? [] : this.#walks.flatMap((walk) => walk.pins);
    const pinMs = Math.max(...pins.filter((pin) => pin <= floorSecond(needMs)), Number.NEGATIVE_INFINITY);
    return {
      horizonMs,
      atMs,
      pinMs: Math.max(pinMs === Number.NEGATIVE_INFINITY ? floorSecond(needMs) : pinMs, this.#issuedFrom()),
      stragglers,
      lagMs,
      isAssumed: this.isAssumed,
    };
  }

  #walked(): number {
    if (this.#lagMs === null) return this.#isEverythingKnown() ? Infinity : -Infinity;
    return Math.min(...this.#walks.map((walk) => walk.reachedMs)) - this.#lagMs;
  }

  /** What was issued before cannot be on the list. */
  #issuedFrom(): number {
    return floorSecond(this.#options.narrowing.issuedFromMs);
  }

  #isEverythingKnown(): boolean {
    const { issuedFromMs } = this.#options.narrowing;
    return this.#walks.every((walk) => walk.isDone || walk.reachedMs < issuedFromMs);
  }

  async #readEverything(): Promise<void> {
    const { issuedToMs } = this.#options.narrowing;
    for (let pages = 0; !this.#isEverythingKnown(); pages++) {
      const total = totalOf(this.#walks) ?? 0;
      const needed = Math.ceil(total / pageSize) - pages;
      if (pages > 0 && needed > this.#reader.left - requestsForNews) return this.#assume();
      await this.#reader.advance(
        this.#walks.filter((walk) => !walk.isDone),
        pages === 0,
      );
      if (pages === 0 && this.#walks.some((walk) => walk.reachedMs > issuedToMs)) {
        this.#walks = this.#reader.walks('desc', this.#fromMs, floorSecond(issuedToMs + 2000));
        await this.#reader.advance(this.#walks);
      }
    }
  }

  async #assume(): Promise<void> {
    this.isAssumed = true;
    this.#lagMs = assumedLagMs;
    this.#walks = this.#reader.walks(
      'asc',
      Math.max(this.#fromMs, this.#issuedFrom()),
      Number.POSITIVE_INFINITY,
    );
    await this.advance();
  }
}

function lagOf(event: Straggler | undefined): number {
  return event ? event[0] - event[1] : 0;
}

// Shorter ones are not worth making exceptions for: a page of the list spans more.
const shortestLagMs = 600_000;

const requestsForNews = 2;

const pageSize = 500;
