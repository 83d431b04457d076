import type { Clock } from '../../clock.js';
import { ClientRateLimited } from '../../errors.js';

/** CLIENT_RATE_PER_MINUTE: how many operations each client may run. */
export interface ClientRate {
  /**
   * Takes one operation from the client's budget; throws `ClientRateLimited` when there is none. A promise only where
   * another process has to be asked.
   */
  take(clientId: string): void | Promise<void>;
}

/** What each client has left. */
export interface OperationBudget {
  /** Takes one operation, or says in how many seconds there will be one. */
  take(clientId: string): number | null | Promise<number | null>;
}

// A client at rest has a full bucket, which is no different from none: those are forgotten when there are this many.
const mostBuckets = 10_000;

/** The budgets as one process counts them. */
export class RateBuckets implements OperationBudget {
  readonly #clock: Clock;
  readonly #msPerOperation: number;
  /** When the client's bucket will be full again. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(perMinute: number, clock: Clock) {
    this.#clock = clock;
    this.#msPerOperation = 60_000 / perMinute;
  }

  take(clientId: string): number | null {
    const nowMs = this.#clock.now();
    const nextFullMs = Math.max(nowMs, this.#fullAtMs.get(clientId) ?? 0) + this.#msPerOperation;
    // Rounding must not take the last of the minute's operations away.
    const overMs = nextFullMs - nowMs - 60_000;
    if (overMs > 1e-3) return Math.ceil(overMs / 1000);
    this.#fullAtMs.set(clientId, nextFullMs);
    if (this.#fullAtMs.size > mostBuckets) this.#forgetFull(nowMs);
    return null;
  }

  #forgetFull(nowMs: number): void {
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
