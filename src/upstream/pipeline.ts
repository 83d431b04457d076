import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock.js';
import { type Source, UpstreamUnavailable } from '../errors.js';
import type { Log } from '../log.js';
import { address, type Parameters } from './address.js';
import { type Kind, useOf } from './ages.js';
import type { AllowanceSettings } from './allowance.js';
import { type Asked, interfaceName, type KeyOwner, notFound, readAnswer } from './answer.js';
import { type Admission, Breaker } from './breaker.js';
import type { CachePart, Kept, ResponseCache } from './cache.js';
import { Flight, type FlightControl, ownControl } from './flight.js';
import { freezeAndMeasure } from './freeze.js';
import { Gate } from './gate.js';
import type { Http, HttpAnswer, HttpRequest, HttpStream } from './http.js';
import type { Decoding } from './list.js';
import { Condition, canBeRescued, outcomeOf } from './outcome.js';
import { type CostMeter, type InterfaceStatus, newCostMeter, type Read, type ReadScope } from './read.js';
import { withOneRetry } from './retry.js';

/** One interface under one key. */
export interface UpstreamOptions {
  /** Without `/v1`; can have a path prefix. */
  readonly baseUrl: string;
  readonly key: string;
  readonly keyOwner: KeyOwner;
  /** Shared by all clients, as is the cache. */
  readonly http: Http;
  readonly cache: ResponseCache;
  readonly allowance: AllowanceSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** UPSTREAM_TIMEOUT_MS. */
  readonly timeoutMs: number;
  /** UPSTREAM_MAX_WAIT_MS. */
  readonly maxWaitMs: number;
}

export interface Request extends Pick<Asked, 'endpoint' | 'list'> {
  readonly path: string;
  readonly parameters: Parameters;
  /** Wire parameter → argument of the graph, for messages about a wrong one. */
  readonly arguments: Readonly<Record<string, string>>;
}

export interface ReadRequest<T> extends Request {
  readonly kind: Kind;
  readonly decode: (body: unknown, decoding: Decoding) => T;
  /** Whether this answer can never be otherwise (contract 5.5). */
  readonly isFinal?: (value: T, readAtMs: number) => boolean;
}

// Nobody waits for the background: it may stand in the line for as long as the allowance takes to be whole again.
const backgroundWaitMs = 60_000;

/** Every read of one interface under one key goes through here (contract 5). */
export class Pipeline {
  readonly #source: Source;
  readonly #options: UpstreamOptions;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #kept: CachePart;
  readonly #flights = new Map<string, Flight<Kept>>();
  readonly #breaker: Breaker;
  readonly #gate: Gate;
  readonly #condition = new Condition();
  readonly #closing = new AbortController();
  #requestCount = 0;
  #cacheHitCount = 0;

  constructor(source: Source, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    const url = new URL(options.baseUrl);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    this.#kept = options.cache.part(`${source} ${keyHash}`);
    this.#breaker = new Breaker(options.clock);
    this.#gate = new Gate({ source, clock: options.clock, allowance: options.allowance });
  }

  /** The steps of one read; null where upstream says that the resource is not there. */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    const id = address(request.path, request.parameters);
    const kept = this.#kept.get(id);
    const use = kept ? useOf(kept, request.kind, scope.maxAgeMs, this.#now()) : 'none';
    if (kept && use === 'serve') return this.#hit<T>(kept, scope, 'cacheHits');
    if (kept && use === 'serve and refresh') {
      this.#refreshBehind(id, request);
      return this.#hit<T>(kept, scope, 'staleHits');
    }
    try {
      return readOf<T>(await this.#joinOrFly(id, request, scope));
    } catch (error) {
      if (kept && use === 'rescue' && canBeRescued(error)) return this.#hit<T>(kept, scope, 'staleHits');
      throw error;
    }
  }

  /** A body as it arrives: neither kept nor shared, but under the same allowance. Null where it is not there. */
  async stream(request: Request, scope: ReadScope): Promise<Readable | null> {
    scope.signal.throwIfAborted();
    const control = ownControl(scope);
    const id = address(request.path, request.parameters);
    const opened = await this.#ask(id, request, control, scope.meter, {
      send: (http) => this.#options.http.stream(http),
      open: (answer, heldS) => ('stream' in answer ? answer.stream : this.#bodyOf(answer, request, heldS)),
    });
    scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    return opened === notFound ? null : (opened as Readable);
  }

  status(): InterfaceStatus {
    const { allowance } = this.#gate;
    return {
      source: this.#source,
      reachable: this.#condition.reachable,
      lastErrorCode: this.#condition.lastErrorCode,
      lastErrorAtMs: this.#condition.lastErrorAtMs,
      requestCount: this.#requestCount,
      cacheHitCount: this.#cacheHitCount,
      rateLimit: {
        perMinute: allowance.perMinute,
        burst: allowance.burst,
        remaining: allowance.remaining,
        remainingToday: allowance.remainingToday,
        resetAtMs: allowance.resetAtMs,
      },
    };
  }

  discardCache(): void {
    // Those on their way land for those who wait for them already, and for nobody else.
    this.#flights.clear();
    this.#kept.clear();
  }

  close(): void {
    this.#closing.abort(new Error('The client of this interface is closed'));
    this.discardCache();
  }

