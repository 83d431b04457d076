import { type ForwardMs, latest, longAgo, minuteMs, plus } from '../../clock.js';

// Assumed: a refusal that names no time is over in seconds; when it is not, the next wait is twice as long.
const shortestUnnamedMs = 5_000;

/** The pause after upstream's refusals: when it ends (docs/behaviour.md 5.1), and how slowly sending restarts. */
export class RetryAfter {
  untilMs: ForwardMs = longAgo;
  #unnamedMs = shortestUnnamedMs;

  /** `forMs` is null where upstream named no time. Returns the milliseconds that are left. */
  refuse(now: ForwardMs, forMs: number | null): number {
    if (forMs !== null) {
      this.untilMs = latest(this.untilMs, plus(now, forMs));
    } else if (now >= this.untilMs) {
      // Requests refused during one pause are one refusal; a refusal soon after a pause doubles the next one.
      const soon = now < this.untilMs + minuteMs;
      this.#unnamedMs = soon ? Math.min(minuteMs, this.#unnamedMs * 2) : shortestUnnamedMs;
      this.untilMs = plus(now, this.#unnamedMs);
    }
    return this.untilMs - now;
  }

  /** Another instance was refused. `unnamedMs`: length of the pause where upstream named none. */
  refusedAtPeer(untilMs: ForwardMs, unnamedMs: number | null): void {
    this.untilMs = latest(this.untilMs, untilMs);
    if (unnamedMs !== null) this.#unnamedMs = unnamedMs;
  }

  /**
   * For a minute after the pause, requests are sent one by one, `spacingMs` apart, so that the restart is not the next
   * burst.
   */
  readyAtMs(
    now: ForwardMs,
    nth: number,
    { spacingMs, lastSentMs }: { spacingMs: number; lastSentMs: ForwardMs },
  ): ForwardMs {
    if (now > this.untilMs + minuteMs) return now;
    return plus(latest(this.untilMs, plus(lastSentMs, spacingMs)), (nth - 1) * spacingMs);
  }
}
