import type { Clock } from '../../clock.js';
import { GatewayError } from '../../errors.js';

export interface PollerOptions {
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Reads upstream once. What it throws is told to `onFailure`, and it is called again later. */
  readonly poll: (signal: AbortSignal) => Promise<void>;
  /** Whether it is for this instance to poll; false when another does. */
  readonly isItsTurn: () => boolean;
  /** One small step of work that can wait, between two polls; false when there is none. */
  readonly idle: (signal: AbortSignal) => Promise<boolean>;
  /** From the start of one poll to the start of the next. Asked before each wait. */
  readonly intervalMs: () => number;
  readonly onFailure: (error: unknown, failures: number) => void;
}

/** A loop with at most one poll in flight, which never ends by itself (docs/behaviour.md 9.6). */
export class Poller {
  readonly #options: PollerOptions;
  #run: AbortController | null = null;
  #wakeUp: (() => void) | null = null;
  #startedAtMs = 0;
  #polls = 0;
  #failuresInARow = 0;
  #failures = 0;
  #waitS = 0;
  #lastPollAtMs: number | null = null;
  #lastSuccessAtMs: number | null = null;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#run !== null;
  }

  /** Since the start, and of the last start for the times. */
  get history(): PollHistory {
    return {
      startedAtMs: this.#startedAtMs,
      polls: this.#polls,
      failures: this.#failures,
      lastPollAtMs: this.#lastPollAtMs,
      lastSuccessAtMs: this.#lastSuccessAtMs,
    };
  }

  start(): void {
    if (this.#run) return;
    const run = new AbortController();
    this.#run = run;
    this.#startedAtMs = this.#options.clock.now();
    this.#lastSuccessAtMs = null;
    this.#failuresInARow = 0;
    void this.#loop(run.signal);
  }

  /** What is in flight is aborted. */
  stop(): void {
    this.#run?.abort();
    this.#run = null;
    this.#wakeUp?.();
  }

  /** Polls at once instead of waiting for the rest of the interval; does nothing while a poll is in flight. */
  wake(): void {
    this.#wakeUp?.();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, isItsTurn } = this.#options;
    while (!signal.aborted) {
      const startedAtMs = clock.now();
      const isHeard = isItsTurn() ? await this.#poll(signal) : true;
      if (signal.aborted) return;
      const intervalNowMs = intervalMs();
      const dueMs = startedAtMs + (isHeard ? intervalNowMs : this.#backOffMs(intervalNowMs));
      if (isHeard) await this.#useTheGap(dueMs, signal);
      // An upstream slower than the interval is not asked again the moment it has answered.
      if (!signal.aborted) await this.#sleep(Math.max(dueMs - clock.now(), intervalNowMs / 4));
    }
  }

  async #poll(signal: AbortSignal): Promise<boolean> {
    const { clock, poll, onFailure } = this.#options;
    this.#polls++;
    try {
      await poll(signal);
      this.#lastSuccessAtMs = clock.now();
      this.#failuresInARow = 0;
      this.#waitS = 0;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#failures++;
      this.#failuresInARow++;
      this.#waitS = error instanceof GatewayError ? (error.retryAfterS ?? 0) : 0;
      onFailure(error, this.#failuresInARow);
      return false;
    } finally {
      this.#lastPollAtMs = clock.now();
    }
  }

  // One step at least, so that an upstream slower than the interval does not starve it.
  async #useTheGap(dueMs: number, signal: AbortSignal): Promise<void> {
    const { clock, idle } = this.#options;
    try {
      while ((await idle(signal)) && !signal.aborted && clock.now() < dueMs);
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(error, 0);
    }
  }

  #backOffMs(intervalNowMs: number): number {
    const longestMs = Math.max(intervalNowMs, Math.min(longestBackOffMs, 8 * intervalNowMs));
    const growingMs = Math.min(longestMs, intervalNowMs * 1.5 ** (this.#failuresInARow - 1));
    // Instances that failed together must not come back together.
    const jitteredMs = growingMs * (0.75 + 0.5 * this.#options.random());
    return Math.max(jitteredMs, Math.min(this.#waitS * 1000, longestRetryAfterMs));
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.timer(delayMs, resolve);
      this.#wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

export interface PollHistory {
  readonly startedAtMs: number;
  readonly polls: number;
  readonly failures: number;
  readonly lastPollAtMs: number | null;
  /** Null when no poll has succeeded since the start. */
  readonly lastSuccessAtMs: number | null;
}

const longestBackOffMs = 30_000;
// An upstream that asks for more is asked again all the same: `Retry-After` can be absurd.
const longestRetryAfterMs = 60_000;
