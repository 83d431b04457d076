import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GatewayError, type Source, Unauthenticated } from '../../errors.js';
import { CachedResponses } from '../cache/cached-responses.js';
import type { Delivered } from '../cache/delivered.js';
import type { ReadCounts } from '../cache/dependencies.js';
import { createDerivedCache, type DerivedCache } from '../cache/derived-cache.js';
import { KeyValidity } from '../cache/key-validity.js';
import type { CachedResponse } from '../cache/response-cache.js';
import { SharedCache, type SharedCacheEntry } from '../cache/shared-cache.js';
import { notFound, requestIdOf } from '../decode/response.js';
import { ResponseReader } from '../decode/response-reader.js';
import { address } from '../http/address.js';
import { CoalescedRequest, type RequestControl, unsharedControl } from '../resilience/coalesced-request.js';
import { allowsStaleIfError, isDefinite } from '../resilience/outcome.js';
import { Exchange } from './exchange.js';
import { newCostMeter, noteRequestId, type Read, type ReadScope, type UpstreamStatus } from './read.js';
import type { ReadRequest, Request, UpstreamOptions } from './request.js';

/** Every read of one interface under one key goes through here (docs/behaviour.md 5). */
export class Pipeline {
  readonly #source: Source;
  readonly #options: UpstreamOptions;
  readonly #exchange: Exchange;
  readonly #cache: CachedResponses;
  /** Values derived from several responses; evicted with them. */
  readonly derivedCache: DerivedCache;
  readonly #keyValidity: KeyValidity;
  readonly #inFlight = new Map<string, CoalescedRequest<Completed>>();
  /** Null in one process. */
  readonly #shared: SharedCache | null;
  readonly #closing = new AbortController();
  readonly #reader: ResponseReader;
  readonly #stopListening: (() => void) | undefined;
  #confirming: CoalescedRequest<Completed> | undefined;
  #cacheHitCount = 0;

