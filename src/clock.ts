declare const on: unique symbol;

/** A moment on one clock: where one of another clock, or a duration, is expected it does not compile. */
export type Moment<Kind extends string> = number & { readonly [on]: Kind };

/** Milliseconds of the clock that only runs forward. */
export type ForwardMs = Moment<'forward clock in ms'>;
/** A date in milliseconds since 1970. */
export type UnixMs = Moment<'date in ms'>;
/** A date in seconds since 1970. */
export type UnixS = Moment<'date in s'>;

/** A length of time, which any plain number of milliseconds is and a moment is not. */
export type DurationMs = number & { readonly [on]?: never };

/** A number from outside, such as one of a cursor, taken for a moment. */
export function asMoment<Kind extends string>(value: number): Moment<Kind> {
  return value as Moment<Kind>;
}

/** Before and after all other moments of any clock. */
export const longAgo = asMoment<never>(Number.NEGATIVE_INFINITY);
export const forever = asMoment<never>(Number.POSITIVE_INFINITY);

/** `byMs` after `atMs`, or before it where that is negative. */
export function plus<Kind extends `${string} in ms`>(atMs: Moment<Kind>, byMs: DurationMs): Moment<Kind> {
  return asMoment(atMs + byMs);
}

/** The last multiple of `stepMs` at or before `atMs`, and the first at or after it. */
export function floorTo<Kind extends `${string} in ms`>(
  stepMs: DurationMs,
  atMs: Moment<Kind>,
): Moment<Kind> {
  return asMoment(Math.floor(atMs / stepMs) * stepMs);
}
export function ceilTo<Kind extends `${string} in ms`>(stepMs: DurationMs, atMs: Moment<Kind>): Moment<Kind> {
  return asMoment(Math.ceil(atMs / stepMs) * stepMs);
}

/** The seconds of a date as milliseconds. */
export function msOf(unixS: UnixS): UnixMs {
  return asMoment(unixS * 1000);
}

/** `Math.min` and `Math.max` of moments on one clock. */
export const earliest = Math.min as OneOf;
export const latest = Math.max as OneOf;
type OneOf = <Kind extends string>(...moments: readonly Moment<Kind>[]) => Moment<Kind>;

/** The moment of the forward clock at a date, by what the wall clock shows now. */
export function momentAt(clock: Pick<Clock, 'now' | 'wallMs'>, dateMs: UnixMs): ForwardMs {
  const nowMs = clock.now();
  return plus(nowMs, dateMs - clock.wallMs(nowMs));
}

/** The only source of time for the gateway and the sandbox, so that tests can drive it. */
export interface Clock {
  /**
   * Milliseconds of a clock that only runs forward, possibly with a fraction: for ages, pauses, limits and expiries. It
   * is no date; the processes of one machine share it.
   */
  now(): ForwardMs;
  /**
   * The date at `atMs` of the forward clock, by default now, in milliseconds since 1970. It follows the wall clock, which
   * can be set: use it to name dates and to compare with those of upstream, never to measure.
   */
  wallMs(atMs?: ForwardMs): UnixMs;
  /** Runs `run` once after `delayMs`; cancelling twice, or after it ran, does nothing. */
  timer(delayMs: DurationMs, run: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted. */
  sleep(delayMs: DurationMs, signal?: AbortSignal): Promise<void>;
}

export interface Timer {
  cancel(): void;
}

// setTimeout takes at most 2^31 − 1 ms and fires at once above that.
const longestTimeoutMs = 2 ** 31 - 1;

// A thread that is interrupted between reading the two clocks sees them apart by some milliseconds; a smaller difference
// is not a wall clock that was set. The same moment then keeps the same date, to the millisecond.
const smallestStepMs = 100;
let forwardToWallMs = Number.NEGATIVE_INFINITY;

/** The machine's clock. Its timers are unreferenced: only sockets and servers keep the process alive. */
export const realClock: Clock = {
  // Unlike `performance.now`, it has the same origin in all processes of the machine.
  now: () => asMoment(Number(process.hrtime.bigint() / 1_000_000n)),
  wallMs(atMs = realClock.now()) {
    const apartMs = Date.now() - realClock.now();
    if (!(Math.abs(apartMs - forwardToWallMs) < smallestStepMs)) forwardToWallMs = apartMs;
    return asMoment(atMs + forwardToWallMs);
  },
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
  readonly dueMs: ForwardMs;
  readonly order: number;
  readonly run: () => void;
}

// Far from any date, so that a test fails where the two clocks are taken for each other.
const manualStartMs = 1_000_000_000;

/** A clock that stands still until `advance` moves it. Timers fire in the order of their due times. */
export class ManualClock implements Clock {
  #nowMs: ForwardMs = asMoment(manualStartMs);
  #forwardToWallMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#forwardToWallMs = startMs - manualStartMs;
  }

  now(): ForwardMs {
    return this.#nowMs;
  }

  wallMs(atMs = this.#nowMs): UnixMs {
    return asMoment(atMs + this.#forwardToWallMs);
  }

  /** Sets the wall clock forward, or back where `byMs` is negative. No time passes. */
  stepWall(byMs: number): void {
    this.#forwardToWallMs += byMs;
  }

  /** Number of timers that have not fired; tests read it to see that polling has stopped. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  timer(delayMs: DurationMs, run: () => void): Timer {
    const pending: Pending = { dueMs: plus(this.#nowMs, Math.max(0, delayMs)), order: this.#order++, run };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  sleep(delayMs: DurationMs, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Advances time by `ms`, fires the timers that fall due, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = plus(this.#nowMs, ms);
    await settle();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#pending.delete(next);
      this.#nowMs = latest(this.#nowMs, next.dueMs);
      next.run();
      await settle();
    }
    this.#nowMs = untilMs;
    await settle();
  }

  #next(untilMs: ForwardMs): Pending | undefined {
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

function sleepOn(clock: Clock, delayMs: DurationMs, signal?: AbortSignal): Promise<void> {
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
