import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type ForwardMs, longAgo } from '../../clock.js';
import {
  BadUserInput,
  GatewayError,
  type Source,
  Unauthenticated,
  UpstreamUnauthorized,
} from '../../errors.js';
import { CachedResponses } from '../cache/cached-responses.js';
import type { Delivered } from '../cache/delivered.js';
import type { ReadCounts } from '../cache/dependencies.js';
import { createDerivedCache, type DerivedCache } from '../cache/derived-cache.js';
import type { Freshness } from '../cache/freshness.js';
import { HitCounter } from '../cache/hit-counter.js';
import { KeyValidity } from '../cache/key-validity.js';
import type { CachedResponse } from '../cache/response-cache.js';
import { SharedCache, type SharedCacheEntry } from '../cache/shared-cache.js';
import { notFound, requestIdOf } from '../decode/response.js';
import { ResponseReader } from '../decode/response-reader.js';
import { addressOf } from '../http/address.js';
import type { HttpRequest, HttpResponse } from '../http/http.js';
import { RateLimit } from '../rate-limit/rate-limit.js';
import { CircuitBreaker } from '../resilience/circuit-breaker.js';
import { CoalescedRequest, type RequestControl, unsharedControl } from '../resilience/coalesced-request.js';
import { allowsStaleIfError, Condition, isDefinite, outcomeOf } from '../resilience/outcome.js';
import { withOneRetry } from '../resilience/retry.js';
import {
  type CostMeter,
  newCostMeter,
  noteRequestId,
  type Read,
  type ReadScope,
  type UpstreamStatus,
} from './read.js';
import type { ReadRequest, Request, UpstreamOptions } from './request.js';

/**
 * Every read of one interface under one key goes through here (docs/behaviour.md 5). The methods follow the order of a
 * read:
 *
 * cache (`read`) → coalesce (`#coalesced`) → shared cache (`#send`) → circuit breaker, retry, queue and rate limit, decode
 * (`#ask`) → HTTP (`#sendHttp`); then `#send` keeps the response.
 */
export class Pipeline {
  readonly #source: Source;
  readonly #options: UpstreamOptions;
  readonly #origin: string;
  /** Path prefix of the interface's URL. */
  readonly #prefix: string;
  readonly #cache: CachedResponses;
  /** Values derived from several responses; evicted with them. */
  readonly derivedCache: DerivedCache;
  readonly #keyValidity: KeyValidity;
  readonly #hits: HitCounter;
  readonly #inFlight = new Map<string, CoalescedRequest<Completed>>();
  /** Null in one process. */
  readonly #shared: SharedCache | null;
  readonly #condition = new Condition();
  readonly #circuitBreaker: CircuitBreaker;
  readonly #rateLimit: RateLimit;
  readonly #reader: ResponseReader;
  readonly #closing = new AbortController();
  readonly #stopListening: (() => void) | undefined;
  /** The request by which upstream accepts a client's key again. */
  #confirming: CoalescedRequest<Completed> | undefined;
  #requestCount = 0;

