import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, earliest, type ForwardMs, minuteMs, plus } from '../../clock.js';
import { type GatewayError, type Source, UpstreamRateLimited, UpstreamUnavailable } from '../../errors.js';
import type { Store } from '../../store/store.js';
import { interfaceName } from '../decode/response.js';
import type { Priority, UpstreamStatus } from '../read/read.js';
import type { RequestControl, Urgency } from '../resilience/coalesced-request.js';
import { SharedLimiter } from './cluster/shared-limiter.js';
import { Limiter, type Permit, type RateLimitSettings } from './limiter.js';
import { type QueuedRequest, RequestQueue } from './request-queue.js';
import { observedIn, refusedForMs } from './response-headers.js';

/** Leave to send one request now. Its holder calls one of the two functions, once. */
export interface SendPermit {
  /** Nothing was sent. */
  giveBack(): void;
  /**
   * The request is over: the rate limit learns from the response, where there was one. Returns the pause that upstream
   * asked for, in seconds.
   */
  ended(response: ResponseHead | undefined): number | undefined;
}

interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

interface RateLimitOptions {
  readonly source: Source;
  /** Unique to interface, address and key. */
  readonly name: string;
  /** All instances that share the store keep to one budget. */
  readonly store: Store;
  readonly clock: Clock;
  readonly rateLimit: RateLimitSettings;
  /** UPSTREAM_MAX_WAIT_MS: the longest wait of a client's read. */
  readonly maxWaitMs: number;
}

/**
 * The rate limit of one key: the request queue before the limiter, and what other instances send with the same key. It
 * keeps to the documented limits and learns from the responses (docs/behaviour.md 5.1, 5.2, 8).
 */
export class RateLimit {
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #queue: RequestQueue;
  readonly #shared: SharedLimiter;
  /** The last pause was asked for by an unavailable interface rather than because of the rate limit. */
  #isUnavailable = false;
  readonly #longestWaitMs: Readonly<Record<Priority, number>>;

