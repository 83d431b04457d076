import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import type { Pushdown } from './filter-pushdown.js';
import { type IssueTimeScan, totalOf } from './issue-time-scan.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './project-reader.js';

export interface ProjectScanOptions {
  readonly narrowing: Pushdown;
  /** Origin time, in milliseconds, at which the page begins; infinite at the list's own beginning. */
  readonly startMs: number;
  readonly resume: ProjectResume | null;
}

/**
 * The project's events newest first, from a list that is ordered by issue time. No solution is issued before its
 * earthquake begins: once everything issued after a time is known, so is everything that began after it.
 */
export class NewestFirst implements Scan {
  isAssumed: boolean;
  readonly #reader: ProjectReader;
  readonly #options: ProjectScanOptions;
  #walks: IssueTimeScan[];
  #stragglers: Straggler[];
  #pages = 0;

  constructor(reader: ProjectReader, options: ProjectScanOptions) {
    const { resume, narrowing } = options;
    this.#reader = reader;
    this.#options = options;
    this.isAssumed = resume?.isAssumed ?? false;
    this.#stragglers = [...(resume?.stragglers ?? [])];
    this.#walks = reader.walks(
      'desc',
      floorSecond(narrowing.fromMs),
      resume?.pinMs ?? Number.POSITIVE_INFINITY,
    );
  }

  get records(): ReadonlyMap<string, Read<WireEvent>> {
    return this.#reader.records;
  }

  get frontier(): number {
    return Math.min(
      this.#walked(),
      ...this.#reader.unread(this.#stragglers).map(([, originMs]) => -originMs),
    );
  }

  /** How many events the project has on the list, or issued since it begins. */
  get total(): number | null {
    return totalOf(this.#walks);
  }

  get canAdvance(): boolean {
    return this.#reader.left > 0;
  }

  async advance(): Promise<void> {
    const walked = this.#walked();
    const due = this.#reader.unread(this.#stragglers).filter(([, originMs]) => -originMs <= walked);
    const next = due.sort((a, b) => b[1] - a[1])[0];
    if (next && this.#pages > 0) {
      await this.#reader.readMoment(next[0]);
      // One that is not there any more has been issued again: it is among the news.
      this.#stragglers = this.#stragglers.filter((straggler) => straggler !== next);
      return;
    }
    const behind = Math.max(...this.#walks.map((walk) => walk.reachedMs));
    const isTop = this.#pages === 0 && (this.#options.resume?.pinMs ?? null) === null;
    await this.#reader.advance(
      this.#walks.filter((walk) => !walk.isDone && walk.reachedMs === behind),
      isTop,
    );
    this.#pages++;
    if (isTop) await this.#jump();
  }

  async settle(): Promise<boolean> {
    return !this.isAssumed && this.#reader.readNews();
  }

  /** What the cursor of an event that began at `originMs` carries. */
  resumeAt(originMs: number): ProjectResume | null {
    const { horizonMs, atMs } = this.#reader;
    if (horizonMs === Number.NEGATIVE_INFINITY) return null;
    const known = this.#reader
      .known()
      .filter(([, origin]) => origin <= originMs + this.#options.narrowing.reach.lookAheadMs);
    const ahead = [...this.#reader.unread(this.#stragglers), ...known];
    const pins = [...new Set(this.#walks.flatMap((walk) => walk.pins))].sort((a, b) => a - b);
    const base = { horizonMs, atMs, lagMs: null, isAssumed: this.isAssumed };
    const ways = pins.flatMap((pinMs, index) => {
      const stragglers = ahead.filter(([issued]) => issued > pinMs);
      const isPossible =
        stragglers.length <= mostStragglers && stragglers.every(([issued]) => Number.isFinite(issued));
      // Each straggler is a request, and so is each page from the pin on.
      return isPossible && Number.isFinite(pinMs)
        ? [{ pinMs, stragglers, requests: index + stragglers.length }]
        : [];
    });
    const [best] = ways.sort((a, b) => a.requests - b.requests);
    if (!best || best.requests > pins.length) return { ...base, pinMs: null, stragglers: [] };
    return { ...base, pinMs: best.pinMs, stragglers: best.stragglers };
  }

  #walked(): number {
    const reached = Math.max(...this.#walks.map((walk) => walk.reachedMs));
    if (reached < this.#options.narrowing.issuedFromMs) return Number.POSITIVE_INFINITY;
    // A second less: an issue time may be written in whole seconds where the origin time is not.
    return -reached - 1000;
  }

  /**
   * A list that begins in the past has everything before it that was issued since. Where that is too much to read, the
   * walk begins a day after: later solutions are then missed, which the page says.
   */
  async #jump(): Promise<void> {
    const { startMs, resume, narrowing } = this.#options;
    if (resume) return;
    const reached = Math.max(...this.#walks.map((walk) => walk.reachedMs));
    if (reached > narrowing.issuedToMs) return this.#beginAt(narrowing.issuedToMs + 2000);
    if (!(reached > startMs) || (await this.#canReadSince(startMs, reached))) return;
    this.isAssumed = true;
    return this.#beginAt(startMs + assumedLagMs);
  }

  async #beginAt(ms: number): Promise<void> {
    this.#walks = this.#reader.walks('desc', floorSecond(this.#options.narrowing.fromMs), floorSecond(ms));
    await this.#reader.advance(this.#walks);
  }

  async #canReadSince(startMs: number, reached: number): Promise<boolean> {
    const total = totalOf(this.#walks) ?? 0;
    if (total <= fewPages * pageSize) return true;
    const most = (this.#reader.left - fewPages) * pageSize;
    // Where the pace of the first page leaves no doubt, the exact number is not asked for.
    const issued = this.#reader.records.size;
    const estimate =
      issued * ((this.#reader.horizonMs - startMs) / Math.max(1, this.#reader.horizonMs - reached));
    if (estimate > most * 4) return false;
    const since = this.#reader.walks('desc', floorSecond(startMs), Number.POSITIVE_INFINITY);
    await this.#reader.advance(since);
    return (totalOf(since) ?? 0) <= most;
  }
}

/**
 * Assumed: where all that was issued since cannot be read, an earthquake's latest solution was issued within a day of it.
 */
export const assumedLagMs = 86_400_000;

/** Whole seconds, and one to spare: whether upstream compares all digits of a time is not shown. */
export function floorSecond(ms: number): number {
  return Number.isFinite(ms) ? (Math.floor(ms / 1000) - 1) * 1000 : ms;
}

// A cursor is text that clients carry around.
export const mostStragglers = 8;

const pageSize = 500;

// Read without asking first how much there is.
const fewPages = 3;
