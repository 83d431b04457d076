const firstMs = 1_000;
const longestMs = 30_000;
// A timer for longer fires at once.
const longestTimerMs = 2 ** 31 - 1;

/** Pauses between attempts: random up to 1 s at first, so that clients of a restarted gateway spread, and doubling to 30 s. */
export class BackOff {
  #failures = 0;

  reset(): void {
    this.#failures = 0;
  }

  /** Ends early where the signal aborts. @param leastS the pause that the gateway asks for, in seconds */
  pause(leastS: number | null, signal: AbortSignal): Promise<void> {
    const jitterMs = Math.random() * Math.min(longestMs, firstMs * 2 ** this.#failures++);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.min((leastS ?? 0) * 1_000 + jitterMs, longestTimerMs));
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }
}
