import type { RateLimitStatus } from '../../upstream/read/read.js';

/**
 * The interval as long as there is plenty of budget. Below that more, where polls of `requests` each would otherwise
 * take over half of it, and once it is short over what a feed is sure of.
 */
export function pollIntervalMs(intervalMs: number, requests: number, limit: RateLimitStatus): number {
  const left = limit.remaining / (limit.burst ?? limit.perMinute);
  if (left >= 1 / 2) return intervalMs;
  const share = limit.perMinute * (left < 1 / 4 ? sureShare : 1 / 2);
  return Math.max(intervalMs, (requests * 60_000) / share);
}

// docs/behaviour.md 5.2: a fifth; a little more is asked for, since each poll also waits for its turn.
const sureShare = (1 / 5) * (13 / 12);