  constructor(source: Source, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    const name = `${source} ${keyHash}`;
    this.#exchange = new Exchange(source, name, options);
    this.derivedCache = createDerivedCache(options.cache.part(`derived ${name}`), options.clock);
    const { clock, store, timeoutMs, maxWaitMs } = options;
    this.#keyValidity = new KeyValidity(options.keyOwner, this.#exchange.condition, clock);
    this.#cache = new CachedResponses(options.cache.part(name), clock, this.#keyValidity);
    this.#reader = new ResponseReader(source, options, this.#cache.versions);
    const bodies = store.bodies(name);
    this.#shared = bodies && new SharedCache({ bodies, clock, mostWaitMs: timeoutMs + maxWaitMs });
    this.#stopListening = this.#shared?.onCleared(() => {
      this.#exchange.condition.doubt();
      this.#discardOwn();
    });
  }

  /**
   * The steps of one read, in order: cache, coalesced request, circuit breaker, rate limit and HTTP (`Exchange`),
   * decoding, writing to the cache. Null where upstream answers that the resource does not exist.
   */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    if (scope.demand) this.#cache.sendOrder.came(scope.demand);
    const id = address(request.path, request.parameters);
    if (this.#confirming && !this.#keyValidity.holds && this.#cache.stored(id))
      await this.#whenEnded(this.#confirming, scope);
    const cached = this.#cache.get(id, request);
    const freshness = cached ? this.#cache.freshnessOf(cached, request, scope) : 'none';
    if (cached && (freshness === 'fresh' || freshness === 'stale-while-revalidate')) {
      this.#addDependency(id, cached, request, scope);
      if (freshness === 'fresh') return this.#hit<T>(cached, scope, 'cacheHits');
      this.#revalidateInBackground(id, request);
      return this.#hit<T>(cached, scope, 'staleHits');
    }
    scope.dependencies?.refuse('upstream was asked');
    try {
      return await this.#joinOrSend(id, request, scope);
    } catch (error) {
      // The cached response may have been evicted meanwhile, or replaced by one that another instance read.
      const current = this.#cache.get(id, request);
      if (!current || !allowsStaleIfError(error) || !this.#keyValidity.outlasts(error)) throw error;
      const helps =
        (current === cached ? freshness : this.#cache.freshnessOf(current, request, scope)) !== 'none';
      if (!helps || this.#cache.isLacking(current, request)) throw error;
      return this.#hit<T>(current, scope, 'staleHits');
    }
  }

  /**
   * Streams a body: neither cached nor coalesced, but under the same rate limit. Null where the resource does not
   * exist.
   */
  async stream(request: Request, scope: ReadScope): Promise<Readable | null> {
    scope.signal.throwIfAborted();
    const control = unsharedControl(scope);
    const id = address(request.path, request.parameters);
    try {
      const stream = await this.#exchange.ask(id, request, control, scope.meter, {
        send: (http) => this.#options.http.stream(http),
        open: (answer, heldS) =>
          'stream' in answer
            ? this.#reader.streamOf(answer, request)
            : this.#reader.bodyOf(answer, request, heldS),
      });
      return stream === notFound ? null : (stream as Readable);
    } catch (error) {
      this.#discardIfKeyRefused(error);
      throw error;
    } finally {
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    }
  }

  status(): UpstreamStatus {
    const { condition, sender, circuitBreaker, requestCount } = this.#exchange;
    return {
      source: this.#source,
      reachable: condition.reachable,
      reachableAsOfMs: condition.reachableAsOfMs,
      lastErrorCode: condition.lastErrorCode,
      lastErrorAtMs: condition.lastErrorAtMs,
      requestCount,
      cacheHitCount: this.#cacheHitCount,
      circuitOpenUntilMs: circuitBreaker.retryAtMs,
      ...sender.status(),
    };
  }

  /** Derived values follow the same rule as the cached responses: the key must still be valid. */
  get mayShowKept(): boolean {
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
    this.#exchange.sender.close();
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
    await coalesced.join(scope, () => this.#options.clock.now()).catch(() => undefined);
    scope.signal.throwIfAborted();
  }

  /**
   * Records a cached response as a dependency of the answer: it holds as long as a read like this one would return it.
   */
  #addDependency<T>(id: string, cached: CachedResponse, request: ReadRequest<T>, scope: ReadScope): void {
    const { maxAgeMs, notBeforeMs } = scope;
    // A read with an age limit of its own is a separate dependency, even on the same response.
    const isParticular = (maxAgeMs ?? notBeforeMs) !== undefined;
    scope.dependencies?.add(isParticular ? {} : cached, () => ({
      state: () => {
        if (this.#cache.get(id, request) !== cached) return 'gone';
        const freshness = this.#cache.freshnessOf(cached, request, { maxAgeMs, notBeforeMs });
        if (freshness === 'fresh') return 'fresh';
        return freshness === 'stale-while-revalidate' ? 'stale' : 'gone';
      },
      freshUntilMs: () => this.#cache.freshUntilMs(cached, request, { maxAgeMs, notBeforeMs }),
      read: (meter, times) => {
        const isFresh = this.#cache.freshnessOf(cached, request, { maxAgeMs, notBeforeMs }) === 'fresh';
        for (let count = 0; count < times; count++)
          this.#hit(cached, { meter }, isFresh ? 'cacheHits' : 'staleHits');
        if (!isFresh) this.#revalidateInBackground(id, request);
      },
    }));
  }

  async #joinOrSend<T>(
    id: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    isAgain = false,
  ): Promise<Read<T> | null> {
    const inFlight = this.#inFlight.get(id);
    const joined = inFlight !== undefined && !inFlight.abandoned;
    if (joined && scope.demand && this.#cache.sendOrder.isBefore(inFlight.control, scope.demand)) {
      // Its response may predate the demand, but the same request is never in flight twice (docs/behaviour.md 5.3):
      // wait for it, then read again.
      await this.#whenEnded(inFlight, scope);
      return this.read(request, scope);
    }
    const coalesced = joined ? inFlight : this.#send(id, request, scope);
    const { cached: response, isShared } = await coalesced.join(scope, () => this.#options.clock.now());
    const cached = this.#cache.upToDate(id, response, request);
    // A feed delivered a record after this request was sent. Ask again once only: a burst could repeat this for long.
    if (!isAgain && this.#cache.isLacking(cached, request)) return this.#joinOrSend(id, request, scope, true);
    if (isShared) {
      // The response was read before this waiter joined: it may be too old for the waiter's own age limit.
      const isParticular = (scope.maxAgeMs ?? scope.notBeforeMs ?? scope.demand) !== undefined;
      if (joined && isParticular && this.#cache.freshnessOf(cached, request, scope) !== 'fresh')
        return this.#joinOrSend(id, request, scope);
      return this.#hit<T>(cached, scope, 'cacheHits');
    }
    if (joined) this.#countHit(scope, 'cacheHits');
    return readOf<T>(cached);
  }

  #send<T>(id: string, request: ReadRequest<T>, scope: ReadScope): CoalescedRequest<Completed> {
    const isCurrent = () => this.#inFlight.get(id) === coalesced;
    const coalesced: CoalescedRequest<Completed> = new CoalescedRequest(scope, async (control) => {
      const shared = this.#shared?.open(id, control);
      try {
        const found = shared && (await this.#find(shared, request, scope));
        if (found) {
          if (isCurrent()) this.#cache.set(id, found);
          return { cached: found, isShared: true };
        }
        const { cached, body } = await this.#ask(id, request, scope, control, shared);
        if (isCurrent()) {
          this.#cache.set(id, cached);
          const { readAtMs, askedAtMs, version } = cached;
          shared?.keep({ body, readAtMs, askedAtMs, version });
        }
        return { cached, isShared: false };
      } catch (error) {
        if (isCurrent() && isDefinite(error)) {
          this.#cache.delete(id);
          shared?.forget();
        }
        if (error instanceof GatewayError) noteRequestId(scope.meter, error.upstream?.requestId);
        this.#discardIfKeyRefused(error);
        if (shared && allowsStaleIfError(error)) {
          const older = await this.#older(shared, request, scope);
          const own = this.#cache.stored(id);
          if (older && isCurrent() && !(own && own.readAtMs >= older.readAtMs)) this.#cache.set(id, older);
        }
        throw error;
      } finally {
        shared?.leave();
        if (isCurrent()) this.#inFlight.delete(id);
        if (this.#confirming === coalesced) this.#confirming = undefined;
      }
    });
    this.#inFlight.set(id, coalesced);
    if (!this.#keyValidity.holds) this.#confirming ??= coalesced;
    return coalesced;
  }

  /** Asks upstream. `body` is the body as upstream sent it, for the shared cache; null where there is none. */
  async #ask<T>(
    id: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    control: RequestControl,
    shared: SharedCacheEntry | undefined,
  ): Promise<{ readonly cached: CachedResponse; readonly body: Buffer | null }> {
    // Taken before the request is sent: the response is of this version or a later one.
    const version = this.#cache.versionOf(request);
    let askedAtMs = Number.NEGATIVE_INFINITY;
    return this.#exchange.ask(id, request, control, scope.meter, {
      send: async (http) => {
        shared?.sending();
        this.#cache.sendOrder.sent(control);
        askedAtMs = this.#cache.requestTimeMs();
        const answer = await this.#options.http.get(http);
        await this.#reader.turn(answer.body.length, scope.operationKey);
        return answer;
      },
      open: (answer, heldS) => {
        const body = this.#reader.bodyOf(answer, request, heldS);
        noteRequestId(scope.meter, requestIdOf(answer.headers, body, this.#options.key));
        const readAtMs = this.#options.clock.now();
        const cached = this.#reader.read(request, body, { readAtMs, askedAtMs, version });
        this.#cache.sendOrder.answered(control, cached);
        return { cached, body: body === notFound ? null : answer.body };
      },
    });
  }

  /** Finds a response that another instance has read and that is still fresh. */
  async #find<T>(
    shared: SharedCacheEntry,
    request: ReadRequest<T>,
    scope: ReadScope,
  ): Promise<CachedResponse | null> {
    // Nothing shows if another instance asked before or after a demand.
    if (scope.maxAgeMs === 0 || scope.demand?.maxAgeMs === 0 || !this.#keyValidity.holds) return null;
    return shared.find(async (body) => {
      const cached = await this.#reader.adopt(body, request, scope.operationKey);
      return cached && this.#cache.freshnessOf(cached, request, scope) === 'fresh' ? cached : null;
    });
  }

  /** Finds a response that another instance has read, for stale-if-error. */
  async #older<T>(
    shared: SharedCacheEntry,
    request: ReadRequest<T>,
    scope: ReadScope,
  ): Promise<CachedResponse | null> {
    const body = await shared.body();
    return body && this.#reader.adopt(body, request, scope.operationKey);
  }

  #revalidateInBackground<T>(id: string, request: ReadRequest<T>): void {
    if (this.#inFlight.has(id)) return;
    const { signal } = this.#closing;
    // All revalidations share one operation key. When one fails, the next read of the response tries again.
    const scope: ReadScope = {
      signal,
      priority: 'background',
      operationKey: this.#inFlight,
      meter: newCostMeter(),
    };
    this.#joinOrSend(id, request, scope).catch(() => undefined);
  }

  /** docs/behaviour.md 7: once upstream refuses a client's key, nothing that was read with it stays cached. */
  #discardIfKeyRefused(error: unknown): void {
    if (error instanceof Unauthenticated) this.discardCache();
  }

  #hit<T>(
    cached: CachedResponse,
    scope: { readonly meter: ReadCounts },
    as: 'cacheHits' | 'staleHits',
  ): Read<T> | null {
    this.#countHit(scope, as);
    const ageS = Math.max(0, this.#options.clock.now() - cached.readAtMs) / 1000;
    scope.meter.oldestAgeS = Math.max(scope.meter.oldestAgeS, ageS);
    return readOf<T>(cached);
  }

  #countHit({ meter }: { readonly meter: ReadCounts }, as: 'cacheHits' | 'staleHits'): void {
    meter[as]++;
    this.#cacheHitCount++;
  }
}

interface Completed {
  readonly cached: CachedResponse;
  /** Another instance has read it. */
  readonly isShared: boolean;
}

function readOf<T>(cached: CachedResponse): Read<T> | null {
  // All callers get the same object, so that values derived from it are computed once.
  return cached.absent ? null : (cached as Read<T>);
}
