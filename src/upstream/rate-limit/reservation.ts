import type { Clock } from '../../clock.js';
import type { Limiter } from './limiter.js';

/** docs/behaviour.md 5.2: the part of the budget that a feed gets at least. */
export const reservedShare = 1 / 5;

const minuteMs = 60_000;
// There is not always a request to give the moment a feed is owed one: a little more makes up for the wait.
const owedShare = reservedShare * (13 / 12);
const mostOwed = 2;
const mostAhead = 2;
// A feed that has not asked for so long has no listener.
const silentMs = 300_000;

/**
 * A feed's fifth of any minute, not only of what is left of it. Queries can take a burst at once, of which a feed that
 * asks every few seconds gets a single request, and after it the budget comes slowly: one in five of those few would
 * be too little. So a feed is owed its requests by the clock; and where the budget may stand still for a while after
 * a burst, others leave it those that it will be owed by then. What it does not take meanwhile they get as time passes.
 */
export class Reservation {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  #owed = 1;
  #owedAtMs: number;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, limiter: Limiter) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#owedAtMs = clock.now();
  }

  asked(): void {
    this.#askedAtMs = this.#clock.now();
  }

  get isListening(): boolean {
    return this.#clock.now() - this.#askedAtMs < silentMs;
  }

  /** Its turn has come, whoever else waits. */
  get isOwed(): boolean {
    this.#accrue();
    return this.#owed >= 1;
  }

  /** When it may be served although queries wait: a little ahead of what it is owed. */
  get contestedAtMs(): number {
    this.#accrue();
    const missing = Math.max(0, -mostAhead - this.#owed);
    return this.#owedAtMs + (missing * minuteMs) / (this.#limiter.perMinute * owedShare);
  }

  /**
   * @param isContested others waited for the same request: only then is it part of the share
   * @returns undoes it, where the request was not sent after all
   */
  served(isContested: boolean): () => void {
    this.#accrue();
    const before = this.#owed;
    const least = isContested ? -this.#limiter.perMinute * reservedShare : Math.min(this.#owed, 0);
    this.#owed = Math.max(least, this.#owed - 1);
    const taken = before - this.#owed;
    return () => {
      this.#owed = Math.min(mostOwed, this.#owed + taken);
    };
  }

  /** When others may be given the `nth` request from now, so that a feed still gets each of its own in time. */
  othersReadyAtMs(nth: number, hopeful: boolean): number {
    const { perMinute } = this.#limiter;
    const count = Math.floor(perMinute * reservedShare);
    const everyMs = minuteMs / (perMinute * owedShare);
    const readyAtMs = (kept: number) => this.#limiter.readyAtMs(nth + kept, { hopeful, anyDay: true });
    const now = this.#clock.now();
    if (count === 0 || !this.isListening || readyAtMs(count) <= now) return now;
    let readyMs = now;
    for (let part = 1; part <= parts; part++) {
      const kept = Math.ceil((count * part) / parts);
      readyMs = Math.max(readyMs, readyAtMs(kept) - kept * everyMs);
    }
    return readyMs;
  }

  #accrue(): void {
    const now = this.#clock.now();
    const passedMs = Math.max(0, now - this.#owedAtMs);
    this.#owedAtMs = now;
    const gained = (passedMs / minuteMs) * this.#limiter.perMinute * owedShare;
    this.#owed = Math.min(mostOwed, this.#owed + gained);
  }
}

// The budget is looked at in so many places of the minute ahead.
const parts = 12;
