import type { Clock } from '../../clock.js';
import { Forbidden, type Source, UpstreamRateLimited, UpstreamUnauthorized } from '../../errors.js';
import type { InterfaceStatus } from '../../upstream/read/read.js';
import { statusOfAll } from '../../upstream/resilience/merged-status.js';

/** One configured interface, as `/ready` looks at it. */
export interface Watched {
  readonly source: Source;
  /** Null where clients bring the keys: then there is no status of our own. */
  status(): InterfaceStatus | null;
  /** A cheap read; its failure says what is wrong. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** How long an interface that nobody asks is taken to be as it was. */
  readonly quietForMs: number;
}

/**
 * `spent`: there, but it may not be asked for minutes or hours to come: what is kept of it is served, and nothing new.
 * `refused`: it answers, but not with the gateway's key. `unknown`: it has not said anything yet.
 */
export type InterfaceState = 'ok' | 'spent' | 'away' | 'refused' | 'unknown';

// Whoever asks whether the gateway is ready has a time-out of a second or so; but as long as nothing is known, an answer
// that is late is better than a wrong one.
const answerWithinMs = 900;
const firstAnswerWithinMs = 5_000;
const probeAgainAfterMs = 2_000;
// A budget of a minute is whole again before that: what takes longer is a day that is spent, or upstream's wish.
const spentFromMs = 120_000;

/** What one process knows of an interface. It survives a structured clone. */
export interface Sighting {
  readonly source: Source;
  /** Null where clients bring the keys. */
  readonly status: InterfaceStatus | null;
  readonly state: InterfaceState;
  readonly asOfMs: number;
  readonly probedAtMs: number;
}

/** Whether one interface can answer: from what is being read of it anyway, and by asking when that says nothing. */
export class InterfaceWatch {
  readonly source: Source;
  readonly #watched: Watched;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #state: InterfaceState = 'unknown';
  #asOfMs = Number.NEGATIVE_INFINITY;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #requestCount = 0;
  #probing: Promise<void> | null = null;

  constructor(watched: Watched, clock: Clock, signal: AbortSignal) {
    this.source = watched.source;
    this.#watched = watched;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** What this process has seen. */
  sighting(): Sighting {
    const { source, probedAtMs } = { source: this.source, probedAtMs: this.#probedAtMs };
    return { source, status: this.#watched.status(), state: this.#state, asOfMs: this.#asOfMs, probedAtMs };
  }

  /** @param others what other processes have seen of this interface: what one has just asked, none has to ask again */
  async look(others: readonly Sighting[] = []): Promise<InterfaceState> {
    for (const other of others) this.#adopt(other);
    const status = statusOfAll([this.#watched.status(), ...others.map((other) => other.status)]);
    this.#learn(status);
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
    this.#probedAtMs = Math.max(this.#probedAtMs, probedAtMs);
    if (asOfMs <= this.#asOfMs) return;
    this.#state = state;
    this.#asOfMs = asOfMs;
  }

  #isSpent(status: InterfaceStatus | null): boolean {
    const rateLimit = status?.rateLimit;
    if (!rateLimit || rateLimit.remaining >= 1 || rateLimit.resetAtMs === null) return false;
    return rateLimit.resetAtMs - this.#clock.now() > spentFromMs;
  }

  /** What other reads have shown since the last look. */
  #learn(status: InterfaceStatus | null): void {
    if (!status || status.requestCount === this.#requestCount) return;
    this.#requestCount = status.requestCount;
    const failedAtMs = status.lastErrorAtMs ?? Number.NEGATIVE_INFINITY;
    if (status.reachable === true && failedAtMs <= this.#asOfMs) {
      this.#state = 'ok';
      this.#asOfMs = this.#clock.now();
    } else if (failedAtMs > this.#asOfMs) {
      if (status.reachable === false) this.#state = 'away';
      // What exactly is wrong, asking will show.
      this.#asOfMs = Number.NEGATIVE_INFINITY;
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
  // It is there and answers, only not this, or not so soon.
  if (error instanceof Forbidden || error instanceof UpstreamRateLimited) return 'ok';
  return 'away';
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
