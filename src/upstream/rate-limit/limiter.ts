import { type Clock, earliest, type ForwardMs, latest, longAgo, minuteMs, plus } from '../../clock.js';
import { DailyQuota, type SlotCount } from './daily-quota.js';
import { RetryAfter } from './retry-after.js';
import { type Rate, SlidingWindow, sendingAt } from './sliding-window.js';

/** The rate limit of one key, as upstream documents it. */
export interface RateLimitSettings {
  readonly perMinute: number;
  /** Requests that may be sent at once. */
  readonly burst: number;
  /** Requests in 24 hours; null where there is no such limit. */
  readonly perDay: number | null;
}

/** Leave to send one request, already taken from the budget. */
export interface Permit {
  /** Number in the order of sending, for `observe`. */
  readonly order: number;
  /** Upstream has counted the request by now: it has answered, or never will. */
  answered(): void;
  /** The request was not sent after all. */
  giveBack(): void;
  /** The request is sent only now. */
  sentNow(): void;
}

/** Upstream's own headers about one window of its count (docs/interfaces.md C8). */
export interface ObservedLimit {
  /** Requests that this window permits in a minute; undefined where the header is missing or not credible. */
  readonly perMinute?: number | undefined;
  readonly remaining?: number | undefined;
  /** When the window is full again. */
  readonly resetAtMs?: ForwardMs | undefined;
}

