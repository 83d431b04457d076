import { type Clock, type ForwardMs, latest, longAgo, minuteMs } from '../../clock.js';
import { Forbidden, type Source, UpstreamRateLimited, UpstreamUnauthorized } from '../../errors.js';
import type { InterfaceStatus } from '../../upstream/read/read.js';
import { statusOfAll } from '../../upstream/resilience/merged-status.js';

/** One configured interface, as `/ready` checks it. */
export interface Watched {
  readonly source: Source;
  /** Null in `passthrough`, where the gateway has no key and thus no status of its own. */
  status(): InterfaceStatus | null;
  /** A cheap read; it rejects with the error of the interface. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Without requests, the last known state stays valid for this long. */
  readonly quietForMs: number;
}

/**
 * `spent`: reachable, but the budget is exhausted for minutes or hours; only cached responses are served.
 * `refused`: reachable, but it rejects the gateway's key. `unknown`: no response and no failure so far.
 */
export type InterfaceState = 'ok' | 'spent' | 'away' | 'refused' | 'unknown';

// Readiness probes time out after about a second. While the state is unknown, a slow answer is better than a wrong one.
const answerWithinMs = 900;
const firstAnswerWithinMs = 5_000;
const probeAgainAfterMs = 2_000;
// A budget per minute recovers sooner; a longer wait means the daily quota or upstream's Retry-After.
const spentFromMs = 2 * minuteMs;

/** State of an interface as one process knows it. It survives a structured clone. */
export interface Sighting {
  readonly source: Source;
  /** Null in `passthrough`. */
  readonly status: InterfaceStatus | null;
  readonly state: InterfaceState;
  readonly asOfMs: ForwardMs;
  readonly probedAtMs: ForwardMs;
}

/** Tracks the state of one interface from the regular reads, and probes it when those give no information. */
export class InterfaceWatch {
  readonly source: Source;
  readonly #watched: Watched;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #state: InterfaceState = 'unknown';
  #asOfMs: ForwardMs = longAgo;
  #probedAtMs: ForwardMs = longAgo;
  #requestCount = 0;
  #probing: Promise<void> | null = null;

  constructor(watched: Watched, clock: Clock, signal: AbortSignal) {
    this.source = watched.source;
    this.#watched = watched;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** State as this process knows it. */
  sighting(): Sighting {
    const { source, probedAtMs } = { source: this.source, probedAtMs: this.#probedAtMs };
    return { source, status: this.#watched.status(), state: this.#state, asOfMs: this.#asOfMs, probedAtMs };
  }

  /** @param others states known to other processes: a probe that one has just made is not repeated */
  async look(others: readonly Sighting[] = []): Promise<InterfaceState> {
    for (const other of others) this.#adopt(other);
    const status = statusOfAll([this.#watched.status(), ...others.map((other) => other.status)]);
    this.#updateFrom(status);
    if (this.#isDue()) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = null;
      });
      await Promise.race([
        this.#probing,
        after(this.#state === 'unknown' ? firstAnswerWithinMs : answerWithinMs),
      ]);
    }
    return this.#state === 'ok' && this.#isSpent(status) ? 'spent' : this.#state;
  }

  #adopt({ state, asOfMs, probedAtMs }: Sighting): void {
    this.#probedAtMs = latest(this.#probedAtMs, probedAtMs);
    if (asOfMs <= this.#asOfMs) return;
    this.#state = state;
    this.#asOfMs = asOfMs;
  }

  #isSpent(status: InterfaceStatus | null): boolean {
    const rateLimit = status?.rateLimit;
    if (!rateLimit || rateLimit.remaining >= 1 || rateLimit.resetAtMs === null) return false;
    return rateLimit.resetAtMs - this.#clock.now() > spentFromMs;
  }

  /** Updates the state from the reads since the last call. */
  #updateFrom(status: InterfaceStatus | null): void {
    if (!status || status.requestCount === this.#requestCount) return;
    this.#requestCount = status.requestCount;
    const failedAtMs = status.lastErrorAtMs ?? longAgo;
    if (status.reachable === true && failedAtMs <= this.#asOfMs) {
      this.#state = 'ok';
      this.#asOfMs = this.#clock.now();
    } else if (failedAtMs > this.#asOfMs) {
      if (status.reachable === false) this.#state = 'away';
      // The probe that is now due finds the exact cause.
      this.#asOfMs = longAgo;
    }
  }

  #isDue(): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - this.#probedAtMs < probeAgainAfterMs) return this.#probing !== null;
    return this.#state !== 'ok' || nowMs - this.#asOfMs >= this.#watched.quietForMs;
  }

  async #probe(): Promise<void> {
    this.#probedAtMs = this.#clock.now();
    const countBefore = this.#watched.status()?.requestCount ?? 0;
    try {
      await this.#watched.probe(this.#signal);
      this.#state = 'ok';
    } catch (error) {
      this.#state = stateAfter(error);
    }
    this.#asOfMs = this.#clock.now();
    this.#requestCount += (this.#watched.status()?.requestCount ?? 0) - countBefore;
  }
}

function stateAfter(error: unknown): InterfaceState {
  if (error instanceof UpstreamUnauthorized) return 'refused';
  // The interface is reachable: it refuses only this read, or only for now.
  if (error instanceof Forbidden || error instanceof UpstreamRateLimited) return 'ok';
  return 'away';
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