  async #joinOrFly<T>(id: string, request: ReadRequest<T>, scope: ReadScope): Promise<Kept> {
    let flight = this.#flights.get(id);
    if (flight && !flight.abandoned) {
      this.#countHit(scope, 'cacheHits');
    } else {
      flight = this.#fly(id, request, scope);
    }
    return flight.join(scope, () => this.#now());
  }

  #fly<T>(id: string, request: ReadRequest<T>, scope: ReadScope): Flight<Kept> {
    const flight: Flight<Kept> = new Flight(scope, async (control) => {
      try {
        const value = await this.#ask(id, request, control, scope.meter, {
          send: (http) => this.#options.http.get(http),
          open: (answer, heldS) => this.#decode(request, this.#bodyOf(answer, request, heldS)),
        });
        const kept = this.#keep(request, value);
        if (this.#flights.get(id) === flight) this.#kept.set(id, kept);
        return kept;
      } finally {
        if (this.#flights.get(id) === flight) this.#flights.delete(id);
      }
    });
    this.#flights.set(id, flight);
    return flight;
  }

  /** Breaker → allowance → HTTP → decoding, with one retry. */
  async #ask<Answer extends HttpAnswer | HttpStream, T>(
    id: string,
    request: Request,
    control: FlightControl,
    meter: CostMeter,
    { send, open }: { send(http: HttpRequest): Promise<Answer>; open(answer: Answer, heldS?: number): T },
  ): Promise<T> {
    const admission = this.#breaker.admit();
    if (!admission) throw this.#leftAlone();
    const background = control.priority === 'background';
    try {
      const result = await withOneRetry(
        {
          ...this.#options,
          maxWaitMs: background ? backgroundWaitMs : this.#options.maxWaitMs,
          signal: control.signal,
          wanted: () => control.priority !== 'background',
        },
        async ({ timeoutMs, maxWaitMs }) => {
          const { answer, heldS } = await this.#gate.pass(
            control,
            maxWaitMs,
            () => this.#stillSend(admission, control.signal),
            () => {
              this.#requestCount++;
              meter.requests++;
              return send({
                source: this.#source,
                origin: this.#origin,
                path: this.#prefix + id,
                key: this.#options.key,
                endpoint: request.endpoint,
                timeoutMs,
                signal: control.signal,
              });
            },
          );
          return open(answer, heldS);
        },
      );
      admission.end('succeeded');
      this.#condition.succeeded();
      return result;
    } catch (error) {
      admission.end(outcomeOf(error));
      this.#condition.failed(error, this.#now());
      throw error;
    }
  }

  #stillSend(admission: Admission, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!admission.stands) throw this.#leftAlone();
  }

  #leftAlone(): UpstreamUnavailable {
    const leftMs = (this.#breaker.retryAtMs ?? 0) - this.#now();
    return new UpstreamUnavailable(
      `The ${interfaceName(this.#source)} interface has failed repeatedly and is left alone for a moment`,
      { retryAfterS: Math.max(1, Math.ceil(leftMs / 1000)) },
    );
  }

  #bodyOf(answer: HttpAnswer, request: Request, heldS: number | undefined): unknown {
    const asked = {
      source: this.#source,
      endpoint: request.endpoint,
      list: request.list,
      parameters: request.arguments,
    };
    const body = readAnswer(answer, asked, { text: this.#options.key, owner: this.#options.keyOwner }, heldS);
    return body;
  }

  #decode<T>(request: ReadRequest<T>, body: unknown): T | typeof notFound {
    if (body === notFound) return notFound;
    return request.decode(body, {
      source: this.#source,
      endpoint: request.endpoint,
      dropped: (count, received) => {
        this.#options.log.warn(
          { source: this.#source, endpoint: request.endpoint, dropped: count, received },
          'Elements that are not what the interface describes were left out',
        );
      },
    });
  }

  #keep<T>(request: ReadRequest<T>, value: T | typeof notFound): Kept {
    const readAtMs = this.#now();
    if (value === notFound) return { value: null, absent: true, readAtMs, final: false, bytes: 0 };
    const final = request.isFinal?.(value, readAtMs) ?? false;
    return { value, absent: false, readAtMs, final, bytes: freezeAndMeasure(value) };
  }

  #refreshBehind<T>(id: string, request: ReadRequest<T>): void {
    if (this.#flights.has(id)) return;
    const scope: ReadScope = {
      signal: this.#closing.signal,
      priority: 'background',
      turn: this.#flights,
      meter: newCostMeter(),
    };
    // What was served stays good for its hour; the next who asks tries again.
    this.#joinOrFly(id, request, scope).catch(() => undefined);
  }

  #hit<T>(kept: Kept, scope: ReadScope, as: 'cacheHits' | 'staleHits'): Read<T> | null {
    this.#countHit(scope, as);
    const ageS = Math.max(0, this.#now() - kept.readAtMs) / 1000;
    scope.meter.oldestAgeS = Math.max(scope.meter.oldestAgeS, ageS);
    return readOf<T>(kept);
  }

  #countHit({ meter }: ReadScope, as: 'cacheHits' | 'staleHits'): void {
    meter[as]++;
    this.#cacheHitCount++;
  }

  #now(): number {
    return this.#options.clock.now();
  }
}

function readOf<T>(kept: Kept): Read<T> | null {
  return kept.absent ? null : { value: kept.value as T, readAtMs: kept.readAtMs };
}
