import { minuteMs } from '../../clock.js';
import type { RateLimitStatus } from '../../upstream/read/read.js';

/**
 * The configured interval while at least half of the budget is left. Below that the interval grows as needed for polls
 * of `requests` each to take at most half of the rate limit; below a quarter, at most the feed's reservation.
 */
export function pollIntervalMs(intervalMs: number, requests: number, limit: RateLimitStatus): number {
  const left = budgetLeft(limit);
  if (left >= 1 / 2) return intervalMs;
  const share = limit.perMinute * (left < 1 / 4 ? reservedShare : 1 / 2);
  return Math.max(intervalMs, (requests * minuteMs) / share);
}

/** The part of the rate limit, from 0 to 1, that can be spent now. */
export function budgetLeft({ remaining, burst, perMinute }: RateLimitStatus): number {
  return remaining / (burst ?? perMinute);
}

// docs/behaviour.md 5.2: the reservation is a fifth. Slightly more is assumed, since each poll also waits in the queue.
const reservedShare = (1 / 5) * (13 / 12);
