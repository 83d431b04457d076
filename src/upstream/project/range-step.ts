import { hourMs } from '../../clock.js';
import { UpstreamTimeout } from '../../errors.js';

/** The size of one request: width of the range and page limit. */
export interface Step {
  readonly widthMs: number;
  readonly limit: number;
}

const smallestLimit = 25;
export const mostRequests = 12;

/**
 * Finds the part of a range that upstream answers in time: a quarter of the range it gave up on, in pages of 100 and
 * then half as many; and twice what it answered, until that is too much.
 */
export class RangeStep {
  readonly #asked: Step;
  #step: Step;
  /** The last step that was answered. */
  #good: Step | null = null;
  /** The smallest width known to be too wide. */
  #failedMs = Number.POSITIVE_INFINITY;
  #isSettled = false;
  /**
   * Requests that one operation may still spend on a list that returns next to nothing. The first request has been
   * made.
   */
  requestsLeft = mostRequests - 1;

  /** @param asked width 0 where there is no range to shorten */
  constructor(asked: Step) {
    this.#asked = asked;
    this.#step = asked;
  }

  get step(): Step {
    return this.#step;
  }

  /** Call after `failed` timed out. Returns false where no smaller step is left. */
  slower(failed: Step): boolean {
    const { widthMs, limit } = this.#step;
    // Another read of this operation has already reduced the step.
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

  /** Call after a step was answered. The range is made longer only between two pieces. */
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
 * Range widths that one operation has learnt for the lists it reads, so that its next page need not find them again.
 * They do not outlast the operation: the next one may be about another sensor, or upstream may be faster.
 */
export class RangeSteps {
  readonly #learnt = new WeakMap<object, Map<string, RangeStep>>();

  of(operationKey: object, list: string): RangeStep | undefined {
    return this.#learnt.get(operationKey)?.get(list);
  }

  learn(operationKey: object, list: string, rangeStep: RangeStep): void {
    const steps = this.#learnt.get(operationKey) ?? new Map<string, RangeStep>();
    steps.set(list, rangeStep);
    this.#learnt.set(operationKey, steps);
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

/** A time between two pieces of a range, with odd digits, so that hardly any record falls on it. */
export function seam(ms: number): string {
  return new Date(Math.floor(ms / 10) * 10 + 7).toISOString();
}
