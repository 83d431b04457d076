import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GatewayError, type Source, Unauthenticated } from '../../errors.js';
import { type Delivered, DeliveryLog } from '../cache/delivered.js';
import { type Demand, isRecent, SendOrder } from '../cache/demand.js';
import type { ReadCounts } from '../cache/dependencies.js';
import { createDerivedCache, type DerivedCache } from '../cache/derived-cache.js';
import { freezeAndMeasure } from '../cache/freeze.js';
import { type Freshness, freshnessOf, freshUntilMs } from '../cache/freshness.js';
import { KeyValidity } from '../cache/key-validity.js';
import type { CachedResponse, CachePartition } from '../cache/response-cache.js';
import { SharedCache, type SharedCacheEntry } from '../cache/shared-cache.js';
import { type ListedVersion, Versions } from '../cache/validators.js';
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
  readonly #kept: CachePartition;
  /** What others make of the answers. */
  readonly derivedCache: DerivedCache;
  readonly #versions: Versions;
  readonly #keyValidity: KeyValidity;
  readonly #deliveries: DeliveryLog;
  readonly #inFlight = new Map<string, CoalescedRequest<Landed>>();
  /** Null in one process. */
  readonly #shared: SharedCache | null;
  readonly #closing = new AbortController();
  readonly #reader: ResponseReader;
  readonly #sendOrder = new SendOrder();
  readonly #stopHearing: (() => void) | undefined;
  #confirming: CoalescedRequest<Landed> | undefined;
  #cacheHitCount = 0;

  constructor(source: Source, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    const name = `${source} ${keyHash}`;
    this.#exchange = new Exchange(source, name, options);
    this.#kept = options.cache.part(name);
    this.derivedCache = createDerivedCache(options.cache.part(`derived ${name}`), options.clock);
    this.#versions = new Versions(this.#kept);
    this.#reader = new ResponseReader(source, options, this.#versions);
    const { clock, store, timeoutMs, maxWaitMs } = options;
    this.#deliveries = new DeliveryLog(clock);
    const bodies = store.bodies(name);
    this.#shared = bodies && new SharedCache({ bodies, clock, mostWaitMs: timeoutMs + maxWaitMs });
    this.#keyValidity = new KeyValidity(options.keyOwner, this.#exchange.condition, options.clock);
    this.#stopHearing = this.#shared?.onCleared(() => {
      this.#exchange.condition.doubt();
      this.#discardOwn();
    });
  }

  /**
   * The steps of one read: what is kept, if it will do; what is in flight already; circuit breaker, rate limit and HTTP
   * (`Exchange`); decoding; keeping. Null where upstream says that the resource is not there.
   */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    if (scope.demand) this.#sendOrder.came(scope.demand);
    const id = address(request.path, request.parameters);
    if (this.#confirming && !this.#keyValidity.holds && this.#kept.get(id))
      await this.#outlasted(this.#confirming, scope);
    const kept = this.#cached(id, request);
    const use = kept ? this.#freshnessOf(kept, request, scope) : 'none';
    if (kept && (use === 'fresh' || use === 'stale-while-revalidate')) {
      this.#note(id, kept, request, scope);
      if (use === 'fresh') return this.#hit<T>(kept, scope, 'cacheHits');
      this.#refreshBehind(id, request);
      return this.#hit<T>(kept, scope, 'staleHits');
    }
    scope.dependencies?.refuse('upstream was asked');
    try {
      return await this.#joinOrFly(id, request, scope);
    } catch (error) {
      // It may have been forgotten meanwhile, or be what another instance has read.
      const still = this.#cached(id, request);
      if (!still || !allowsStaleIfError(error) || !this.#keyValidity.outlasts(error)) throw error;
      const helps = (still === kept ? use : this.#freshnessOf(still, request, scope)) !== 'none';
      if (!helps || this.#isLacking(still, request)) throw error;
      return this.#hit<T>(still, scope, 'staleHits');
    }
  }

  /** A body as it arrives: neither kept nor shared, but under the same budget. Null where it is not there. */
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
      this.#forgetRefused(error);
      throw error;
    } finally {
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    }
  }

  status(): UpstreamStatus {
    const { condition, sender: gate, circuitBreaker, requestCount } = this.#exchange;
    return {
      source: this.#source,
      reachable: condition.reachable,
      reachableAsOfMs: condition.reachableAsOfMs,
      lastErrorCode: condition.lastErrorCode,
      lastErrorAtMs: condition.lastErrorAtMs,
      requestCount,
      cacheHitCount: this.#cacheHitCount,
      circuitOpenUntilMs: circuitBreaker.retryAtMs,
      ...gate.status(),
    };
  }

  /** What others keep of the answers is under the same rule as what is kept here. */
  get mayShowKept(): boolean {
    return this.#keyValidity.holds || this.#keyValidity.outlasts(null);
  }

  /**
   * A feed is about to deliver this: no response that was asked for before and can lack it is served from now on, not even
   * when upstream fails (docs/behaviour.md 5.7).
   */
  delivering(delivered: Delivered): void {
    this.#deliveries.add(delivered);
  }

  discardCache(): void {
    this.#discardOwn();
    this.#shared?.clear();
  }

  close(): void {
    this.#closing.abort(new Error('The client of this interface is closed'));
    this.#exchange.sender.close();
    this.#stopHearing?.();
    this.#discardOwn();
  }

  #discardOwn(): void {
    // Those on their way land for those who wait for them already, and for nobody else.
    this.#inFlight.clear();
    this.#kept.clear();
    this.derivedCache.clear();
  }

  /**
   * Waits until a request is over, whatever comes of it; the read then looks anew. Where a key has to be accepted anew before
   * cached responses may be shown, one request is enough for all reads.
   */
  async #outlasted(flight: CoalescedRequest<Landed>, scope: ReadScope): Promise<void> {
    await flight.join(scope, () => this.#options.clock.now()).catch(() => undefined);
    scope.signal.throwIfAborted();
  }

  #freshnessOf<T>(
    kept: CachedResponse,
    request: ReadRequest<T>,
    { maxAgeMs, notBeforeMs, demand }: Pick<ReadScope, 'maxAgeMs' | 'notBeforeMs' | 'demand'>,
  ): Freshness {
    if (this.#isLacking(kept, request) || (demand && !this.#meets(kept, demand))) return 'none';
    const { kind, listedAs } = request;
    const seen = this.#seen(listedAs);
    const use = freshnessOf(kept, kind, { maxAgeMs, notBeforeMs, seen, nowMs: this.#options.clock.now() });
    return use === 'none' || this.#keyValidity.holds ? use : 'stale-if-error';
  }

  /** An immutable response does, whenever it was read: upstream would say the same. */
  #meets(kept: CachedResponse, demand: Demand): boolean {
    return kept.final || isRecent(demand, kept.readAtMs) || this.#sendOrder.isAfter(kept, demand);
  }

  /** A cached response as a part of an answer: current as long as a read like this one would be given it. */
  #note<T>(id: string, kept: CachedResponse, request: ReadRequest<T>, scope: ReadScope): void {
    const { maxAgeMs, notBeforeMs } = scope;
    // Under a rule of its own a second read of the same response is a part of its own.
    const isParticular = (maxAgeMs ?? notBeforeMs) !== undefined;
    scope.dependencies?.add(isParticular ? {} : kept, () => ({
      state: () => {
        if (this.#cached(id, request) !== kept) return 'gone';
        const use = this.#freshnessOf(kept, request, { maxAgeMs, notBeforeMs });
        if (use === 'fresh') return 'fresh';
        return use === 'stale-while-revalidate' ? 'stale' : 'gone';
      },
      freshUntilMs: () =>
        freshUntilMs(kept, request.kind, { maxAgeMs, notBeforeMs, seen: this.#seen(request.listedAs) }),
      read: (meter, times) => {
        const isFresh = this.#freshnessOf(kept, request, { maxAgeMs, notBeforeMs }) === 'fresh';
        for (let count = 0; count < times; count++)
          this.#hit(kept, { meter }, isFresh ? 'cacheHits' : 'staleHits');
        if (!isFresh) this.#refreshBehind(id, request);
      },
    }));
  }

  #cached<T>(id: string, request: ReadRequest<T>): CachedResponse | undefined {
    const kept = this.#kept.get(id);
    return kept && this.#upToDate(id, kept, request);
  }

  /** With what feeds have delivered since it was asked for, where that takes no request; else it lacks that still. */
  #upToDate<T>(id: string, kept: CachedResponse, request: ReadRequest<T>): CachedResponse {
    if (!this.#isLacking(kept, request)) return kept;
    const delivered = this.#deliveries.since(request.kind, kept.askedAtMs);
    const value = delivered && !kept.absent && request.takeIn?.(kept as Read<T>, delivered);
    if (!value) return kept;
    const askedAtMs = this.#deliveries.nextMs();
    if (value === kept.value) {
      kept.askedAtMs = askedAtMs;
      return kept;
    }
    const whole = { ...kept, value, askedAtMs, bytes: freezeAndMeasure(value) };
    this.#sendOrder.answered(kept, whole);
    if (this.#kept.get(id) === kept) this.#kept.set(id, whole);
    return whole;
  }

  /** An immutable response lacks nothing: nothing can be added to it, and closed values do not change (docs/behaviour.md 5.5). */
  #isLacking<T>({ final, askedAtMs }: CachedResponse, request: ReadRequest<T>): boolean {
    return !final && this.#deliveries.isLacking(askedAtMs, request);
  }

  #seen(listedAs: string | undefined): ListedVersion | undefined {
    return listedAs === undefined ? undefined : this.#versions.seen(listedAs);
  }

  async #joinOrFly<T>(
    id: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    isAgain = false,
  ): Promise<Read<T> | null> {
    const inFlight = this.#inFlight.get(id);
    const joined = inFlight !== undefined && !inFlight.abandoned;
    if (joined && scope.demand && this.#sendOrder.isBefore(inFlight.control, scope.demand)) {
      // Its response may be of before the demand; but the same request is never in flight twice (docs/behaviour.md 5.3).
      await this.#outlasted(inFlight, scope);
      return this.read(request, scope);
    }
    const flight = joined ? inFlight : this.#fly(id, request, scope);
    const { kept: landed, isShared } = await flight.join(scope, () => this.#options.clock.now());
    const kept = this.#upToDate(id, landed, request);
    // Something was delivered since it was sent. It is asked again once only: under a burst that could go on for long.
    if (!isAgain && this.#isLacking(kept, request)) return this.#joinOrFly(id, request, scope, true);
    if (isShared) {
      // Who came later may not make do with what was read before.
      const isParticular = (scope.maxAgeMs ?? scope.notBeforeMs ?? scope.demand) !== undefined;
      if (joined && isParticular && this.#freshnessOf(kept, request, scope) !== 'fresh')
        return this.#joinOrFly(id, request, scope);
      return this.#hit<T>(kept, scope, 'cacheHits');
    }
    if (joined) this.#countHit(scope, 'cacheHits');
    return readOf<T>(kept);
  }

  #fly<T>(id: string, request: ReadRequest<T>, scope: ReadScope): CoalescedRequest<Landed> {
    const isCurrent = () => this.#inFlight.get(id) === flight;
    const flight: CoalescedRequest<Landed> = new CoalescedRequest(scope, async (control) => {
      const shared = this.#shared?.open(id, control);
      try {
        const found = shared && (await this.#find(shared, request, scope));
        if (found) {
          if (isCurrent()) this.#kept.set(id, found);
          return { kept: found, isShared: true };
        }
        const { kept, body } = await this.#ask(id, request, scope, control, shared);
        if (isCurrent()) {
          this.#kept.set(id, kept);
          const { readAtMs, askedAtMs, version } = kept;
          shared?.keep({ body, readAtMs, askedAtMs, version });
        }
        return { kept, isShared: false };
      } catch (error) {
        if (isCurrent() && isDefinite(error)) {
          this.#kept.delete(id);
          shared?.forget();
        }
        if (error instanceof GatewayError) noteRequestId(scope.meter, error.upstream?.requestId);
        this.#forgetRefused(error);
        if (shared && allowsStaleIfError(error)) {
          const older = await this.#older(shared, request, scope);
          const own = this.#kept.get(id);
          if (older && isCurrent() && !(own && own.readAtMs >= older.readAtMs)) this.#kept.set(id, older);
        }
        throw error;
      } finally {
        shared?.leave();
        if (isCurrent()) this.#inFlight.delete(id);
        if (this.#confirming === flight) this.#confirming = undefined;
      }
    });
    this.#inFlight.set(id, flight);
    if (!this.#keyValidity.holds) this.#confirming ??= flight;
    return flight;
  }

  /** What upstream says, and the body as it sent it; null where there is none. */
  async #ask<T>(
    id: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    control: RequestControl,
    shared: SharedCacheEntry | undefined,
  ): Promise<{ readonly kept: CachedResponse; readonly body: Buffer | null }> {
    // As of before it is asked for: the answer is of this version or a later one.
    const version = this.#seen(request.listedAs)?.version ?? null;
    let askedAtMs = Number.NEGATIVE_INFINITY;
    return this.#exchange.ask(id, request, control, scope.meter, {
      send: async (http) => {
        shared?.sending();
        this.#sendOrder.sent(control);
        askedAtMs = this.#deliveries.nextMs();
        const answer = await this.#options.http.get(http);
        await this.#reader.turn(answer.body.length, scope.operationKey);
        return answer;
      },
      open: (answer, heldS) => {
        const body = this.#reader.bodyOf(answer, request, heldS);
        noteRequestId(scope.meter, requestIdOf(answer.headers, body, this.#options.key));
        const readAtMs = this.#options.clock.now();
        const kept = this.#reader.read(request, body, { readAtMs, askedAtMs, version });
        this.#sendOrder.answered(control, kept);
        return { kept, body: body === notFound ? null : answer.body };
      },
    });
  }

  /** What another instance has read, where it is as good as what upstream would say now. */
  async #find<T>(
    shared: SharedCacheEntry,
    request: ReadRequest<T>,
    scope: ReadScope,
  ): Promise<CachedResponse | null> {
    // Whether another instance asked before or after a demand cannot be told.
    if (scope.maxAgeMs === 0 || scope.demand?.maxAgeMs === 0 || !this.#keyValidity.holds) return null;
    return shared.find(async (body) => {
      const kept = await this.#reader.adopt(body, request, scope.operationKey);
      return kept && this.#freshnessOf(kept, request, scope) === 'fresh' ? kept : null;
    });
  }

  /** What another instance has read, where it is better than nothing. */
  async #older<T>(
    shared: SharedCacheEntry,
    request: ReadRequest<T>,
    scope: ReadScope,
  ): Promise<CachedResponse | null> {
    const body = await shared.body();
    return body && this.#reader.adopt(body, request, scope.operationKey);
  }

  #refreshBehind<T>(id: string, request: ReadRequest<T>): void {
    if (this.#inFlight.has(id)) return;
    const { signal } = this.#closing;
    // Refreshes are one operation among themselves. When one fails, the next who asks tries again.
    const scope: ReadScope = {
      signal,
      priority: 'background',
      operationKey: this.#inFlight,
      meter: newCostMeter(),
    };
    this.#joinOrFly(id, request, scope).catch(() => undefined);
  }

  /** docs/behaviour.md 7: a client's key that upstream refuses has nothing kept any more. */
  #forgetRefused(error: unknown): void {
    if (error instanceof Unauthenticated) this.discardCache();
  }

  #hit<T>(
    kept: CachedResponse,
    scope: { readonly meter: ReadCounts },
    as: 'cacheHits' | 'staleHits',
  ): Read<T> | null {
    this.#countHit(scope, as);
    const ageS = Math.max(0, this.#options.clock.now() - kept.readAtMs) / 1000;
    scope.meter.oldestAgeS = Math.max(scope.meter.oldestAgeS, ageS);
    return readOf<T>(kept);
  }

  #countHit({ meter }: { readonly meter: ReadCounts }, as: 'cacheHits' | 'staleHits'): void {
    meter[as]++;
    this.#cacheHitCount++;
  }
}

interface Landed {
  readonly kept: CachedResponse;
  /** Another instance has read it. */
  readonly isShared: boolean;
}

function readOf<T>(kept: CachedResponse): Read<T> | null {
  // The same object for all: what is derived from it is made once.
  return kept.absent ? null : (kept as Read<T>);
}
