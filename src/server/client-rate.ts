import type { Clock } from '../clock.js';
import { ClientRateLimited } from '../errors.js';

/** CLIENT_RATE_PER_MINUTE: how many operations each client may run. */
export interface ClientRate {
  /** Takes one operation from the client's allowance; throws `ClientRateLimited` when there is none. */
  take(clientId: string): void;
}

// A client at rest has a full bucket, which is no different from none: those are forgotten when there are this many.
const mostBuckets = 10_000;

export function clientRate(perMinute: number | null, clock: Clock): ClientRate {
  if (perMinute === null) return { take: () => {} };
  const msPerOperation = 60_000 / perMinute;
  /** When the client's bucket will be full again. */
  const fullAtMs = new Map<string, number>();

  function forgetFull(): void {
    const nowMs = clock.now();
    for (const [id, atMs] of fullAtMs) if (atMs <= nowMs) fullAtMs.delete(id);
  }

  return {
    take(clientId) {
      const nowMs = clock.now();
      const nextFullMs = Math.max(nowMs, fullAtMs.get(clientId) ?? 0) + msPerOperation;
      // Rounding must not take the last of the minute's operations away.
      const overMs = nextFullMs - nowMs - 60_000;
      if (overMs > 1e-3) {
        throw new ClientRateLimited(`A client may run ${perMinute} operations a minute`, {
          retryAfterS: Math.ceil(overMs / 1000),
        });
      }
      fullAtMs.set(clientId, nextFullMs);
      if (fullAtMs.size > mostBuckets) forgetFull();
    },
  };
}
