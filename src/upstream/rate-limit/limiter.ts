import type { Clock } from '../../clock.js';
import { DailyQuota, type SlotCount } from './daily-quota.js';
import { RetryAfter } from './retry-after.js';
import { type Rate, SlidingWindow, sendingAt } from './sliding-window.js';

/** What upstream permits one key. */
export interface RateLimitSettings {
  readonly perMinute: number;
  /** Requests that may be sent at once. */
  readonly burst: number;
  /** Requests in 24 hours; null where there is no such limit. */
  readonly perDay: number | null;
}

/** One request that was taken from the budget. */
export interface Permit {
  /** Place in the order of sending, for `observe`. */
  readonly order: number;
  /** Upstream has counted it by now: it has answered, or never will. */
  answered(): void;
  /** It was not sent after all. */
  giveBack(): void;
  /** It is sent only now. */
  sentNow(): void;
}

/** What upstream's own headers said about one window of its counting (docs/interfaces.md C8). */
export interface ObservedLimit {
  /** Requests that this window permits in a minute; undefined where it was not said or not credible. */
  readonly perMinute?: number | undefined;
  readonly remaining?: number | undefined;
  /** When `remaining` is whole again. */
  readonly resetAtMs?: number | undefined;
}

const minuteMs = 60_000;
/**
 * How many requests of one key may be sent, and when the next (docs/behaviour.md 5.1; docs/interfaces.md P8, C8). '60 per
 * minute, bursts up to 20' can be meant as a bucket, a sliding or a fixed window: this keeps to all of them. In no minute
 * are more than `perMinute` sent, and of those the first `burst` at once and the rest spread over the minute, so that
 * a burst is followed by a slower pace instead of a standstill at the end of the minute.
 *
 * Upstream counts a request at some moment between its sending and its answer, and which is not known: so every request
 * is taken to be counted as late as it can be, and the next one as early as it can be.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #settings: RateLimitSettings;
  readonly #day: DailyQuota | null;
  readonly #pace = new SlidingWindow();
  #part: Part | null = null;
  #perMinute: number;
  #order = 0;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  readonly #hold = new RetryAfter();
  #window: { readonly order: number; readonly remaining: number; readonly resetAtMs: number } | null = null;

  constructor(clock: Clock, settings: RateLimitSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#perMinute = settings.perMinute;
    this.#day = settings.perDay === null ? null : new DailyQuota(settings.perDay);
  }

  get perMinute(): number {
    return this.#rate.perMinute;
  }

  get perDay(): number | null {
    return this.#part?.perDay ?? this.#settings.perDay;
  }

  get burst(): number {
    return this.#rate.burst;
  }

  /** What the key may do, also while this instance keeps to a part of it. */
  get whole(): Rate {
    const { perMinute, burst } = this.#settings;
    // In the configured proportion, also when upstream named another rate.
    const proportional = Math.round((burst * this.#perMinute) / perMinute);
    return {
      perMinute: this.#perMinute,
      burst: Math.max(1, Math.min(this.#perMinute, proportional)),
    };
  }

  /**
   * When the `nth` request from now may be sent, at the latest. `keptToday` are left of the day for others; with `anyDay`
   * the day's limit does not count. `hopeful` looks ahead as if what is on its way were answered now.
   */
  readyAtMs(nth = 1, { keptToday = 0, hopeful = false, anyDay = false } = {}): number {
    const now = this.#clock.now();
    const part = this.#part;
    return Math.max(
      now,
      this.#pace.readyAtMs(this.whole, now, nth, hopeful),
      part?.pace.readyAtMs(this.#rate, now, nth, hopeful) ?? now,
      this.#hold.readyAtMs(now, nth, { paceMs: minuteMs / this.perMinute, lastSentMs: this.#lastSentMs }),
      this.#windowReadyMs(now, nth),
      (anyDay ? null : this.#day?.readyAtMs(now, nth + keptToday)) ?? now,
      (anyDay ? null : part?.day?.readyAtMs(now, nth + keptToday)) ?? now,
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

  /** Takes one request from the budget, whether or not it was ready. */
  spend(): Permit {
    const now = this.#clock.now();
    const sending = sendingAt(now);
    const order = ++this.#order;
    const part = this.#part;
    this.#note(now);
    for (const pace of [this.#pace, part?.pace]) pace?.add(sending, now);
    for (const day of [this.#day, part?.day]) day?.add(now, 1);
    return {
      order,
      answered: () => {
        sending.countedByMs = Math.min(sending.countedByMs, this.#clock.now());
      },
      giveBack: () => {
        if (!this.#pace.remove(sending)) return;
        this.#day?.add(now, -1);
        if (part?.pace.remove(sending)) part.day?.add(now, -1);
        const window = this.#window;
        if (window && order > window.order) this.#window = { ...window, remaining: window.remaining + 1 };
      },
      sentNow: () => {
        Object.assign(sending, sendingAt(this.#clock.now()));
      },
    };
  }

  /**
   * Another instance has sent one (docs/behaviour.md 8): it counts like those that are sent here. What is returned is to be told
   * when it was answered.
   */
  spentElsewhere(atMs: number): (answeredAtMs: number) => void {
    const now = this.#clock.now();
    const sending = sendingAt(Math.min(atMs, now));
    this.#order++;
    this.#note(sending.atMs);
    this.#pace.add(sending, now);
    return (answeredAtMs) => {
      sending.countedByMs = Math.min(sending.countedByMs, Math.max(answeredAtMs, sending.atMs));
    };
  }

  /** Others have sent so many, which count for the day. */
  countElsewhere(count: number): void {
    this.#day?.add(this.#clock.now(), count);
  }

  /** All that was sent of the day, by whichever instance; `pending` are about to be sent by this one. */
  learnDay(counts: readonly SlotCount[], pending: number): void {
    this.#day?.learn(counts, this.#clock.now(), pending);
  }

  /**
   * Out of touch with the others, each keeps to an equal part of what is permitted, and answers for an equal part of what
   * all of them have sent: so together they still keep to the whole.
   */
  keepToPart(parts: number): void {
    if (this.#part !== null || parts <= 1) return;
    const { perDay } = this.#settings;
    this.#part = {
      parts,
      pace: this.#pace.part(parts),
      day: this.#day?.part(parts) ?? null,
      perDay: perDay === null ? null : partOf(perDay, parts),
    };
  }

  keepToWhole(): void {
    this.#part = null;
  }

  /**
   * Upstream refused for so long: until then nothing is sent, and for a minute after it one by one, so that the restart
   * is not the next burst. Null where it did not say how long. Gives the milliseconds that are left.
   */
  refuse(forMs: number | null): number {
    return this.#hold.refuse(this.#clock.now(), forMs);
  }

  /** Another instance was refused. `unnamedMs`: for how long it holds where upstream named no time. */
  refusedElsewhere(untilMs: number, unnamedMs: number | null): void {
    this.#hold.refusedElsewhere(untilMs, unnamedMs);
  }

  /** Until when upstream has asked for silence; null when it has not, or it is over. */
  get retryAfterUntilMs(): number | null {
    return this.#clock.now() < this.#hold.untilMs ? this.#hold.untilMs : null;
  }

  /**
   * Upstream's own count wins over ours (docs/behaviour.md 2), where it is about a request sent later than what we know. True
   * where it permits another rate, or less, than was known here.
   */
  observe(permit: Permit, observed: ObservedLimit): boolean {
    return this.#observe(permit.order, observed);
  }

  /** Another instance was told so with a request that it sent then. */
  observedElsewhere(sentAtMs: number, observed: ObservedLimit): void {
    this.#observe(this.#order - this.#pace.sentSince(sentAtMs), observed);
  }

  #observe(order: number, { perMinute, remaining, resetAtMs }: ObservedLimit): boolean {
    const isOther = perMinute !== undefined && perMinute !== this.#perMinute;
    if (perMinute !== undefined) this.#perMinute = perMinute;
    if (remaining === undefined || resetAtMs === undefined) return isOther;
    if (this.#window && order < this.#window.order) return isOther;
    this.#window = { order, remaining, resetAtMs };
    return isOther || remaining < this.#perMinute - this.#pace.sentSince(this.#clock.now() - minuteMs);
  }

  get #rate(): Rate {
    const { whole } = this;
    if (!this.#part) return whole;
    const { parts } = this.#part;
    return { perMinute: partOf(whole.perMinute, parts), burst: partOf(whole.burst, parts) };
  }

  #windowReadyMs(now: number, nth: number): number {
    const window = this.#window;
    if (!window || now >= window.resetAtMs) return now;
    // What was sent after the request that told it is not in its count.
    const left = Math.floor(window.remaining / (this.#part?.parts ?? 1)) - (this.#order - window.order);
    return nth > left ? window.resetAtMs : now;
  }

  #note(sentAtMs: number): void {
    const now = this.#clock.now();
    if (now < this.#lastSentMs) for (const pace of [this.#pace, this.#part?.pace]) pace?.setBack(now);
    this.#lastSentMs = Math.max(Math.min(this.#lastSentMs, now), sentAtMs);
  }
}

/** What an instance keeps to while it is out of touch with the others. */
interface Part {
  readonly parts: number;
  readonly pace: SlidingWindow;
  readonly day: DailyQuota | null;
  readonly perDay: number | null;
}

function partOf(count: number, parts: number): number {
  return Math.max(1, Math.floor(count / parts));
}
