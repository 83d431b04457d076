import type { WireEvent } from '../upstream/project/wire.js';
import type { Read } from '../upstream/read.js';
import { lookAheadMs } from './event-identity.js';
import type { IssueWalk } from './event-issue-walk.js';
import type { Narrowing } from './event-narrowing.js';
import type { ProjectReader, ProjectResume, Scan, Straggler } from './event-project-reader.js';

export interface ProjectScanOptions {
  readonly narrowing: Narrowing;
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
  #walks: IssueWalk[];
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

  settle(): Promise<boolean> {
    return this.#reader.readNews();
  }

  /** What the cursor of an event that began at `originMs` carries. */
  resumeAt(originMs: number): ProjectResume | null {
    const { horizonMs, atMs } = this.#reader;
    if (horizonMs === Number.NEGATIVE_INFINITY) return null;
    const known = this.#reader.known().filter(([, origin]) => origin <= originMs + lookAheadMs);
    const ahead = [...this.#reader.unread(this.#stragglers), ...known];
    const pins = [...new Set(this.#walks.flatMap((walk) => walk.pins))].sort((a, b) => a - b);
    const base = { horizonMs, atMs, lagMs: null, isAssumed: this.isAssumed };
    for (const pinMs of pins) {
      const stragglers = ahead.filter(([issued]) => issued > pinMs);
      if (stragglers.length > mostStragglers || pinMs === Number.POSITIVE_INFINITY) continue;
      if (stragglers.some(([issued]) => issued === Number.POSITIVE_INFINITY)) continue;
      return { ...base, pinMs, stragglers };
    }
    return { ...base, pinMs: null, stragglers: [] };
  }

  #walked(): number {
    // A second less: an issue time may be written in whole seconds where the origin time is not.
    return -Math.max(...this.#walks.map((walk) => walk.reachedMs)) - 1000;
  }

  /**
   * A list that begins in the past has everything before it that was issued since. Where that is too much to read, the
   * walk begins a day after: later solutions are then missed, which the page says.
   */
  async #jump(): Promise<void> {
    const { startMs, resume, narrowing } = this.#options;
    const total = this.#walks.reduce((sum, walk) => sum + (walk.total ?? 0), 0);
    if (resume || startMs === Number.POSITIVE_INFINITY || this.#walked() >= -startMs) return;
    if (total <= fewPages * pageSize) return;
    const since = this.#reader.walks('desc', floorSecond(startMs), Number.POSITIVE_INFINITY);
    await this.#reader.advance(since);
    const issuedSince = since.reduce((sum, walk) => sum + (walk.total ?? 0), 0);
    if (issuedSince <= (this.#reader.left - fewPages) * pageSize) return;
    this.isAssumed = true;
    const pinMs = floorSecond(startMs + assumedLagMs) + 1000;
    this.#walks = this.#reader.walks('desc', floorSecond(narrowing.fromMs), pinMs);
    await this.#reader.advance(this.#walks);
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
