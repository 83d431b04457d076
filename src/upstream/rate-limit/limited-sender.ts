import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../clock.js';
import { type GatewayError, type Source, UpstreamRateLimited, UpstreamUnavailable } from '../../errors.js';
import type { Store } from '../../store/store.js';
import { interfaceName } from '../decode/response.js';
import type { Priority, UpstreamStatus } from '../read/read.js';
import type { FlightControl } from '../resilience/coalesced-request.js';
import { SharedAllowance } from './cluster/shared-limiter.js';
import { Allowance, type AllowanceSettings, type Spent } from './limiter.js';
import { type Place, WaitingLine } from './request-queue.js';
import { observedIn, refusedForMs } from './response-headers.js';

/** An answer and, where it told everyone to wait, for how long. */
export interface Passed<Answer> {
  readonly answer: Answer;
  readonly heldS: number | undefined;
}

interface GateOptions {
  readonly source: Source;
  /** Tells interface, address and key apart. */
  readonly name: string;
  /** All instances that share it keep to one allowance. */
  readonly store: Store;
  readonly clock: Clock;
  readonly allowance: AllowanceSettings;
  /** UPSTREAM_MAX_WAIT_MS: for how long a client's read waits. */
  readonly maxWaitMs: number;
}

/** The one way to upstream for all that use a key: what goes through it keeps to the allowance and learns from it. */
export class Gate {
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #allowance: Allowance;
  readonly #line: WaitingLine;
  readonly #shared: SharedAllowance;
  /** The last hold was for an interface that is away rather than for a limit. */
  #away = false;
  readonly #patienceMs: Readonly<Record<Priority, number>>;

  constructor({ source, name, store, clock, allowance, maxWaitMs }: GateOptions) {
    this.#source = source;
    this.#clock = clock;
    // No client waits for a feed's poll or for the background: they rather wait than fail.
    this.#patienceMs = {
      query: maxWaitMs,
      feed: Math.max(maxWaitMs, 30_000),
      background: Math.max(maxWaitMs, 60_000),
    };
    this.#allowance = new Allowance(clock, allowance);
    this.#line = new WaitingLine(clock, this.#allowance, (readyInMs) => this.#refusal(readyInMs));
    this.#shared = new SharedAllowance({
      store,
      name,
      clock,
      allowance: this.#allowance,
      line: this.#line,
      onHeld: (isAway) => {
        this.#away = isAway;
      },
    });
  }

  /**
   * Sends when the allowance has a request to give, or throws `UpstreamRateLimited` as soon as it is clear that it will
   * not in time, which is `leftMs` at most. `send` is called at once then; where `mayStillSend` throws, nothing is sent.
   */
  async pass<Answer extends { readonly status: number; readonly headers: IncomingHttpHeaders }>(
    control: FlightControl,
    leftMs: number,
    mayStillSend: () => void,
    send: () => Promise<Answer>,
  ): Promise<Passed<Answer>> {
    const spent = await this.#granted(control, leftMs);
    try {
      mayStillSend();
    } catch (error) {
      spent.giveBack();
      this.#line.serve();
      throw error;
    }
    const sentAtMs = this.#clock.now();
    try {
      const answer = await send();
      const now = this.#clock.now();
      // docs/interfaces.md C8 documents these headers; what they would mean on the other interface is not known.
      if (this.#source === 'CATALOGUE') {
        const observed = observedIn(answer.headers, now);
        if (this.#allowance.observe(spent, observed)) this.#shared.observed(sentAtMs, observed);
      }
      return { answer, heldS: this.#hold(answer.status, answer.headers, now) };
    } finally {
      spent.answered();
      this.#shared.answered(spent);
      this.#line.serve();
    }
  }

  close(): void {
    this.#shared.close();
  }

  status(): Pick<UpstreamStatus, 'rateLimit' | 'heldUntilMs' | 'waiting'> {
    const { whole, remaining, remainingToday, resetAtMs, heldUntilMs } = this.#allowance;
    return {
      rateLimit: { ...whole, remaining, remainingToday, resetAtMs },
      heldUntilMs,
      waiting: this.#line.waiting,
    };
  }

  /** Waits for its turn, here and among all instances: where one of them was first, it stands in line again. */
  async #granted(control: FlightControl, leftMs: number): Promise<Spent> {
    const joinedMs = this.#clock.now();
    const { signal } = control;
    let maxWaitMs = Math.min(leftMs, this.#patienceMs[control.priority]);
    let untilMs = joinedMs + maxWaitMs;
    let place: Place | undefined;
    control.raise = (raised, by) => {
      untilMs = Math.min(untilMs, this.#clock.now() + this.#patienceMs[raised]);
      place?.raise(raised, by, this.#patienceMs[raised]);
    };
    try {
      for (let isBack = false; ; isBack = true) {
        const { priority, turn } = control;
        place = this.#line.join({ priority, turn, signal, maxWaitMs, isBack });
        this.#shared.noteWaiting();
        const spent = await place.granted;
        const entered = this.#shared.enter(priority, spent);
        if (entered === 'alone') return spent;
        if ((await entered) === 'entered') {
          spent.sentNow();
          return spent;
        }
        // Others have sent meanwhile, or are out of touch now: what was granted may be more than there is.
        spent.giveBack();
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
    const heldMs = this.#allowance.refuse(namedMs);
    this.#shared.held(heldMs, { isNamed: namedMs !== null, isAway: this.#away });
    this.#line.refuseHopeless();
    return inSeconds(heldMs);
  }

  #refusal(readyInMs: number): GatewayError {
    const name = interfaceName(this.#source);
    const retryAfterS = inSeconds(readyInMs);
    return this.#away && this.#allowance.heldUntilMs !== null
      ? new UpstreamUnavailable(`The ${name} interface asked to be left alone for ${retryAfterS} s`, {
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
