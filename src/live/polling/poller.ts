import { type Clock, type ForwardMs, longAgo, minuteMs, plus } from '../../clock.js';
import { GatewayError } from '../../errors.js';

export interface PollerOptions {
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Reads upstream once. Errors go to `onFailure`, and it is called again after a back-off. */
  readonly poll: (signal: AbortSignal) => Promise<void>;
  /** False while another instance polls, or queries need what is left of the budget. */
  readonly mayPoll: () => boolean;
  /** One small step of deferrable work between two polls; false when there is none. */
  readonly idle: (signal: AbortSignal) => Promise<boolean>;
  /** From the start of one poll to the start of the next. Asked before each wait. */
  readonly intervalMs: () => number;
  readonly onFailure: (error: unknown, failures: number) => void;
}

/** Polls with at most one poll in flight, until stopped; failures only lengthen the wait (docs/behaviour.md 9.6). */
export class Poller {
  readonly #options: PollerOptions;
  #loopAbort: AbortController | null = null;
  #wakeUp: (() => void) | null = null;
  #startedAtMs: ForwardMs = longAgo;
  #polls = 0;
  #failuresInARow = 0;
  #failures = 0;
  #retryAfterS = 0;
  #lastPollAtMs: ForwardMs | null = null;
  #lastSuccessAtMs: ForwardMs | null = null;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#loopAbort !== null;
  }

  /** Counts since the poller was made; times since the last start. */
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
    if (this.#loopAbort) return;
    const abort = new AbortController();
    this.#loopAbort = abort;
    this.#startedAtMs = this.#options.clock.now();
    this.#lastSuccessAtMs = null;
    this.#failuresInARow = 0;
    void this.#loop(abort.signal);
  }

  /** Aborts the poll in flight. */
  stop(): void {
    this.#loopAbort?.abort();
    this.#loopAbort = null;
    this.#wakeUp?.();
  }

  /** Polls at once instead of waiting for the rest of the interval; does nothing while a poll is in flight. */
  wake(): void {
    this.#wakeUp?.();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, mayPoll } = this.#options;
    while (!signal.aborted) {
      const startedAtMs = clock.now();
      const hasSucceeded = mayPoll() ? await this.#poll(signal) : true;
      if (signal.aborted) return;
      const intervalNowMs = intervalMs();
      const dueMs = plus(startedAtMs, hasSucceeded ? intervalNowMs : this.#backOffMs(intervalNowMs));
      if (hasSucceeded) await this.#runIdleSteps(dueMs, signal);
      // An upstream slower than the interval gets a pause after each answer.
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
      this.#retryAfterS = 0;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#failures++;
      this.#failuresInARow++;
      this.#retryAfterS = error instanceof GatewayError ? (error.retryAfterS ?? 0) : 0;
      onFailure(error, this.#failuresInARow);
      return false;
    } finally {
      this.#lastPollAtMs = clock.now();
    }
  }

  // At least one step, or an upstream slower than the interval would starve this work.
  async #runIdleSteps(dueMs: ForwardMs, signal: AbortSignal): Promise<void> {
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
    // Jitter: instances that failed together must not retry together.
    const jitteredMs = growingMs * (0.75 + 0.5 * this.#options.random());
    return Math.max(jitteredMs, Math.min(this.#retryAfterS * 1000, longestRetryAfterMs));
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
  readonly startedAtMs: ForwardMs;
  readonly polls: number;
  readonly failures: number;
  readonly lastPollAtMs: ForwardMs | null;
  /** Null when no poll has succeeded since the start. */
  readonly lastSuccessAtMs: ForwardMs | null;
}

const longestBackOffMs = 30_000;
// Upper bound for `Retry-After`, which can be absurdly long.
const longestRetryAfterMs = minuteMs;
