import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.js';
import { type GatewayError, type Source, UpstreamRateLimited, UpstreamUnavailable } from '../errors.js';
import { Allowance, type AllowanceSettings } from './allowance.js';
import { interfaceName } from './answer.js';
import type { FlightControl } from './flight.js';
import { observedIn, refusedForMs } from './rate-headers.js';
import type { Priority, UpstreamStatus } from './read.js';
import { WaitingLine } from './waiting-line.js';

/** An answer and, where it told everyone to wait, for how long. */
export interface Passed<Answer> {
  readonly answer: Answer;
  readonly heldS: number | undefined;
}

interface GateOptions {
  readonly source: Source;
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
  /** The last hold was for an interface that is away rather than for a limit. */
  #away = false;
  readonly #patienceMs: Readonly<Record<Priority, number>>;

  constructor({ source, clock, allowance, maxWaitMs }: GateOptions) {
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
  }

  /**
   * Sends when the allowance has a request to give, or throws `UpstreamRateLimited` as soon as it is clear that it will
   * not in time, which is `leftMs` at most. `send` is called at once then; where `mayStillSend` throws, nothing is spent.
   */
  async pass<Answer extends { readonly status: number; readonly headers: IncomingHttpHeaders }>(
    control: FlightControl,
    leftMs: number,
    mayStillSend: () => void,
    send: () => Promise<Answer>,
  ): Promise<Passed<Answer>> {
    const joinedMs = this.#clock.now();
    const { signal, priority, turn } = control;
    const maxWaitMs = Math.min(leftMs, this.#patienceMs[priority]);
    const place = this.#line.join({ priority, turn, signal, maxWaitMs });
    control.raise = (raised, by) => place.raise(raised, by, this.#patienceMs[raised]);
    const spent = await place.granted.finally(() => {
      control.raise = undefined;
      control.waitedMs += this.#clock.now() - joinedMs;
    });
    try {
      mayStillSend();
    } catch (error) {
      spent.giveBack();
      this.#line.serve();
      throw error;
    }
    try {
      const answer = await send();
      const now = this.#clock.now();
      // catalogue §8 documents these headers; what they would mean on the other interface is not known.
      if (this.#source === 'CATALOGUE') this.#allowance.observe(spent, observedIn(answer.headers, now));
      return { answer, heldS: this.#hold(answer.status, answer.headers, now) };
    } finally {
      spent.answered();
      this.#line.serve();
    }
  }

  status(): Pick<UpstreamStatus, 'rateLimit' | 'heldUntilMs' | 'waiting'> {
    const { perMinute, burst, remaining, remainingToday, resetAtMs, heldUntilMs } = this.#allowance;
    return {
      rateLimit: { perMinute, burst, remaining, remainingToday, resetAtMs },
      heldUntilMs,
      waiting: this.#line.waiting,
    };
  }

  /** contract 5.1: 429, or a `Retry-After` on any failure, stops everything on this key. */
  #hold(status: number, headers: IncomingHttpHeaders, now: number): number | undefined {
    if (status < 400) return undefined;
    const overLimit = status === 429;
    const namedMs = refusedForMs(headers, now, overLimit);
    if (!overLimit && namedMs === null) return undefined;
    this.#away = !overLimit;
    const heldMs = this.#allowance.refuse(namedMs);
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
