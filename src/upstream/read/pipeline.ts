import type { Readable } from 'node:stream';
import { type ForwardMs, longAgo } from '../../clock.js';
import { GatewayError } from '../../errors.js';
import type { ReadCounts } from '../cache/dependencies.js';
import type { Freshness } from '../cache/freshness.js';
import type { CachedResponse } from '../cache/response-cache.js';
import type { SharedCacheEntry } from '../cache/shared-cache.js';
import { isWhole, notFound, requestIdOf } from '../decode/response.js';
import { digestOf } from '../decode/response-reader.js';
import { addressOf } from '../http/address.js';
import { CoalescedRequest, type RequestControl, unsharedControl } from '../resilience/coalesced-request.js';
import { allowsStaleIfError, isDefinite } from '../resilience/outcome.js';
import type { Completed, InterfaceState } from './interface-state.js';
import { newCostMeter, noteRequestId, type Read, type ReadScope } from './read.js';
import type { ReadRequest, Request, UpstreamOptions } from './request.js';
import { RequestSender } from './request-sender.js';

/**
 * Every read of one interface under one key goes through here (docs/behaviour.md 5). The methods follow the order of a
 * read:
 *
 * cache (`read`) → coalesce (`#coalesced`) → shared cache (`#send`) → circuit breaker, retry, queue and rate limit, HTTP, decode
 * (`request-sender.ts`); then `#send` caches the response.
 */
export class Pipeline {
  readonly #state: InterfaceState;
  readonly #options: UpstreamOptions;
  readonly #sender: RequestSender;
  /** The request by which upstream accepts a client's key again. */
  #confirming: CoalescedRequest<Completed> | undefined;

  constructor(state: InterfaceState, options: UpstreamOptions) {
    this.#state = state;
    this.#options = options;
    this.#sender = new RequestSender(state, options);
  }

  /** Null where upstream answers that the resource does not exist. */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    if (scope.demand) this.#state.cache.sendOrder.came(scope.demand);
    const address = addressOf(request.path, request.parameters);
    if (this.#confirming && !this.#state.keyValidity.holds && this.#state.cache.stored(address))
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
      const known = this.#state.cache.get(address, request);
      const isOutdated = known !== undefined && this.#state.cache.isLacking(known, request);
      const current = isOutdated ? this.#state.cache.madeOfDelivered(address, request) : known;
      if (!current || !allowsStaleIfError(error) || !this.#state.keyValidity.outlasts(error)) throw error;
      const helps =
        (current === cached ? freshness : this.#state.cache.freshnessOf(current, request, scope)) !== 'none';
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
    const freshness = this.#state.cache.freshnessOfDelivered(address, delivered, request, scope);
    if (!isServed(freshness)) return false;
    scope.dependencies?.refuse('a delivered record was used');
    this.#state.hits.countAged(
      scope.meter,
      delivered.readAtMs,
      freshness === 'fresh' ? 'cacheHits' : 'staleHits',
    );
    return true;
  }

  #found<T>(address: string, request: ReadRequest<T>, scope: ReadScope) {
    const cached = this.#state.cache.get(address, request);
    const freshness: Freshness = cached ? this.#state.cache.freshnessOf(cached, request, scope) : 'none';
    return { cached, freshness };
  }

