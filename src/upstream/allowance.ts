import type { Clock } from '../clock.js';
import { DayCount } from './day-count.js';

/** What upstream permits one key. */
export interface AllowanceSettings {
  readonly perMinute: number;
  /** Requests that may be sent at once. */
  readonly burst: number;
  /** Requests in 24 hours; null where there is no such limit. */
  readonly perDay: number | null;
}

/** One request that was taken from the allowance. */
export interface Spent {
  /** Place in the order of sending, for `observe`. */
  readonly order: number;
  /** Upstream has counted it by now: it has answered, or never will. */
  answered(): void;
  /** It was not sent after all. */
  giveBack(): void;
}

/** What upstream's own headers said about one window of its counting (catalogue §8). */
export interface Observed {
  /** Requests that this window permits in a minute; undefined where it was not said or not credible. */
  readonly perMinute?: number | undefined;
  readonly remaining?: number | undefined;
  /** When `remaining` is whole again. */
  readonly resetAtMs?: number | undefined;
}

const minuteMs = 60_000;
// Upstream's clock and arithmetic are not ours: nothing is sent on the very edge of what is permitted.
const marginMs = 250;
// Assumed: a request has reached upstream two seconds after its sending, even where it is answered much later.
const latestCountMs = 2_000;
// Assumed: a refusal that names no time is over in seconds; when it is not, the next wait is twice as long.
const unnamedHoldMs = 5_000;

/**
 * How many requests of one key may be sent, and when the next (contract 5.1; key-scoped §8, catalogue §8). '60 per
 * minute, bursts up to 20' can be meant as a bucket, a sliding or a fixed window: this keeps to all of them. In no minute
 * are more than `perMinute` sent, and of those the first `burst` at once and the rest spread over the minute, so that
 * a burst is followed by a slower pace instead of a standstill at the end of the minute.
 *
 * Upstream counts a request at some moment between its sending and its answer, and which is not known: so every request
 * is taken to be counted as late as it can be, and the next one as early as it can be.
 */
export class Allowance {
  readonly #clock: Clock;
  readonly #settings: AllowanceSettings;
  readonly #day: DayCount | null;
  #perMinute: number;
  /** Of the last minute, in the order of their sending. */
  #sent: Sending[] = [];
  #order = 0;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #unnamedHoldMs = unnamedHoldMs;
  #window: { order: number; remaining: number; resetAtMs: number } | null = null;

  constructor(clock: Clock, settings: AllowanceSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#perMinute = settings.perMinute;
    this.#day = settings.perDay === null ? null : new DayCount(settings.perDay);
  }

  get perMinute(): number {
    return this.#perMinute;
  }

  get perDay(): number | null {
    return this.#settings.perDay;
  }