  constructor({ source, name, store, clock, rateLimit, maxWaitMs }: RateLimitOptions) {
    this.#source = source;
    this.#clock = clock;
    // No client waits for a feed's poll or a background request: waiting longer is better than failing.
    this.#longestWaitMs = {
      query: maxWaitMs,
      feed: Math.max(maxWaitMs, 30_000),
      background: Math.max(maxWaitMs, minuteMs),
    };
    this.#limiter = new Limiter(clock, rateLimit);
    this.#queue = new RequestQueue(clock, this.#limiter, (readyInMs) => this.#refusal(readyInMs));
    this.#shared = new SharedLimiter({
      store,
      name,
      clock,
      limiter: this.#limiter,
      queue: this.#queue,
      onPaused: (isUnavailable) => {
        this.#isUnavailable = isUnavailable;
      },
    });
  }

  /**
   * Resolves when the limiter grants a permit; throws `UpstreamRateLimited` as soon as it is clear that it will not
   * within `leftMs`.
   */
  async permit(control: RequestControl, leftMs: number): Promise<SendPermit> {
    const permit = await this.#granted(control, leftMs);
    const sentAtMs = this.#clock.now();
    return {
      giveBack: () => {
        permit.giveBack();
        this.#queue.serve();
      },
      ended: (response) => {
        const pauseS = response && this.#learn(response, permit, sentAtMs);
        permit.answered();
        this.#shared.answered(permit);
        this.#queue.serve();
        return pauseS;
      },
    };
  }

  /** The longest that a read of this scope waits in the request queue. */
  longestWaitMs({ priority, maxWaitMs }: Pick<Urgency, 'priority' | 'maxWaitMs'>): number {
    return maxWaitMs ?? this.#longestWaitMs[priority];
  }

  /** The time that a patient read still has after one with less patience, with which it was coalesced at `sinceMs`; 0 for others. */
  patienceLeftMs(
    scope: Pick<Urgency, 'priority' | 'maxWaitMs'>,
    coalesced: RequestControl,
    sinceMs: ForwardMs,
  ) {
    const patienceMs = this.longestWaitMs(scope);
    const isMorePatient = scope.maxWaitMs !== undefined && this.longestWaitMs(coalesced) < patienceMs;
    return isMorePatient ? Math.max(0, patienceMs - (this.#clock.now() - sinceMs)) : 0;
  }

  close(): void {
    this.#shared.close();
  }

  status(): Pick<UpstreamStatus, 'rateLimit' | 'retryAfterUntilMs' | 'waiting'> {
    const { whole, remaining, remainingToday, resetAtMs, retryAfterUntilMs } = this.#limiter;
    return {
      rateLimit: { ...whole, remaining, remainingToday, resetAtMs },
      retryAfterUntilMs,
      waiting: this.#queue.waiting,
    };
  }

  /**
   * Waits for a permit, here and among all instances: where another instance was first, the request is queued again.
   */
  async #granted(control: RequestControl, leftMs: number): Promise<Permit> {
    const queuedMs = this.#clock.now();
    const { signal } = control;
    let maxWaitMs = Math.min(leftMs, this.longestWaitMs(control));
    let untilMs = plus(queuedMs, maxWaitMs);
    let queued: QueuedRequest | undefined;
    control.queued = {
      raise: (by) => {
        const raisedMs = this.longestWaitMs(by);
        untilMs = earliest(untilMs, plus(this.#clock.now(), raisedMs));
        queued?.raise(by.priority, by.operationKey, raisedMs);
      },
      refusal: () => this.#refusal(this.#queue.readyInMs(control)),
    };
    try {
      for (let isBack = false; ; isBack = true) {
        const { priority, operationKey } = control;
        queued = this.#queue.join({ priority, operationKey, signal, maxWaitMs, isBack });
        this.#shared.noteWaiting();
        const permit = await queued.granted;
        const entered = this.#shared.enter(priority, permit);
        if (entered === 'unshared') return permit;
        if ((await entered) === 'entered') {
          permit.sentNow();
          return permit;
        }
        // Other instances have sent meanwhile, or are partitioned now: the permit may exceed the budget.
        permit.giveBack();
        maxWaitMs = untilMs - this.#clock.now();
      }
    } finally {
      control.queued = undefined;
      control.waitedMs += this.#clock.now() - queuedMs;
    }
  }

  #learn({ status, headers }: ResponseHead, permit: Permit, sentAtMs: ForwardMs): number | undefined {
    // docs/interfaces.md C8 documents these headers; their meaning on the project interface is not known.
    if (this.#source === 'CATALOGUE') {
      const observed = observedIn(headers, this.#clock);
      if (this.#limiter.observe(permit, observed)) this.#shared.observed(sentAtMs, observed);
    }
    return this.#applyRetryAfter(status, headers);
  }

  /** docs/behaviour.md 5.1: 429, or a `Retry-After` on any failure, pauses all requests of this key. */
  #applyRetryAfter(status: number, headers: IncomingHttpHeaders): number | undefined {
    if (status < 400) return undefined;
    const overLimit = status === 429;
    const namedMs = refusedForMs(headers, this.#clock.wallMs(), overLimit);
    if (!overLimit && namedMs === null) return undefined;
    this.#isUnavailable = !overLimit;
    const pauseMs = this.#limiter.refuse(namedMs);
    this.#shared.paused(pauseMs, { isNamed: namedMs !== null, isUnavailable: this.#isUnavailable });
    this.#queue.refuseHopeless();
    return inSeconds(pauseMs);
  }

  #refusal(readyInMs: number): GatewayError {
    const name = interfaceName(this.#source);
    const retryAfterS = inSeconds(readyInMs);
    return this.#isUnavailable && this.#limiter.retryAfterUntilMs !== null
      ? new UpstreamUnavailable(`The ${name} interface asked for a pause of ${retryAfterS} s`, {
          retryAfterS,
        })
      : new UpstreamRateLimited(
          `The request limit of the ${name} interface is spent: it can be asked again in ${retryAfterS} s`,
          { retryAfterS },
        );
  }
}

function inSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
