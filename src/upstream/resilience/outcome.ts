import { type ForwardMs, longAgo } from '../../clock.js';
import {
  BadUserInput,
  GatewayError,
  Unauthenticated,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable,
} from '../../errors.js';
import type { Outcome } from './circuit-breaker.js';

/**
 * Maps a failed read to the circuit breaker's outcome (docs/behaviour.md 5.11): a 4xx response shows that the interface
 * works.
 */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof GatewayError) || !error.upstream) return 'undecided';
  if (error instanceof UpstreamTimeout) {
    // docs/interfaces.md P7: 503 `timeout` is about the query, not about the interface.
    return error.upstream.status === null ? 'failed' : 'undecided';
  }
  return error instanceof UpstreamUnavailable ? 'failed' : 'succeeded';
}

/**
 * True where a stale response is better than this failure (docs/behaviour.md 5.6): upstream fails, or the budget is
 * spent.
 */
export function allowsStaleIfError(error: unknown): boolean {
  return (
    error instanceof UpstreamUnavailable ||
    error instanceof UpstreamTimeout ||
    error instanceof UpstreamRateLimited
  );
}

/** Upstream has definitely refused: its earlier response is not served any more. */
export function isDefinite(error: unknown): boolean {
  return error instanceof GatewayError && error.upstream !== undefined && !allowsStaleIfError(error);
}

/** Health of an interface, as its status reports it. */
export class Condition {
  /** True where the last request was answered by a working interface; null before the first. */
  reachable: boolean | null = null;
  reachableAsOfMs: ForwardMs | null = null;
  /** The last request had no response at all. */
  silent = false;
  /**
   * When upstream last answered successfully, and so accepted the key; minus infinity once it has refused a client's
   * key.
   */
  acceptedAtMs: ForwardMs = longAgo;
  lastErrorCode: string | null = null;
  lastErrorAtMs: ForwardMs | null = null;

  /** Another instance saw the key refused, or may have: upstream has to accept it anew. */
  doubt(): void {
    this.acceptedAtMs = longAgo;
  }

  succeeded(nowMs: ForwardMs): void {
    this.reachable = true;
    this.reachableAsOfMs = nowMs;
    this.silent = false;
    this.acceptedAtMs = nowMs;
  }

  failed(error: unknown, nowMs: ForwardMs): void {
    if (!(error instanceof GatewayError) || !error.upstream) return;
    this.reachable = outcomeOf(error) !== 'failed';
    this.reachableAsOfMs = nowMs;
    this.silent = error.upstream.status === null;
    // A client's wrong argument is not a failure of the interface.
    if (error instanceof BadUserInput) return;
    if (error instanceof Unauthenticated) this.acceptedAtMs = longAgo;
    this.lastErrorCode = error.code;
    this.lastErrorAtMs = nowMs;
  }
}
