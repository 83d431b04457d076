import type { IncomingHttpHeaders } from 'node:http';
import {
  BadUserInput,
  GatewayError,
  type Source,
  Unauthenticated,
  UpstreamUnauthorized,
  UpstreamUnavailable,
} from '../../errors.js';
import { interfaceName } from '../decode/response.js';
import type { HttpRequest } from '../http/http.js';
import { LimitedSender } from '../rate-limit/limited-sender.js';
import { type Admission, CircuitBreaker } from '../resilience/circuit-breaker.js';
import type { RequestControl } from '../resilience/coalesced-request.js';
import { Condition, outcomeOf } from '../resilience/outcome.js';
import { withOneRetry } from '../resilience/retry.js';
import type { CostMeter } from './read.js';
import type { Request, UpstreamOptions } from './request.js';

/** The steps in which a buffered body and a stream differ. */
export interface Means<Answer, T> {
  send(request: HttpRequest): Promise<Answer>;
  /**
   * `heldS`: the pause that upstream asked for, in seconds. Throws the error that docs/behaviour.md 4 lists for the
   * response.
   */
  open(answer: Answer, heldS: number | undefined): T;
}

/**
 * Asks one interface under one key: circuit breaker → request queue and rate limit → HTTP → decoding, with one retry.
 */
export class Exchange {
  readonly condition = new Condition();
  readonly circuitBreaker: CircuitBreaker;
  readonly sender: LimitedSender;
  requestCount = 0;
  readonly #source: Source;
  readonly #options: UpstreamOptions;
  readonly #origin: string;
  readonly #prefix: string;

  /** `name` is unique to interface, address and key. */
  constructor(source: Source, name: string, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    const url = new URL(options.baseUrl);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.circuitBreaker = new CircuitBreaker(options.clock);
    this.sender = new LimitedSender({ source, name, ...options });
  }

  /** `address`: path and query below the base URL. */
  async ask<Answer extends { readonly status: number; readonly headers: IncomingHttpHeaders }, T>(
    address: string,
    request: Request,
    control: RequestControl,
    meter: CostMeter,
    means: Means<Answer, T>,
  ): Promise<T> {
    const admission = this.circuitBreaker.admit();
    if (!admission) throw this.#circuitOpen();
    const { clock, random, timeoutMs, maxWaitMs } = this.#options;
    const retryOptions = {
      clock,
      random,
      budgetMs: timeoutMs + maxWaitMs,
      signal: control.signal,
      wanted: () => control.priority !== 'background',
    };
    try {
      const result = await withOneRetry(retryOptions, async (leftMs) => {
        const { answer, heldS } = await this.sender.send(
          control,
          leftMs,
          () => this.#stillSend(admission, control.signal),
          () => this.#send(address, request, control, meter, Math.min(timeoutMs, leftMs), means.send),
        );
        return means.open(answer, heldS);
      });
      admission.end('succeeded');
      this.condition.succeeded(clock.now());
      return result;
    } catch (error) {
      admission.end(outcomeOf(error));
      this.condition.failed(error, clock.now());
      this.#logFailure(request, error);
      if (error instanceof Unauthenticated || error instanceof UpstreamUnauthorized)
        this.#options.onKeyRefused?.();
      throw error;
    }
  }

  async #send<Answer extends { readonly status: number }>(
    address: string,
    { endpoint }: Request,
    { priority, signal }: RequestControl,
    meter: CostMeter,
    timeoutMs: number,
    send: (request: HttpRequest) => Promise<Answer>,
  ): Promise<Answer> {
    this.requestCount++;
    meter.requests++;
    const { key, log, clock } = this.#options;
    const source = this.#source;
    const startMs = clock.now();
    const end = this.#options.onRequest?.({ source, endpoint, priority });
    let status: number | null = null;
    try {
      const path = this.#prefix + address;
      const answer = await send({ source, origin: this.#origin, path, key, endpoint, timeoutMs, signal });
      status = answer.status;
      return answer;
    } finally {
      end?.({ status });
      log.debug({ source, endpoint, priority, status, tookMs: clock.now() - startMs }, 'Upstream request');
    }
  }

  /** Logs upstream's error with its request id: clients see only a part of it. */
  #logFailure({ endpoint }: Request, error: unknown): void {
    if (!(error instanceof GatewayError) || !error.upstream || error instanceof BadUserInput) return;
    const { code, upstream, retryAfterS, cause } = error;
    this.#options.log.warn({ endpoint, failure: code, upstream, retryAfterS, cause }, 'Upstream read failed');
  }

  #stillSend(admission: Admission, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!admission.stands) throw this.#circuitOpen();
  }

  #circuitOpen(): UpstreamUnavailable {
    const leftMs = (this.circuitBreaker.retryAtMs ?? 0) - this.#options.clock.now();
    return new UpstreamUnavailable(
      `The ${interfaceName(this.#source)} interface has failed repeatedly: its circuit is open for a moment`,
      { retryAfterS: Math.max(1, Math.ceil(leftMs / 1000)) },
    );
  }
}
