import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../clock.js';
import { type GatewayError, type Source, UpstreamRateLimited, UpstreamUnavailable } from '../../errors.js';
import type { Store } from '../../store/store.js';
import { interfaceName } from '../decode/response.js';
import type { Priority, UpstreamStatus } from '../read/read.js';
import type { RequestControl } from '../resilience/coalesced-request.js';
import { SharedLimiter } from './cluster/shared-limiter.js';
import { Limiter, type Permit, type RateLimitSettings } from './limiter.js';
import { type QueuedRequest, RequestQueue } from './request-queue.js';
import { observedIn, refusedForMs } from './response-headers.js';

/** An answer and, where it told everyone to wait, for how long. */
export interface Sent<Answer> {
  readonly answer: Answer;
  readonly heldS: number | undefined;
}

interface LimitedSenderOptions {
  readonly source: Source;
  /** Tells interface, address and key apart. */
  readonly name: string;
  /** All instances that share it keep to one budget. */
  readonly store: Store;
  readonly clock: Clock;
  readonly rateLimit: RateLimitSettings;
  /** UPSTREAM_MAX_WAIT_MS: for how long a client's read waits. */
  readonly maxWaitMs: number;
}

/** The one way to upstream for all that use a key: what goes through it keeps to the budget and learns from it. */
export class LimitedSender {
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #queue: RequestQueue;
  readonly #shared: SharedLimiter;
  /** The last hold was for an interface that is away rather than for a limit. */
  #away = false;
  readonly #patienceMs: Readonly<Record<Priority, number>>;

  constructor({ source, name, store, clock, rateLimit, maxWaitMs }: LimitedSenderOptions) {
    this.#source = source;
    this.#clock = clock;
    // No client waits for a feed's poll or for the background: they rather wait than fail.
    this.#patienceMs = {
      query: maxWaitMs,
      feed: Math.max(maxWaitMs, 30_000),
      background: Math.max(maxWaitMs, 60_000),
    };
    this.#limiter = new Limiter(clock, rateLimit);
    this.#queue = new RequestQueue(clock, this.#limiter, (readyInMs) => this.#refusal(readyInMs));
    this.#shared = new SharedLimiter({
      store,
      name,
      clock,
      limiter: this.#limiter,
      queue: this.#queue,
      onHeld: (isAway) => {
        this.#away = isAway;
      },
    });
  }

  /**
   * Sends when the budget has a request to give, or throws `UpstreamRateLimited` as soon as it is clear that it will
   * not in time, which is `leftMs` at most. `send` is called at once then; where `mayStillSend` throws, nothing is sent.
   */
  async send<Answer extends { readonly status: number; readonly headers: IncomingHttpHeaders }>(
    control: RequestControl,
    leftMs: number,
    mayStillSend: () => void,
    send: () => Promise<Answer>,
  ): Promise<Sent<Answer>> {
    const permit = await this.#granted(control, leftMs);
    try {
      mayStillSend();
    } catch (error) {
      permit.giveBack();
      this.#queue.serve();
      throw error;
    }
    const sentAtMs = this.#clock.now();
    try {
      const answer = await send();
      const now = this.#clock.now();
      // docs/interfaces.md C8 documents these headers; what they would mean on the other interface is not known.
      if (this.#source === 'CATALOGUE') {
        const observed = observedIn(answer.headers, now);
        if (this.#limiter.observe(permit, observed)) this.#shared.observed(sentAtMs, observed);
      }
      return { answer, heldS: this.#hold(answer.status, answer.headers, now) };
    } finally {
      permit.answered();
      this.#shared.answered(permit);
      this.#queue.serve();
    }
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

  /** Waits for its turn, here and among all instances: where one of them was first, it stands in line again. */
  async #granted(control: RequestControl, leftMs: number): Promise<Permit> {
    const joinedMs = this.#clock.now();
    const { signal } = control;
    let maxWaitMs = Math.min(leftMs, this.#patienceMs[control.priority]);
    let untilMs = joinedMs + maxWaitMs;
    let place: QueuedRequest | undefined;
    control.raise = (raised, by) => {
      untilMs = Math.min(untilMs, this.#clock.now() + this.#patienceMs[raised]);
      place?.raise(raised, by, this.#patienceMs[raised]);
    };
    try {
      for (let isBack = false; ; isBack = true) {
        const { priority, operationKey: turn } = control;
        place = this.#queue.join({ priority, turn, signal, maxWaitMs, isBack });
        this.#shared.noteWaiting();
        const permit = await place.granted;
        const entered = this.#shared.enter(priority, permit);
        if (entered === 'alone') return permit;
        if ((await entered) === 'entered') {
          permit.sentNow();
          return permit;
        }
        // Others have sent meanwhile, or are out of touch now: what was granted may be more than there is.
        permit.giveBack();
        maxWaitMs = untilMs - this.#clock.now();
      }
    } finally {
      control.raise = undefined;
      control.waitedMs += this.#clock.now() - joinedMs;
    }
  }

  /** docs/behaviour.md 5.1: 429, or a `Retry-After` on any failure, stops everything on this key. */
  #hold(status: number, headers: IncomingHttpHeaders, now: number): number | undefined {
    if (status < 400) return undefined;
    const overLimit = status === 429;
    const namedMs = refusedForMs(headers, now, overLimit);
    if (!overLimit && namedMs === null) return undefined;
    this.#away = !overLimit;
    const heldMs = this.#limiter.refuse(namedMs);
    this.#shared.held(heldMs, { isNamed: namedMs !== null, isAway: this.#away });
    this.#queue.refuseHopeless();
    return inSeconds(heldMs);
  }

  #refusal(readyInMs: number): GatewayError {
    const name = interfaceName(this.#source);
    const retryAfterS = inSeconds(readyInMs);
    return this.#away && this.#limiter.retryAfterUntilMs !== null
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
