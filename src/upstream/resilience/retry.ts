import type { Clock } from '../../clock.js';
import { GatewayError, UpstreamRateLimited, UpstreamUnavailable } from '../../errors.js';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** After so long from the beginning there is no second attempt, and one that is under way ends. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Asked when the first attempt has failed: whether anyone waits for a second. */
  readonly wanted: () => boolean;
}

/**
 * One more attempt where it can help (docs/behaviour.md 5.10), after a pause that is different for each, in what the first one left
 * of the time (`leftMs`). The second attempt pays budget like the first; when it cannot, the first one's failure stands.
 */
export async function withOneRetry<T>(
  { clock, random, budgetMs, signal, wanted }: RetryOptions,
  run: (leftMs: number) => Promise<T>,
): Promise<T> {
  const untilMs = clock.now() + budgetMs;
  try {
    return await run(Number.POSITIVE_INFINITY);
  } catch (error) {
    if (signal.aborted || !wanted() || !worthRetrying(error)) throw error;
    if (!isRefusal(error)) await clock.sleep(100 + random() * 400, signal);
    const leftMs = untilMs - clock.now();
    if (leftMs < leastAttemptMs) throw error;
    try {
      return await run(leftMs);
    } catch (again) {
      // One that was not sent knows less than the first.
      throw again instanceof GatewayError && again.upstream === undefined ? error : again;
    }
  }
}

const leastAttemptMs = 500;

/** Whether the same request can do better later: no connection, 500, 503 other than `timeout`, or 429. */
function worthRetrying(error: unknown): boolean {
  if (isRefusal(error)) return true;
  if (!(error instanceof UpstreamUnavailable) || !error.upstream) return false;
  const { status } = error.upstream;
  // 502 is a proxy that got no connection; 504 one that has waited as long as we do.
  return status === null || status === 500 || status === 502 || status === 503;
}

/** Upstream's 429: the request queue holds the second attempt for as long as upstream asked, or gives it up at once. */
function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamRateLimited && error.upstream !== undefined;
}
