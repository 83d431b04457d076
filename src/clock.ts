/** The only source of time for the gateway and the sandbox, so that tests can drive it. */
export interface Clock {
  /** Milliseconds since 1970, possibly with a fraction. */
  now(): number;
  /** Runs `run` once after `delayMs`; cancelling twice, or after it ran, does nothing. */
  timer(delayMs: number, run: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Timer {
  cancel(): void;
}

// setTimeout takes at most 2^31 − 1 ms and fires at once above that.
const longestTimeoutMs = 2 ** 31 - 1;

/** The machine's clock. Its timers are unreferenced: only sockets and servers keep the process alive. */
export const realClock: Clock = {
  now: () => Date.now(),
  timer(delayMs, run) {
    const handle = setTimeout(run, Math.min(delayMs, longestTimeoutMs));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  sleep(delayMs, signal) {
    return sleepOn(realClock, delayMs, signal);
  },
};

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until `advance` moves it. Timers fire in the order of their due times. */
export class ManualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** Number of timers that have not fired; tests read it to see that polling has stopped. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  timer(delayMs: number, run: () => void): Timer {
    const pending: Pending = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Advances time by `ms`, fires the timers that fall due, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#pending.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
      await settle();
    }
    this.#nowMs = untilMs;
    await settle();
  }

  #next(untilMs: number): Pending | undefined {
    let next: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.dueMs > untilMs) continue;
      if (
        !next ||
        pending.dueMs < next.dueMs ||
        (pending.dueMs === next.dueMs && pending.order < next.order)
      ) {
        next = pending;
      }
    }
    return next;
  }
}

// One iteration of the event loop: promise callbacks chained to any depth run before it.
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function sleepOn(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.timer(delayMs, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
