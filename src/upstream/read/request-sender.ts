import type { HttpRequest, HttpResponse } from '../http/http.js';
import type { RequestControl } from '../resilience/coalesced-request.js';
import { outcomeOf } from '../resilience/outcome.js';
import { withOneRetry } from '../resilience/retry.js';
import type { InterfaceState } from './interface-state.js';
import type { CostMeter } from './read.js';
import type { Request, UpstreamOptions } from './request.js';

/**
 * Sends the requests of one interface under one key: circuit breaker → retry → queue and rate limit (`send`) → HTTP
 * (`#sendHttp`) → decode.
 */
export class RequestSender {
  readonly #state: InterfaceState;
  readonly #options: UpstreamOptions;
  readonly #origin: string;
  /** Path prefix of the interface's URL. */
  readonly #prefix: string;

  constructor(state: InterfaceState, options: UpstreamOptions) {
    this.#state = state;
    this.#options = options;
    const { origin, pathname } = new URL(options.baseUrl);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
  }

  /** The decoded response. The circuit breaker counts both attempts as one. */
  async send<Response extends ResponseHead, T>(
    address: string,
    request: Request,
    control: RequestControl,
    meter: CostMeter,
    steps: Steps<Response, T>,
  ): Promise<T> {
    const admission = this.#state.circuitBreaker.admit();
    const { clock, random, timeoutMs, maxWaitMs } = this.#options;
    const retryOptions = {
      clock,
      random,
      budgetMs: timeoutMs + (control.maxWaitMs ?? maxWaitMs),
      signal: control.signal,
      wanted: () => control.priority !== 'background',
    };
    try {
      const result = await withOneRetry(retryOptions, async (leftMs) => {
        const permit = await this.#state.rateLimit.permit(control, leftMs);
        // While the request was queued, its last waiter may have left or the circuit may have opened.
        try {
          control.signal.throwIfAborted();
          admission.throwIfWithdrawn();
        } catch (error) {
          permit.giveBack();
          throw error;
        }
        let response: Response | undefined;
        let pauseS: number | undefined;
        try {
          response = await this.#sendHttp(address, request, control, meter, leftMs, steps.send);
        } finally {
          pauseS = permit.ended(response);
        }
        return steps.decode(response, pauseS);
      });
      admission.end('succeeded');
      this.#state.succeeded();
      return result;
    } catch (error) {
      admission.end(outcomeOf(error));
      this.#state.failed(request, error);
      throw error;
    }
  }

  async #sendHttp<Response extends ResponseHead>(
    address: string,
    { endpoint }: Request,
    { priority, signal }: RequestControl,
    meter: CostMeter,
    leftMs: number,
    send: (request: HttpRequest) => Promise<Response>,
  ): Promise<Response> {
    this.#state.requestCount++;
    meter.requests++;
    const { key, log, clock } = this.#options;
    const { source } = this.#state;
    const startMs = clock.now();
    const end = this.#options.onRequest?.({ source, endpoint, priority });
    let status: number | null = null;
    try {
      const path = this.#prefix + address;
      const timeoutMs = Math.min(this.#options.timeoutMs, leftMs);
      const response = await send({ source, origin: this.#origin, path, key, endpoint, timeoutMs, signal });
      status = response.status;
      return response;
    } finally {
      end?.({ status });
      log.debug({ source, endpoint, priority, status, tookMs: clock.now() - startMs }, 'Upstream request');
    }
  }
}

type ResponseHead = Pick<HttpResponse, 'status' | 'headers'>;

/** The steps in which a buffered body and a stream differ. */
interface Steps<Response, T> {
  send(request: HttpRequest): Promise<Response>;
  /**
   * `pauseS`: the pause that upstream asked for, in seconds. Throws the error that docs/behaviour.md 4 lists for the
   * response.
   */
  decode(response: Response, pauseS: number | undefined): T | Promise<T>;
}
