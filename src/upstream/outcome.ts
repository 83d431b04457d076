import {
  BadUserInput,
  GatewayError,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable,
} from '../errors.js';
import type { Outcome } from './breaker.js';

/** What a read that failed says about its interface (contract 5.9): an answer with 4xx is the interface at work. */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof GatewayError) || !error.upstream) return 'undecided';
  if (error instanceof UpstreamTimeout) {
    // key-scoped §7: 503 `timeout` is about the question, not about the interface.
    return error.upstream.status === null ? 'failed' : 'undecided';
  }
  return error instanceof UpstreamUnavailable ? 'failed' : 'succeeded';
}

/** Whether an older answer is better than this failure (contract 5.6): upstream fails, or the allowance is spent. */
export function canBeRescued(error: unknown): boolean {
  return (
    error instanceof UpstreamUnavailable ||
    error instanceof UpstreamTimeout ||
    error instanceof UpstreamRateLimited
  );
}

/** How an interface has been doing, for those who ask about it. */
export class Condition {
  /** Null before the first request. */
  reachable: boolean | null = null;
  lastErrorCode: string | null = null;
  lastErrorAtMs: number | null = null;

  succeeded(): void {
    this.reachable = true;
  }

  failed(error: unknown, nowMs: number): void {
    if (!(error instanceof GatewayError) || !error.upstream) return;
    this.reachable = outcomeOf(error) !== 'failed';
    // A client's wrong argument is not the interface's trouble.
    if (error instanceof BadUserInput) return;
    this.lastErrorCode = error.code;
    this.lastErrorAtMs = nowMs;
  }
}
