import {
  BadUserInput,
  GatewayError,
  Unauthenticated,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable,
} from '../../errors.js';
import type { Outcome } from './circuit-breaker.js';

/** What a read that failed says about its interface (docs/behaviour.md 5.11): an answer with 4xx is the interface at work. */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof GatewayError) || !error.upstream) return 'undecided';
  if (error instanceof UpstreamTimeout) {
    // docs/interfaces.md P7: 503 `timeout` is about the question, not about the interface.
    return error.upstream.status === null ? 'failed' : 'undecided';
  }
  return error instanceof UpstreamUnavailable ? 'failed' : 'succeeded';
}

/** Whether an older answer is better than this failure (docs/behaviour.md 5.6): upstream fails, or the budget is spent. */
export function allowsStaleIfError(error: unknown): boolean {
  return (
    error instanceof UpstreamUnavailable ||
    error instanceof UpstreamTimeout ||
    error instanceof UpstreamRateLimited
  );
}

/** Upstream's definite no: what it said before, when it still answered, is not served any more. */
export function isDefinite(error: unknown): boolean {
  return error instanceof GatewayError && error.upstream !== undefined && !allowsStaleIfError(error);
}

/** How an interface has been doing, for those who ask about it. */
export class Condition {
  /** Whether the last request was answered by an interface at work; null before the first. */
  reachable: boolean | null = null;
  reachableAsOfMs: number | null = null;
  /** The last request had no answer at all. */
  silent = false;
  /** When upstream last answered with what was asked for, and so accepted the key; never, since it refused a client's. */
  acceptedAtMs = Number.NEGATIVE_INFINITY;
  lastErrorCode: string | null = null;
  lastErrorAtMs: number | null = null;

  /** Another instance was told that the key is refused, or may have been: it has to be accepted anew. */
  doubt(): void {
    this.acceptedAtMs = Number.NEGATIVE_INFINITY;
  }

  succeeded(nowMs: number): void {
    this.reachable = true;
    this.reachableAsOfMs = nowMs;
    this.silent = false;
    this.acceptedAtMs = nowMs;
  }

  failed(error: unknown, nowMs: number): void {
    if (!(error instanceof GatewayError) || !error.upstream) return;
    this.reachable = outcomeOf(error) !== 'failed';
    this.reachableAsOfMs = nowMs;
    this.silent = error.upstream.status === null;
    // A client's wrong argument is not the interface's trouble.
    if (error instanceof BadUserInput) return;
    if (error instanceof Unauthenticated) this.acceptedAtMs = Number.NEGATIVE_INFINITY;
    this.lastErrorCode = error.code;
    this.lastErrorAtMs = nowMs;
  }
}