/**
 * Decides how many requests of one key may be sent, and when the next (docs/behaviour.md 5.1; docs/interfaces.md P8,
 * C8). '60 per minute, bursts up to 20' can mean a token bucket, a sliding or a fixed window: this keeps to all three.
 * In no minute are more than `perMinute` sent, the first `burst` of them at once and the rest spread over the minute,
 * so that a burst is followed by a slower rate instead of a standstill at the end of the minute.
 *
 * Upstream counts a request at some unknown moment between its sending and its response: so every request is taken to
 * be counted as late as it can be, and the next one as early as it can be.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #settings: RateLimitSettings;
  readonly #dailyQuota: DailyQuota | null;
  readonly #slidingWindow = new SlidingWindow();
  #part: Part | null = null;
  #perMinute: number;
  #order = 0;
  #lastSentMs: ForwardMs = longAgo;
  readonly #retryAfter = new RetryAfter();
  #observedWindow: {
    readonly order: number;
    readonly remaining: number;
    readonly resetAtMs: ForwardMs;
  } | null = null;

  constructor(clock: Clock, settings: RateLimitSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#perMinute = settings.perMinute;
    this.#dailyQuota = settings.perDay === null ? null : new DailyQuota(settings.perDay);
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

  /** The whole limit of the key, also while this instance keeps to a part of it. */
  get whole(): Rate {
    const { perMinute, burst } = this.#settings;
    // The burst keeps the configured proportion, also when upstream named another rate.
    const proportional = Math.round((burst * this.#perMinute) / perMinute);
    return {
      perMinute: this.#perMinute,
      burst: Math.max(1, Math.min(this.#perMinute, proportional)),
    };
  }

  /**
   * When the `nth` request from now may be sent, at the latest. `reservedToday` requests of the day are reserved for
   * others; `anyDay` ignores the daily quota. `hopeful` assumes that all requests in flight are answered now.
   */
  readyAtMs(nth = 1, { reservedToday = 0, hopeful = false, anyDay = false } = {}): ForwardMs {
    const now = this.#clock.now();
    const part = this.#part;
    return latest(
      now,
      this.#slidingWindow.readyAtMs(this.whole, now, nth, hopeful),
      part?.slidingWindow.readyAtMs(this.#rate, now, nth, hopeful) ?? now,
      this.#retryAfter.readyAtMs(now, nth, {
        spacingMs: minuteMs / this.perMinute,
        lastSentMs: this.#lastSentMs,
      }),
      this.#windowReadyMs(now, nth),
      (anyDay ? null : this.#dailyQuota?.readyAtMs(now, nth + reservedToday)) ?? now,
      (anyDay ? null : part?.dailyQuota?.readyAtMs(now, nth + reservedToday)) ?? now,
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
    return this.#dailyQuota?.remaining(this.#clock.now()) ?? null;
  }

  /** When the whole burst can be sent again; null when it can now. */
  get resetAtMs(): ForwardMs | null {
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
    this.#recordSent(now);
    for (const slidingWindow of [this.#slidingWindow, part?.slidingWindow]) slidingWindow?.add(sending, now);
    for (const dailyQuota of [this.#dailyQuota, part?.dailyQuota]) dailyQuota?.add(now, 1);
    return {
      order,
      answered: () => {
        sending.countedByMs = earliest(sending.countedByMs, this.#clock.now());
      },
      giveBack: () => {
        if (!this.#slidingWindow.remove(sending)) return;
        this.#dailyQuota?.add(now, -1);
        if (part?.slidingWindow.remove(sending)) part.dailyQuota?.add(now, -1);
        const window = this.#observedWindow;
        if (window && order > window.order)
          this.#observedWindow = { ...window, remaining: window.remaining + 1 };
      },
      sentNow: () => {
        Object.assign(sending, sendingAt(this.#clock.now()));
      },
    };
  }

  /**
   * Another instance has sent a request (docs/behaviour.md 8): it counts like one sent here. Call the returned function
   * with the time of its response.
   */
  spentByPeer(atMs: ForwardMs): (answeredAtMs: ForwardMs) => void {
    const now = this.#clock.now();
    const sending = sendingAt(earliest(atMs, now));
    this.#order++;
    this.#recordSent(sending.atMs);
    this.#slidingWindow.add(sending, now);
    return (answeredAtMs) => {
      sending.countedByMs = earliest(sending.countedByMs, latest(answeredAtMs, sending.atMs));
    };
  }

  /** Other instances have sent `count` requests, which count towards the daily quota. */
  countOfPeers(count: number): void {
    this.#dailyQuota?.add(this.#clock.now(), count);
  }

  /** Takes over the day's requests of all instances; `pending` are about to be sent by this one. */
  learnDay(counts: readonly SlotCount[], pending: number): void {
    this.#dailyQuota?.learn(counts, this.#clock.now(), pending);
  }

  /**
   * While partitioned, each instance keeps to an equal part of the limit and accounts for an equal part of all that was
   * sent, so that together they still keep to the whole. Where it keeps to a part already, only a smaller one counts: what
   * it has accounted for until then stays.
   */
  keepToPart(parts: number): void {
    if (parts <= (this.#part?.parts ?? 1)) return;
    const { perDay } = this.#settings;
    this.#part = {
      parts,
      slidingWindow: this.#part?.slidingWindow ?? this.#slidingWindow.part(parts),
      dailyQuota: this.#dailyQuota?.part(parts) ?? null,
      perDay: perDay === null ? null : partOf(perDay, parts),
    };
  }

  keepToWhole(): void {
    this.#part = null;
  }

  /**
   * Upstream refused for `forMs`: until then nothing is sent, and for a minute after it requests go one by one, so that
   * the restart is not the next burst. Null where upstream named no time. Returns the milliseconds that are left.
   */
  refuse(forMs: number | null): number {
    return this.#retryAfter.refuse(this.#clock.now(), forMs);
  }

  /** Another instance was refused. `unnamedMs`: length of the pause where upstream named none. */
  refusedAtPeer(untilMs: ForwardMs, unnamedMs: number | null): void {
    this.#retryAfter.refusedAtPeer(untilMs, unnamedMs);
  }

  /** End of the pause that upstream asked for; null when there is none, or it is over. */
  get retryAfterUntilMs(): ForwardMs | null {
    return this.#clock.now() < this.#retryAfter.untilMs ? this.#retryAfter.untilMs : null;
  }

  /**
   * Upstream's own count overrides ours (docs/behaviour.md 2) where it belongs to a later request than the last one
   * observed. Returns true where upstream permits another rate, or less, than was known here.
   */
  observe(permit: Permit, observed: ObservedLimit): boolean {
    return this.#observe(permit.order, observed);
  }

  /** Another instance received this with the response to a request that it sent at `sentAtMs`. */
  observedByPeer(sentAtMs: ForwardMs, observed: ObservedLimit): void {
    this.#observe(this.#order - this.#slidingWindow.sentSince(sentAtMs), observed);
  }

  #observe(order: number, { perMinute, remaining, resetAtMs }: ObservedLimit): boolean {
    const isOther = perMinute !== undefined && perMinute !== this.#perMinute;
    if (perMinute !== undefined) this.#perMinute = perMinute;
    if (remaining === undefined || resetAtMs === undefined) return isOther;
    if (this.#observedWindow && order < this.#observedWindow.order) return isOther;
    this.#observedWindow = { order, remaining, resetAtMs };
    return (
      isOther ||
      remaining < this.#perMinute - this.#slidingWindow.sentSince(plus(this.#clock.now(), -minuteMs))
    );
  }

  get #rate(): Rate {
    const { whole } = this;
    if (!this.#part) return whole;
    const { parts } = this.#part;
    return { perMinute: partOf(whole.perMinute, parts), burst: partOf(whole.burst, parts) };
  }

  #windowReadyMs(now: ForwardMs, nth: number): ForwardMs {
    const window = this.#observedWindow;
    if (!window || now >= window.resetAtMs) return now;
    // Requests sent after the observed one are not in its count.
    const left = Math.floor(window.remaining / (this.#part?.parts ?? 1)) - (this.#order - window.order);
    return nth > left ? window.resetAtMs : now;
  }

  #recordSent(sentAtMs: ForwardMs): void {
    const now = this.#clock.now();
    if (now < this.#lastSentMs)
      for (const slidingWindow of [this.#slidingWindow, this.#part?.slidingWindow])
        slidingWindow?.setBack(now);
    this.#lastSentMs = latest(earliest(this.#lastSentMs, now), sentAtMs);
  }
}

/** The part of the limit that an instance keeps to while it is partitioned. */
interface Part {
  readonly parts: number;
  readonly slidingWindow: SlidingWindow;
  readonly dailyQuota: DailyQuota | null;
  readonly perDay: number | null;
}

function partOf(count: number, parts: number): number {
  return Math.max(1, Math.floor(count / parts));
}