  constructor(source: Source, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    const { origin, pathname } = new URL(options.baseUrl);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    const name = `${source} ${keyHash}`;
    const { clock, store, timeoutMs, maxWaitMs } = options;
    this.#circuitBreaker = new CircuitBreaker(source, clock);
    this.#rateLimit = new RateLimit({ ...options, source, name });
    this.derivedCache = createDerivedCache(options.cache.part(`derived ${name}`), clock);
    this.#keyValidity = new KeyValidity(options.keyOwner, this.#condition, clock);
    this.#cache = new CachedResponses(options.cache.part(name), clock, this.#keyValidity);
    this.#hits = new HitCounter(clock);
    this.#reader = new ResponseReader(source, options, this.#cache.versions);
    const bodies = store.bodies(name);
    this.#shared = bodies && new SharedCache({ bodies, clock, mostWaitMs: timeoutMs + maxWaitMs });
    this.#stopListening = this.#shared?.onCleared(() => {
      this.#condition.doubt();
      this.#discardOwn();
    });
  }

  /** Null where upstream answers that the resource does not exist. */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    if (scope.demand) this.#cache.sendOrder.came(scope.demand);
    const address = addressOf(request.path, request.parameters);
    if (this.#confirming && !this.#keyValidity.holds && this.#cache.stored(address))
      await this.#whenEnded(this.#confirming, scope);
    const { cached, freshness } = this.#found(address, request, scope);
    if (cached && isServed(freshness)) {
      this.#addDependency(address, cached, request, scope);
      this.#serve(address, cached, request, freshness === 'fresh', scope.meter);
      return readOf<T>(cached);
    }
    scope.dependencies?.refuse('upstream was asked');
    try {
      return await this.#coalesced(address, request, scope);
    } catch (error) {
      // The cached response may have been evicted meanwhile, or replaced by one that another instance read.
      const known = this.#cache.get(address, request);
      const isOutdated = known !== undefined && this.#cache.isLacking(known, request);
      const current = isOutdated ? this.#cache.madeOfDelivered(address, request) : known;
      if (!current || !allowsStaleIfError(error) || !this.#keyValidity.outlasts(error)) throw error;
      const helps =
        (current === cached ? freshness : this.#cache.freshnessOf(current, request, scope)) !== 'none';
      if (!helps) throw error;
      return this.#hit<T>(current, scope, 'staleHits');
    }
  }

  /** True where `read` does not wait for upstream. */
  isAtHand<T>(request: ReadRequest<T>, scope: ReadScope): boolean {
    return isServed(this.#found(addressOf(request.path, request.parameters), request, scope).freshness);
  }

  /**
   * True where a record that a feed has delivered may be shown instead of the response to `request`; counts as a hit
   * then.
   */
  servesDelivered<T>(request: ReadRequest<T>, delivered: Read<object>, scope: ReadScope): boolean {
    const address = addressOf(request.path, request.parameters);
    const freshness = this.#cache.freshnessOfDelivered(address, delivered, request, scope);
    if (!isServed(freshness)) return false;
    scope.dependencies?.refuse('a delivered record was used');
    this.#hits.countAged(scope.meter, delivered.readAtMs, freshness === 'fresh' ? 'cacheHits' : 'staleHits');
    return true;
  }

  #found<T>(address: string, request: ReadRequest<T>, scope: ReadScope) {
    const cached = this.#cache.get(address, request);
    const freshness: Freshness = cached ? this.#cache.freshnessOf(cached, request, scope) : 'none';
    return { cached, freshness };
  }

  /** Joins the same request where it is in flight, or sends it. */
  async #coalesced<T>(
    address: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    isAgain = false,
  ): Promise<Read<T> | null> {
    const inFlight = this.#inFlight.get(address);
    const joined = inFlight !== undefined && !inFlight.abandoned;
    if (joined && scope.demand && this.#cache.sendOrder.isBefore(inFlight.control, scope.demand)) {
      // Its response may predate the demand, but the same request is never in flight twice (docs/behaviour.md 5.3):
      // wait for it, then read again.
      await this.#whenEnded(inFlight, scope);
      return this.read(request, scope);
    }
    const coalesced = joined ? inFlight : this.#send(address, request, scope);
    const joinedMs = this.#options.clock.now();
    let completed: Completed;
    try {
      completed = await this.#join(coalesced, scope);
    } catch (error) {
      // A less patient caller's request got no permit in time: this caller still has time to ask by itself.
      const maxWaitMs = this.#rateLimit.patienceLeftMs(scope, coalesced.control, joinedMs);
      if (!joined || maxWaitMs <= 0 || !isOfGateway(error)) throw error;
      return this.#coalesced(address, request, { ...scope, maxWaitMs }, isAgain);
    }
    const { cached: response, isShared } = completed;
    const cached = this.#cache.upToDate(address, response, request);
    // A feed delivered a record after this request was sent. Ask again once only: a burst could repeat this for long.
    if (!isAgain && this.#cache.isLacking(cached, request))
      return this.#coalesced(address, request, scope, true);
    if (isShared) {
      // The response was read before this waiter joined: it may be too old for the waiter's own age limit.
      const isParticular = hasAgeLimit(scope) || scope.demand !== undefined;
      if (joined && isParticular && this.#cache.freshnessOf(cached, request, scope) !== 'fresh')
        return this.#coalesced(address, request, scope);
      return this.#hit<T>(cached, scope, 'cacheHits');
    }
    if (joined) this.#hits.count(scope.meter, 'cacheHits');
    return readOf<T>(cached);
  }

  #join(coalesced: CoalescedRequest<Completed>, scope: ReadScope): Promise<Completed> {
    return coalesced.join(scope, this.#options.clock, this.#rateLimit.longestWaitMs(scope));
  }

  /** Takes the response from the shared cache where another instance has read it, else asks upstream and keeps it. */
  #send<T>(address: string, request: ReadRequest<T>, scope: ReadScope): CoalescedRequest<Completed> {
    const isCurrent = () => this.#inFlight.get(address) === coalesced;
    const coalesced: CoalescedRequest<Completed> = new CoalescedRequest(scope, async (control) => {
      const shared = this.#shared?.open(address, control, (body) =>
        this.#reader.adopt(body, request, scope.operationKey),
      );
      try {
        const found = this.#mayAdopt(scope)
          ? await shared?.find((cached) => this.#cache.freshnessOf(cached, request, scope) === 'fresh')
          : null;
        if (found) {
          if (isCurrent()) this.#cache.set(address, found);
          return { cached: found, isShared: true };
        }
        const { cached, body } = await this.#askUpstream(address, request, scope, control, shared);
        if (isCurrent()) {
          this.#cache.set(address, cached);
          const { readAtMs, askedAtMs, version } = cached;
          shared?.keep({ body, readAtMs, askedAtMs, version });
        }
        return { cached, isShared: false };
      } catch (error) {
        if (isCurrent() && isDefinite(error)) {
          this.#cache.delete(address);
          shared?.forget();
        }
        if (error instanceof GatewayError) noteRequestId(scope.meter, error.upstream?.requestId);
        if (shared && allowsStaleIfError(error)) {
          const older = await shared.cached();
          const own = this.#cache.stored(address);
          if (older && isCurrent() && !(own && own.readAtMs >= older.readAtMs))
            this.#cache.set(address, older);
        }
        throw error;
      } finally {
        shared?.leave();
        if (isCurrent()) this.#inFlight.delete(address);
        if (this.#confirming === coalesced) this.#confirming = undefined;
      }
    });
    this.#inFlight.set(address, coalesced);
    if (!this.#keyValidity.holds) this.#confirming ??= coalesced;
    return coalesced;
  }

  /** `body` is the body as upstream sent it, for the shared cache; null where there is none. */
  #askUpstream<T>(
    address: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    control: RequestControl,
    shared: SharedCacheEntry | undefined,
  ): Promise<{ readonly cached: CachedResponse; readonly body: Buffer | null }> {
    // Taken before the request is sent: the response is of this version or a later one.
    const version = this.#cache.versionOf(request);
    let askedAtMs: ForwardMs = longAgo;
    return this.#ask(address, request, control, scope.meter, {
      send: (http) => {
        shared?.sending();
        this.#cache.sendOrder.sent(control);
        askedAtMs = this.#cache.requestTimeMs();
        return this.#options.http.get(http);
      },
      decode: async (response, pauseS) => {
        await this.#reader.slice(response.body.length, scope.operationKey);
        const body = this.#reader.bodyOf(response, request, pauseS);
        noteRequestId(scope.meter, requestIdOf(response.headers, body, this.#reader.secrets()));
        const readAtMs = this.#options.clock.now();
        const cached = this.#reader.read(request, body, { readAtMs, askedAtMs, version });
        this.#cache.sendOrder.answered(control, cached);
        return { cached, body: body === notFound ? null : response.body };
      },
    });
  }

  /**
   * Streams a body: neither cached nor coalesced, but under the same rate limit. Null where the resource does not
   * exist.
   */
  async stream(request: Request, scope: ReadScope): Promise<Readable | null> {
    scope.signal.throwIfAborted();
    const control = unsharedControl(scope);
    try {
      const address = addressOf(request.path, request.parameters);
      const stream = await this.#ask(address, request, control, scope.meter, {
        send: (http) => this.#options.http.stream(http),
        decode: (response, pauseS) =>
          'stream' in response
            ? this.#reader.streamOf(response, request)
            : this.#reader.bodyOf(response, request, pauseS),
      });
      return stream === notFound ? null : (stream as Readable);
    } finally {
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    }
  }

  /** Circuit breaker and one retry, around each attempt. */
  async #ask<Response extends ResponseHead, T>(
    address: string,
    request: Request,
    control: RequestControl,
    meter: CostMeter,
    steps: Steps<Response, T>,
  ): Promise<T> {
    const admission = this.#circuitBreaker.admit();
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
        const permit = await this.#rateLimit.permit(control, leftMs);
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
      this.#condition.succeeded(clock.now());
      return result;
    } catch (error) {
      admission.end(outcomeOf(error));
      this.#condition.failed(error, clock.now());
      this.#logFailure(request, error);
      if (error instanceof Unauthenticated || error instanceof UpstreamUnauthorized)
        this.#options.onKeyRefused?.();
      // docs/behaviour.md 7: once upstream refuses a client's key, nothing that was read with it stays cached.
      if (error instanceof Unauthenticated) this.discardCache();
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
    this.#requestCount++;
    meter.requests++;
    const { key, log, clock } = this.#options;
    const source = this.#source;
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

  status(): UpstreamStatus {
    const { reachable, reachableAsOfMs, lastErrorCode, lastErrorAtMs } = this.#condition;
    return {
      source: this.#source,
      reachable,
      reachableAsOfMs,
      lastErrorCode,
      lastErrorAtMs,
      requestCount: this.#requestCount,
      cacheHitCount: this.#hits.total,
      circuitOpenUntilMs: this.#circuitBreaker.retryAtMs,
      ...this.#rateLimit.status(),
    };
  }

  /** Derived values follow the same rule as the cached responses: the key must still be valid. */
  get mayServeCached(): boolean {
    return this.#keyValidity.holds || this.#keyValidity.outlasts(null);
  }

  delivering(delivered: Delivered): void {
    this.#cache.delivering(delivered);
  }

  discardCache(): void {
    this.#discardOwn();
    this.#shared?.clear();
  }

  close(): void {
    this.#closing.abort(new Error('The client of this interface is closed'));
    this.#rateLimit.close();
    this.#stopListening?.();
    this.#discardOwn();
  }

  #discardOwn(): void {
    // Requests in flight still answer their waiters, but are neither joined by others nor cached.
    this.#inFlight.clear();
    this.#cache.clear();
    this.derivedCache.clear();
  }

  /**
   * Waits until a request has ended, whatever its outcome; the read then starts anew. Where upstream has to accept a
   * key again before cached responses may be shown, one request is enough for all reads.
   */
  async #whenEnded(coalesced: CoalescedRequest<Completed>, scope: ReadScope): Promise<void> {
    await this.#join(coalesced, scope).catch(() => undefined);
    scope.signal.throwIfAborted();
  }

  /** Records the cached response as a dependency of the answer, which is served with it again as this read is. */
  #addDependency<T>(
    address: string,
    cached: CachedResponse,
    request: ReadRequest<T>,
    scope: ReadScope,
  ): void {
    scope.dependencies?.add(hasAgeLimit(scope) ? {} : cached, () =>
      this.#cache.dependencyOf(address, cached, request, scope, (isFresh, meter, times) =>
        this.#serve(address, cached, request, isFresh, meter, times),
      ),
    );
  }

  /** Counts a hit, and revalidates a stale response in the background. */
  #serve<T>(
    address: string,
    cached: CachedResponse,
    request: ReadRequest<T>,
    isFresh: boolean,
    meter: ReadCounts,
    times?: number,
  ): void {
    this.#hits.countAged(meter, cached.readAtMs, isFresh ? 'cacheHits' : 'staleHits', times);
    if (!isFresh) this.#revalidateInBackground(address, request);
  }

  /** A response that another instance has read does not show if it was asked for before or after a demand. */
  #mayAdopt({ maxAgeMs, demand }: ReadScope): boolean {
    return maxAgeMs !== 0 && demand?.maxAgeMs !== 0 && this.#keyValidity.holds;
  }

  #revalidateInBackground<T>(address: string, request: ReadRequest<T>): void {
    if (this.#inFlight.has(address)) return;
    const { signal } = this.#closing;
    // All revalidations share one operation key. When one fails, the next read of the response tries again.
    const scope: ReadScope = {
      signal,
      priority: 'background',
      operationKey: this.#inFlight,
      meter: newCostMeter(),
    };
    this.#coalesced(address, request, scope).catch(() => undefined);
  }

  #hit<T>(cached: CachedResponse, { meter }: ReadScope, as: 'cacheHits' | 'staleHits'): Read<T> | null {
    this.#hits.countAged(meter, cached.readAtMs, as);
    return readOf<T>(cached);
  }

  /** Logs upstream's error with its request id: clients see only a part of it. */
  #logFailure({ endpoint }: Request, error: unknown): void {
    if (!(error instanceof GatewayError) || !error.upstream || error instanceof BadUserInput) return;
    const { code, upstream, retryAfterS, cause } = error;
    this.#options.log.warn({ endpoint, failure: code, upstream, retryAfterS, cause }, 'Upstream read failed');
  }
}

interface Completed {
  readonly cached: CachedResponse;
  /** Another instance has read it. */
  readonly isShared: boolean;
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

/** True for a failure that no response of upstream caused, such as a rate limit without a permit in time. */
function isOfGateway(error: unknown): boolean {
  return error instanceof GatewayError && error.upstream === undefined;
}

/** True where the cache answers a read without waiting for upstream. */
function isServed(freshness: Freshness): boolean {
  return freshness === 'fresh' || freshness === 'stale-while-revalidate';
}

/** A read with an age limit of its own is a separate dependency, even on the same response. */
function hasAgeLimit({ maxAgeMs, notBeforeMs }: ReadScope): boolean {
  return (maxAgeMs ?? notBeforeMs) !== undefined;
}

function readOf<T>(cached: CachedResponse): Read<T> | null {
  // All callers get the same object, so that values derived from it are computed once.
  return cached.absent ? null : (cached as Read<T>);
}
