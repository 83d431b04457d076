/** Where every part of the gateway and of the sandbox gets its time from, so that tests can drive it. */
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

/** The machine's clock. Its timers do not keep the process alive: sockets and servers do. */
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

  /** Timers that have not fired: what a test looks at to see that polling has stopped. */
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

  /** Moves time on by `ms`, firing what falls due on the way, and lets promises settle after each. */
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

// One turn of the event loop: promise callbacks chained to any depth run before it.
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
