import type { Clock } from '../../clock.js';
import { UpstreamTimeout } from '../../errors.js';

/** How much is asked for at a time. */
export interface Step {
  readonly widthMs: number;
  readonly limit: number;
}

const hourMs = 3_600_000;
const smallestLimit = 25;
// Assumed: what took too long still will ten minutes later; the duration of the time-out is not shown (key-scoped §8).
const rememberedMs = 600_000;

/** What one list was found to be too slow for. */
export class Learnt {
  readonly #clock: Clock;
  #step: Step | null = null;
  #untilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * How to ask for a page of this size from a range of this width, 0 where there is none to shorten; null as it is. What is
   * known to be too much is not asked for.
   */
  for({ widthMs, limit }: Step): Step | null {
    const known = this.#clock.now() < this.#untilMs ? this.#step : null;
    if (!known) return null;
    return (widthMs === 0 ? limit > known.limit : widthMs > known.widthMs) ? known : null;
  }

  /**
   * The next thing to try after this: a quarter of the range, in pages of 100 and then of half as many. Throws when there is
   * no less.
   */
  narrower({ widthMs, limit }: Step, last: Step | null): Step {
    const from = last ?? { widthMs, limit };
    if (from.widthMs <= hourMs && from.limit <= smallestLimit) throw tooWide();
    const halved = last !== null || widthMs === 0 ? Math.floor(from.limit / 2) : from.limit;
    this.#step = {
      widthMs: Math.max(from.widthMs / 4, hourMs),
      limit: from.limit > 100 ? 100 : Math.max(halved, Math.min(from.limit, smallestLimit)),
    };
    this.#untilMs = this.#clock.now() + rememberedMs;
    return this.#step;
  }
}

/** 503 `timeout`: the query ran too long (key-scoped §7). */
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
