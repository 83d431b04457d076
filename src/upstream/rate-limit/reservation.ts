import { type Clock, type ForwardMs, latest, longAgo, minuteMs, plus } from '../../clock.js';
import type { Limiter } from './limiter.js';

/** docs/behaviour.md 5.2: the share of the budget that a feed is guaranteed. */
export const reservedShare = 1 / 5;

// The budget does not always have a permit the moment a feed is due one: slightly more makes up for the wait.
const creditShare = reservedShare * (13 / 12);
const maxCredit = 2;
const maxAhead = 2;
// A feed that has not asked for this long has no subscriber.
const idleMs = 5 * minuteMs;

/**
 * Guarantees a feed a fifth of every minute, not only of what is left of it. Queries can take a whole burst, of which a
 * feed that polls every few seconds gets a single request, and after it permits come slowly: one in five of those would
 * be too little. So a feed accrues credit by the clock; and where the budget may stand still for a while after a burst,
 * others leave it the permits that it will be due by then. Credit that the feed does not use goes to others as time
 * passes.
 */
export class Reservation {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  #credit = 1;
  #creditAtMs: ForwardMs;
  #askedAtMs: ForwardMs = longAgo;

  constructor(clock: Clock, limiter: Limiter) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#creditAtMs = clock.now();
  }

  asked(): void {
    this.#askedAtMs = this.#clock.now();
  }

  get isListening(): boolean {
    return this.#clock.now() - this.#askedAtMs < idleMs;
  }

  /** The feed is due the next permit, whichever other requests wait. */
  get isOwed(): boolean {
    this.#accrue();
    return this.#credit >= 1;
  }

  /** When the feed may be served although queries wait: up to `maxAhead` requests ahead of its credit. */
  get contestedAtMs(): ForwardMs {
    this.#accrue();
    const missing = Math.max(0, -maxAhead - this.#credit);
    return plus(this.#creditAtMs, (missing * minuteMs) / (this.#limiter.perMinute * creditShare));
  }

  /**
   * @param isContested others waited for the same permit: only then does it count against the reservation
   * @returns undoes it, where the request was not sent after all
   */
  served(isContested: boolean): () => void {
    this.#accrue();
    const before = this.#credit;
    const least = isContested ? -this.#limiter.perMinute * reservedShare : Math.min(this.#credit, 0);
    this.#credit = Math.max(least, this.#credit - 1);
    const taken = before - this.#credit;
    return () => {
      this.#credit = Math.min(maxCredit, this.#credit + taken);
    };
  }

  /**
   * When other priorities may be given the `nth` permit from now, so that a feed still gets each of its own in time.
   */
  othersReadyAtMs(nth: number, hopeful: boolean): ForwardMs {
    const { perMinute } = this.#limiter;
    const count = Math.floor(perMinute * reservedShare);
    const everyMs = minuteMs / (perMinute * creditShare);
    const readyAtMs = (reserved: number) =>
      this.#limiter.readyAtMs(nth + reserved, { hopeful, anyDay: true });
    const now = this.#clock.now();
    if (count === 0 || !this.isListening || readyAtMs(count) <= now) return now;
    let readyMs = now;
    // From the very next one on: a permit that the feed is due in a moment goes to nobody else.
    for (let reserved = 1; reserved <= count; reserved += Math.ceil(count / mostChecked)) {
      readyMs = latest(readyMs, plus(readyAtMs(reserved), -reserved * everyMs));
    }
    return readyMs;
  }

  #accrue(): void {
    const now = this.#clock.now();
    const passedMs = Math.max(0, now - this.#creditAtMs);
    this.#creditAtMs = now;
    const gained = (passedMs / minuteMs) * this.#limiter.perMinute * creditShare;
    this.#credit = Math.min(maxCredit, this.#credit + gained);
  }
}

// Of a large budget only so many of a minute's requests are checked.
const mostChecked = 50;