  /** In the configured proportion, also when upstream named another rate. */
  get burst(): number {
    const { perMinute, burst } = this.#settings;
    return Math.max(1, Math.min(this.#perMinute, Math.round((burst * this.#perMinute) / perMinute)));
  }

  /**
   * When the `nth` request from now may be sent, at the latest. `keptToday` are left of the day for others; with `anyDay`
   * the day's limit does not count. `hopeful` looks ahead as if what is on its way were answered now.
   */
  readyAtMs(nth = 1, { keptToday = 0, hopeful = false, anyDay = false } = {}): number {
    const now = this.#clock.now();
    return Math.max(
      now,
      this.#paceReadyMs(now, nth, hopeful),
      this.#calmReadyMs(now, nth),
      this.#windowReadyMs(now, nth),
      (anyDay ? null : this.#day?.readyAtMs(now, nth + keptToday)) ?? now,
    );
  }

  /** Requests that could be sent at this moment. */
  get remaining(): number {
    const now = this.#clock.now();
    let low = 0;
    let high = this.burst;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.readyAtMs(middle) <= now) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  get remainingToday(): number | null {
    return this.#day?.remaining(this.#clock.now()) ?? null;
  }

  /** When all of the burst can be had again; null when it can now. */
  get resetAtMs(): number | null {
    const now = this.#clock.now();
    const readyMs = this.readyAtMs(this.burst);
    return readyMs > now ? readyMs : null;
  }

  /** Takes one request from the allowance, whether or not it was ready. */
  spend(): Spent {
    const now = this.#clock.now();
    const sending: Sending = { countedByMs: now + latestCountMs };
    const order = ++this.#order;
    this.#forget(now);
    this.#sent.push(sending);
    this.#lastSentMs = now;
    this.#day?.add(now, 1);
    return {
      order,
      answered: () => {
        sending.countedByMs = Math.min(sending.countedByMs, this.#clock.now());
      },
      giveBack: () => {
        const at = this.#sent.indexOf(sending);
        if (at < 0) return;
        this.#sent.splice(at, 1);
        this.#day?.add(now, -1);
      },
    };
  }

  /**
   * Upstream refused for so long: until then nothing is sent, and for a minute after it one by one, so that the restart
   * is not the next burst. Null where it did not say how long. Gives the milliseconds that are left.
   */
  refuse(forMs: number | null): number {
    const now = this.#clock.now();
    if (forMs !== null) {
      this.#heldUntilMs = Math.max(this.#heldUntilMs, now + forMs);
    } else if (now >= this.#heldUntilMs) {
      // Those refused together are one refusal; one that follows on the heels of another waits twice as long.
      const soon = now < this.#heldUntilMs + minuteMs;
      this.#unnamedHoldMs = soon ? Math.min(minuteMs, this.#unnamedHoldMs * 2) : unnamedHoldMs;
      this.#heldUntilMs = now + this.#unnamedHoldMs;
    }
    return this.#heldUntilMs - now;
  }

  /** Until when upstream has asked for silence; null when it has not, or it is over. */
  get heldUntilMs(): number | null {
    return this.#clock.now() < this.#heldUntilMs ? this.#heldUntilMs : null;
  }

  /** Upstream's own count wins over ours (contract 2), where it is about a request sent later than what we know. */
  observe(spent: Spent, { perMinute, remaining, resetAtMs }: Observed): void {
    if (perMinute !== undefined) this.#perMinute = perMinute;
    if (remaining === undefined || resetAtMs === undefined) return;
    if (this.#window && spent.order < this.#window.order) return;
    this.#window = { order: spent.order, remaining, resetAtMs };
  }

  #paceReadyMs(now: number, nth: number, hopeful: boolean): number {
    let readyMs = now + this.#spanMs(nth);
    // Up to the burst there is nothing to wait for.
    for (let back = Math.max(1, this.burst - nth + 1); back <= this.#sent.length; back++) {
      const countedByMs = this.#sent[this.#sent.length - back]?.countedByMs ?? now;
      readyMs = Math.max(
        readyMs,
        (hopeful ? Math.min(countedByMs, now) : countedByMs) + this.#spanMs(back + nth),
      );
    }
    return readyMs;
  }

  /** The shortest time in which `count` requests may be counted. */
  #spanMs(count: number): number {
    const { burst } = this;
    if (count <= burst) return 0;
    const bucketMs = (count - burst) * (minuteMs / this.#perMinute);
    if (count > this.#perMinute) return Math.max(minuteMs, bucketMs) + marginMs;
    // The pace starts at that of a bucket, `perMinute` a minute, and slackens towards the end of the minute.
    const part = (count - burst) / (this.#perMinute - burst);
    return bucketMs + (part * minuteMs - bucketMs) * part + marginMs;
  }

  #calmReadyMs(now: number, nth: number): number {
    if (now > this.#heldUntilMs + minuteMs) return now;
    const paceMs = minuteMs / this.#perMinute;
    return Math.max(this.#heldUntilMs, this.#lastSentMs + paceMs) + (nth - 1) * paceMs;
  }

  #windowReadyMs(now: number, nth: number): number {
    const window = this.#window;
    if (!window || now >= window.resetAtMs) return now;
    // What was sent after the request that told it is not in its count.
    const left = window.remaining - (this.#order - window.order);
    return nth > left ? window.resetAtMs : now;
  }

  #forget(now: number): void {
    const horizonMs = now - minuteMs - marginMs;
    const first = this.#sent.findIndex(({ countedByMs }) => countedByMs > horizonMs);
    this.#sent.splice(0, first < 0 ? this.#sent.length : first);
    if (now >= this.#lastSentMs) return;
    // The machine's clock was set back: what it says of the future has been.
    for (const sending of this.#sent)
      sending.countedByMs = Math.min(sending.countedByMs, now + latestCountMs);
  }
}

interface Sending {
  /** Upstream has counted it by then. */
  countedByMs: number;
}
