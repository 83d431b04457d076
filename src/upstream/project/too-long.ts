import { UpstreamTimeout } from '../../errors.js';

/** How much is asked for at a time. */
export interface Step {
  readonly widthMs: number;
  readonly limit: number;
}

const hourMs = 3_600_000;
const smallestLimit = 25;
export const mostRequests = 12;

/**
 * How much of a range upstream answers in time: a quarter of what it gave up on, in pages of 100 and then of half as many;
 * and twice what it answered, until that is too much.
 */
export class Pace {
  readonly #asked: Step;
  #step: Step;
  /** What was answered last. */
  #good: Step | null = null;
  /** Too wide, as far as is known. */
  #failedMs = Number.POSITIVE_INFINITY;
  #isSettled = false;
  /** What one operation may still spend on a list that gives it next to nothing. The first request has been made. */
  requestsLeft = mostRequests - 1;

  /** @param asked width 0 where there is no range to shorten */
  constructor(asked: Step) {
    this.#asked = asked;
    this.#step = asked;
  }

  get step(): Step {
    return this.#step;
  }

  /** After `failed` was too much. False where there is no less. */
  slower(failed: Step): boolean {
    const { widthMs, limit } = this.#step;
    // Another read of this operation has found out already.
    if (widthMs < failed.widthMs || limit < failed.limit) return true;
    const good = this.#good;
    if (good && (good.widthMs < widthMs || good.limit < limit)) {
      this.#isSettled = true;
      this.#step = good;
      return true;
    }
    this.#good = null;
    if (widthMs <= hourMs && limit <= smallestLimit) return false;
    const isFirst = this.#step === this.#asked;
    const halved = isFirst && widthMs > 0 ? limit : Math.floor(limit / 2);
    if (widthMs > hourMs) this.#failedMs = Math.min(this.#failedMs, widthMs);
    this.#step = {
      widthMs: Math.max(widthMs / 4, hourMs),
      limit: limit > 100 ? 100 : Math.max(halved, Math.min(limit, smallestLimit)),
    };
    return true;
  }

  /** After it was answered. The range is made longer only between two pieces. */
  faster(isPieceOver: boolean): void {
    this.#good = this.#step;
    if (this.#isSettled) return;
    const { widthMs, limit } = this.#step;
    const mayWiden = isPieceOver && widthMs * 2 < this.#failedMs;
    this.#step = {
      widthMs: mayWiden ? widthMs * 2 : widthMs,
      limit: Math.min(limit * 2, Math.max(limit, this.#asked.limit)),
    };
  }
}

/**
 * What one operation has learnt of the lists it reads, so that its next page does not find out again. Nothing of it
 * outlasts the operation: the next one may be about another sensor, or meet a quicker upstream.
 */
export class Paces {
  readonly #learnt = new WeakMap<object, Map<string, Pace>>();

  of(turn: object, list: string): Pace | undefined {
    return this.#learnt.get(turn)?.get(list);
  }

  learn(turn: object, list: string, pace: Pace): void {
    const paces = this.#learnt.get(turn) ?? new Map<string, Pace>();
    paces.set(list, pace);
    this.#learnt.set(turn, paces);
  }
}

/** 503 `timeout`: the query ran too long (docs/interfaces.md P7). */
export function isTooLong(error: unknown): boolean {
  return error instanceof UpstreamTimeout && error.upstream?.status === 503;
}

export function tooWide(): UpstreamTimeout {
  return new UpstreamTimeout(
    'The project interface takes too long over a range as wide as this, also in parts: give a shorter one',
    { upstream: { source: 'PROJECT', status: 503, code: 'timeout', requestId: null } },
  );
}

/** A time between two pieces of a range: an odd one, so that hardly anything falls on it. */
export function seam(ms: number): string {
  return new Date(Math.floor(ms / 10) * 10 + 7).toISOString();
}
