import { UpstreamTimeout } from '../../errors.js';

/** How much is asked for at a time. */
export interface Step {
  readonly widthMs: number;
  readonly limit: number;
}

const hourMs = 3_600_000;
const smallestLimit = 25;

/**
 * The next thing to try after this: a quarter of the range, in pages of 100 and then of half as many. Throws when there is
 * no less. Nothing of it is remembered: the next request may be about another sensor, or meet a quicker upstream.
 * @param asked width 0 where there is no range to shorten
 */
export function narrower(asked: Step, last: Step | null): Step {
  const from = last ?? asked;
  if (from.widthMs <= hourMs && from.limit <= smallestLimit) throw tooWide();
  const halved = last !== null || asked.widthMs === 0 ? Math.floor(from.limit / 2) : from.limit;
  return {
    widthMs: Math.max(from.widthMs / 4, hourMs),
    limit: from.limit > 100 ? 100 : Math.max(halved, Math.min(from.limit, smallestLimit)),
  };
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
