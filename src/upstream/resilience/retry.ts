import { type Clock, plus } from '../../clock.js';
import { GatewayError, UpstreamRateLimited, UpstreamUnavailable } from '../../errors.js';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Time from the beginning after which there is no second attempt, and one in progress ends. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Called when the first attempt has failed: returns true where a caller waits for a second. */
  readonly wanted: () => boolean;
}

/**
 * Makes one more attempt where it can help (docs/behaviour.md 5.10), after a random pause, within what the first one
 * left of the time (`leftMs`). The second attempt takes a permit like the first; when it gets none, the first one's
 * failure stands.
 */
export async function withOneRetry<T>(
  { clock, random, budgetMs, signal, wanted }: RetryOptions,
  run: (leftMs: number) => Promise<T>,
): Promise<T> {
  const untilMs = plus(clock.now(), budgetMs);
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
      // An attempt that was not sent carries less information than the first.
      throw again instanceof GatewayError && again.upstream === undefined ? error : again;
    }
  }
}

const leastAttemptMs = 500;

/** True where the same request can succeed later: no connection, 500, 503 other than `timeout`, or 429. */
function worthRetrying(error: unknown): boolean {
  if (isRefusal(error)) return true;
  if (!(error instanceof UpstreamUnavailable) || !error.upstream) return false;
  const { status } = error.upstream;
  // 502 is a proxy that got no connection; 504 is a proxy that has waited as long as we do.
  return status === null || status === 500 || status === 502 || status === 503;
}

/** Upstream's 429: the request queue delays the second attempt for as long as upstream asked, or refuses it at once. */
function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamRateLimited && error.upstream !== undefined;
}
