import { type Clock, type ForwardMs, latest, minuteMs, plus } from '../../clock.js';
import { ClientRateLimited } from '../../errors.js';

/** CLIENT_RATE_PER_MINUTE: the rate limit of operations per client. */
export interface ClientRate {
  /**
   * Takes one operation from the client's budget; throws `ClientRateLimited` when it is exhausted. Returns a promise
   * only where another process does the counting.
   */
  take(clientId: string): void | Promise<void>;
}

/** The remaining budget of each client. */
export interface OperationBudget {
  /** Takes one operation and returns null, or returns the seconds until one is available. */
  take(clientId: string): number | null | Promise<number | null>;
}

// Above this number full buckets are dropped; a missing bucket counts as full.
const mostBuckets = 10_000;

/** Budgets counted in this process (token buckets). */
export class RateBuckets implements OperationBudget {
  readonly #clock: Clock;
  readonly #msPerOperation: number;
  /** Time at which the client's bucket will be full again. */
  readonly #fullAtMs = new Map<string, ForwardMs>();

  constructor(perMinute: number, clock: Clock) {
    this.#clock = clock;
    this.#msPerOperation = minuteMs / perMinute;
  }

  take(clientId: string): number | null {
    const nowMs = this.#clock.now();
    const fullMs = latest(nowMs, this.#fullAtMs.get(clientId) ?? nowMs);
    const nextFullMs = plus(fullMs, this.#msPerOperation);
    // Rounding errors must not refuse the last operation of the minute.
    const overMs = nextFullMs - nowMs - minuteMs;
    if (overMs > 1e-3) return Math.ceil(overMs / 1000);
    this.#fullAtMs.set(clientId, nextFullMs);
    if (this.#fullAtMs.size > mostBuckets) this.#dropFull(nowMs);
    return null;
  }

  #dropFull(nowMs: ForwardMs): void {
    for (const [id, atMs] of this.#fullAtMs) if (atMs <= nowMs) this.#fullAtMs.delete(id);
  }
}

/** Without a limit where `perMinute` is null. */
export function clientRate(perMinute: number | null, budget: OperationBudget | null): ClientRate {
  if (perMinute === null || budget === null) return { take: () => {} };
  const refuse = (retryAfterS: number | null) => {
    if (retryAfterS === null) return;
    throw new ClientRateLimited(`A client may run ${perMinute} operations a minute`, { retryAfterS });
  };
  return {
    take(clientId) {
      const taken = budget.take(clientId);
      return taken instanceof Promise ? taken.then(refuse) : refuse(taken);
    },
  };
}