  /** Joins the same request where it is in flight, or sends it. */
  async #coalesced<T>(
    address: string,
    request: ReadRequest<T>,
    scope: ReadScope,
    isAgain = false,
  ): Promise<Read<T> | null> {
    const inFlight = this.#state.inFlight.get(address);
    const isCoalesced = inFlight !== undefined && !inFlight.abandoned;
    if (isCoalesced && scope.demand && this.#state.cache.sendOrder.isBefore(inFlight.control, scope.demand)) {
      // Its response may predate the demand, but the same request is never in flight twice (docs/behaviour.md 5.3):
      // wait for it, then read again.
      await this.#whenEnded(inFlight, scope);
      return this.read(request, scope);
    }
    const coalesced = isCoalesced ? inFlight : this.#send(address, request, scope);
    const sinceMs = this.#options.clock.now();
    let completed: Completed;
    try {
      completed = await this.#join(coalesced, scope);
    } catch (error) {
      // A less patient caller's request got no permit in time: this caller still has time to ask by itself.
      const maxWaitMs = this.#state.rateLimit.patienceLeftMs(scope, coalesced.control, sinceMs);
      if (!isCoalesced || maxWaitMs <= 0 || !isOfGateway(error)) throw error;
      return this.#coalesced(address, request, { ...scope, maxWaitMs }, isAgain);
    }
    const { cached: response, isShared } = completed;
    const cached = this.#state.cache.upToDate(address, response, request);
    // A feed delivered a record after this request was sent. Ask again once only: a burst could repeat this for long.
    if (!isAgain && this.#state.cache.isLacking(cached, request))
      return this.#coalesced(address, request, scope, true);
    if (isShared) {
      // The response was read before this waiter joined: it may be too old for the waiter's own age limit.
      const isParticular = hasAgeLimit(scope) || scope.demand !== undefined;
      if (isCoalesced && isParticular && this.#state.cache.freshnessOf(cached, request, scope) !== 'fresh')
        return this.#coalesced(address, request, scope);
      return this.#hit<T>(cached, scope, 'cacheHits');
    }
    if (isCoalesced) this.#state.hits.count(scope.meter, 'cacheHits');
    return readOf<T>(cached);
  }

  #join(coalesced: CoalescedRequest<Completed>, scope: ReadScope): Promise<Completed> {
    return coalesced.join(scope, this.#options.clock, this.#state.rateLimit.longestWaitMs(scope));
  }

  /** Takes the response from the shared cache where another instance has read it, else asks upstream and caches the response. */
  #send<T>(address: string, request: ReadRequest<T>, scope: ReadScope): CoalescedRequest<Completed> {
    const isCurrent = () => this.#state.inFlight.get(address) === coalesced;
    const coalesced: CoalescedRequest<Completed> = new CoalescedRequest(scope, async (control) => {
      const shared = this.#state.shared?.open(address, control, async (body) => {
        const adopted = await this.#state.reader.adopt(
          body,
          request,
          scope.operationKey,
          this.#state.cache.stored(address),
        );
        return adopted && this.#state.cache.withRecent(adopted, request);
      });
      try {
        const found = this.#mayAdopt(scope)
          ? await shared?.find((cached) => this.#state.cache.freshnessOf(cached, request, scope) === 'fresh')
          : null;
        if (found) {
          if (isCurrent()) this.#state.cache.set(address, found);
          return { cached: found, isShared: true };
        }
        const { cached, body } = await this.#askUpstream(address, request, scope, control, shared);
        if (isCurrent()) {
          this.#state.cache.set(address, cached);
          const { readAtMs, askedAtMs, version } = cached;
          shared?.store({ body, readAtMs, askedAtMs, version });
        }
        return { cached, isShared: false };
      } catch (error) {
        if (isCurrent() && isDefinite(error)) {
          this.#state.cache.delete(address);
          shared?.forget();
        }
        if (error instanceof GatewayError) noteRequestId(scope.meter, error.upstream?.requestId);
        if (shared && allowsStaleIfError(error)) {
          const older = await shared.cached();
          const own = this.#state.cache.stored(address);
          if (older && isCurrent() && !(own && own.readAtMs >= older.readAtMs))
            this.#state.cache.set(address, older);
        }
        throw error;
      } finally {
        shared?.leave();
        if (isCurrent()) this.#state.inFlight.delete(address);
        if (this.#confirming === coalesced) this.#confirming = undefined;
      }
    });
    this.#state.inFlight.set(address, coalesced);
    if (!this.#state.keyValidity.holds) this.#confirming ??= coalesced;
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
    const version = this.#state.cache.versionOf(request);
    let askedAtMs: ForwardMs = longAgo;
    return this.#sender.send(address, request, control, scope.meter, {
      send: (http) => {
        shared?.sending();
        this.#state.cache.sendOrder.sent(control);
        askedAtMs = this.#state.cache.requestTimeMs();
        return this.#options.http.get(http);
      },
      decode: async (response, pauseS) => {
        const { reader, cache } = this.#state;
        await reader.slice(response.body.length, scope.operationKey);
        const digest = digestOf(response.body);
        const known = cache.stored(address);
        const same = isWhole(response.status) && known?.digest === digest ? known : null;
        const body = same ? null : reader.bodyOf(response, request, pauseS);
        noteRequestId(scope.meter, requestIdOf(response.headers, body, reader.secrets()));
        const times = { readAtMs: this.#options.clock.now(), askedAtMs, version };
        const read = same ? reader.again(request, same, times) : reader.read(request, body, times, digest);
        const cached = cache.withRecent(read, request);
        this.#state.cache.sendOrder.answered(control, cached);
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
      const stream = await this.#sender.send(address, request, control, scope.meter, {
        send: (http) => this.#options.http.stream(http),
        decode: (response, pauseS) =>
          'stream' in response
            ? this.#state.reader.streamOf(response, request)
            : this.#state.reader.bodyOf(response, request, pauseS),
      });
      return stream === notFound ? null : (stream as Readable);
    } finally {
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    }
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
      this.#state.cache.dependencyOf(address, cached, request, scope, (isFresh, meter, times) =>
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
    this.#state.hits.countAged(meter, cached.readAtMs, isFresh ? 'cacheHits' : 'staleHits', times);
    if (!isFresh) this.#revalidateInBackground(address, request);
  }

  /**
   * A response that another instance has read does not show if it was asked for before or after a demand: a read that
   * demands `no-cache` waits for the other's request to end and sends its own, as it does within one instance.
   */
  #mayAdopt({ maxAgeMs }: ReadScope): boolean {
    return maxAgeMs !== 0 && this.#state.keyValidity.holds;
  }

  #revalidateInBackground<T>(address: string, request: ReadRequest<T>): void {
    if (this.#state.inFlight.has(address)) return;
    const signal = this.#state.closing;
    // All revalidations share one operation key. When one fails, the next read of the response tries again.
    const scope: ReadScope = {
      signal,
      priority: 'background',
      operationKey: this.#state.inFlight,
      meter: newCostMeter(),
    };
    this.#coalesced(address, request, scope).catch(() => undefined);
  }

  #hit<T>(cached: CachedResponse, { meter }: ReadScope, as: 'cacheHits' | 'staleHits'): Read<T> | null {
    this.#state.hits.countAged(meter, cached.readAtMs, as);
    return readOf<T>(cached);
  }
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
