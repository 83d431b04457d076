import type { InterfaceStatus } from '../read/read.js';

/**
 * Merges the status of several processes: the latest to ask decides on reachability, the one with the least budget on
 * what remains.
 */
export function statusOfAll(statuses: readonly (InterfaceStatus | null)[]): InterfaceStatus | null {
  return statuses.reduce((one, other) => (one && other ? statusOfBoth(one, other) : (one ?? other)), null);
}

function statusOfBoth(one: InterfaceStatus, other: InterfaceStatus): InterfaceStatus {
  const isLater = (other.reachableAsOfMs ?? 0) > (one.reachableAsOfMs ?? 0);
  const hasLess = other.rateLimit.remaining < one.rateLimit.remaining;
  const failedLater = (other.lastErrorAtMs ?? 0) > (one.lastErrorAtMs ?? 0);
  const { lastErrorCode, lastErrorAtMs } = failedLater ? other : one;
  return {
    ...(isLater ? other : one),
    rateLimit: hasLess ? other.rateLimit : one.rateLimit,
    lastErrorCode,
    lastErrorAtMs,
    requestCount: one.requestCount + other.requestCount,
    cacheHitCount: one.cacheHitCount + other.cacheHitCount,
  };
}
