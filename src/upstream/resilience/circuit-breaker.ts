import { type Clock, type ForwardMs, plus } from '../../clock.js';
import { type Source, UpstreamUnavailable } from '../../errors.js';
import { interfaceName } from '../decode/response.js';

/** The outcome of an admitted read. */
export type Outcome = 'succeeded' | 'failed' | 'undecided';

/** A read that the circuit breaker admitted. */
export interface Admission {
  /** Throws `UpstreamUnavailable` once the circuit is open and this is not the read that probes the interface. */
  throwIfWithdrawn(): void;
  /** `undecided`: the caller left, or nothing was sent. */
  end(outcome: Outcome): void;
}

// Rules of the circuit: docs/behaviour.md 5.11.
const failuresToOpen = 5;
const openMs = 10_000;

/**
 * Opens for 10 s after five reads in a row that failed for good, then admits one probe (half-open): when that fails
 * too, it opens for another 10 s (docs/behaviour.md 5.11).
 */
export class CircuitBreaker {
  readonly #source: Source;
  readonly #clock: Clock;
  #failures = 0;
  #openUntilMs: ForwardMs | null = null;
  #probing = false;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** When the next read is admitted; null while the circuit is closed. */
  get retryAtMs(): ForwardMs | null {
    return this.#openUntilMs;
  }

  /** Throws `UpstreamUnavailable` while the circuit is open. */
  admit(): Admission {
    const probe = this.#openUntilMs !== null;
    if (probe) {
      if (this.#probing || this.#clock.now() < (this.#openUntilMs ?? 0)) throw this.#open();
      this.#probing = true;
    }
    return {
      throwIfWithdrawn: () => {
        if (!probe && this.#openUntilMs !== null) throw this.#open();
      },
      end: (outcome) => {
        if (probe) this.#probing = false;
        if (outcome === 'succeeded') {
          this.#failures = 0;
          this.#openUntilMs = null;
        } else if (outcome === 'failed') {
          this.#failures++;
          // A read admitted before the circuit opened adds nothing: only the probe restarts the 10 s.
          if (probe || (this.#openUntilMs === null && this.#failures >= failuresToOpen)) {
            this.#openUntilMs = plus(this.#clock.now(), openMs);
          }
        }
      },
    };
  }

  #open(): UpstreamUnavailable {
    const leftMs = (this.#openUntilMs ?? 0) - this.#clock.now();
    return new UpstreamUnavailable(
      `The ${interfaceName(this.#source)} interface has failed repeatedly: its circuit is open for a moment`,
      { retryAfterS: Math.max(1, Math.ceil(leftMs / 1000)) },
    );
  }
}
