import type { WireEvent } from '../upstream/project/wire.js';
import type { Read } from '../upstream/read.js';
import { lookAheadMs } from './event-identity.js';
import type { IssueWalk } from './event-issue-walk.js';
import { assumedLagMs, floorSecond, mostStragglers, type ProjectScanOptions } from './event-newest-first.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './event-project-reader.js';

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
  #walks: IssueWalk[];
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
    const fromMs = floorSecond(Math.max(narrowing.fromMs, options.startMs));
    this.#walks =
      this.#lagMs === null
        ? reader.walks('desc', fromMs, Number.POSITIVE_INFINITY)
        : reader.walks('asc', resume?.pinMs ?? fromMs, Number.POSITIVE_INFINITY);
  }

  get records(): ReadonlyMap<string, Read<WireEvent>> {
    return this.#reader.records;
  }

  get frontier(): number {
    return Math.min(this.#walked(), ...this.#reader.unread(this.#stragglers).map(([, originMs]) => originMs));
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

  settle(): Promise<boolean> {
    return this.#reader.readNews();
  }

  /** What the cursor of an event that began at `originMs` carries. */
  resumeAt(originMs: number): ProjectResume | null {
    const { horizonMs, atMs } = this.#reader;
    if (horizonMs === Number.NEGATIVE_INFINITY) return null;
    const needMs = originMs - lookAheadMs;
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
      pinMs: pinMs === Number.NEGATIVE_INFINITY ? floorSecond(needMs) : pinMs,
      stragglers,
      lagMs,
      isAssumed: this.isAssumed,
    };
  }

  #walked(): number {
    if (this.#lagMs === null) return this.#walks.every((walk) => walk.isDone) ? Infinity : -Infinity;
    return Math.min(...this.#walks.map((walk) => walk.reachedMs)) - this.#lagMs;
  }

  async #readEverything(): Promise<void> {
    for (let pages = 0; !this.#walks.every((walk) => walk.isDone); pages++) {
      const total = this.#walks.reduce((sum, walk) => sum + (walk.total ?? 0), 0);
      const needed = Math.ceil(total / pageSize) - pages;
      if (pages > 0 && needed > this.#reader.left - requestsForNews) return this.#assume();
      await this.#reader.advance(
        this.#walks.filter((walk) => !walk.isDone),
        pages === 0,
      );
    }
  }

  async #assume(): Promise<void> {
    this.isAssumed = true;
    this.#lagMs = assumedLagMs;
    const fromMs = Math.max(this.#options.narrowing.fromMs, this.#options.startMs);
    this.#walks = this.#reader.walks('asc', floorSecond(fromMs), Number.POSITIVE_INFINITY);
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
