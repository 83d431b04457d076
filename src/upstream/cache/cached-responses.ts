import { type Clock, type ForwardMs, forever, plus } from '../../clock.js';
import type { Read, ReadScope } from '../read/read.js';
import type { ReadRequest } from '../read/request.js';
import { type Delivered, DeliveryLog } from './delivered.js';
import { type Demand, isRecent, SendOrder } from './demand.js';
import type { CacheState, Dependency, ReadCounts } from './dependencies.js';
import { freezeAndMeasure } from './freeze.js';
import { type Freshness, freshnessOf, freshUntilMs } from './freshness.js';
import type { KeyValidity } from './key-validity.js';
import type { CachedResponse, CachePartition } from './response-cache.js';
import { Versions, versionOf } from './validators.js';

// Assumed: the servers of an interface are at most so far apart (docs/interfaces.md P1 says 'a few seconds').
const behindMs = 5_000;

/** The age limits of one read. */
export type AgeLimits = Pick<ReadScope, 'maxAgeMs' | 'notBeforeMs' | 'demand'>;

/**
 * The cached responses of one key of one interface, and what decides if a read may use one: its age, the version that a
 * list last showed, the demand of the request, the records that feeds have delivered since, and the validity of the key.
 */
export class CachedResponses {
  readonly versions: Versions;
  readonly sendOrder = new SendOrder();
  readonly #cache: CachePartition;
  readonly #clock: Clock;
  readonly #keyValidity: KeyValidity;
  readonly #deliveries: DeliveryLog;

  constructor(cache: CachePartition, clock: Clock, keyValidity: KeyValidity) {
    this.#cache = cache;
    this.#clock = clock;
    this.#keyValidity = keyValidity;
    this.#deliveries = new DeliveryLog(clock);
    this.versions = new Versions(cache);
  }

  /** The response as it was written to the cache. */
  stored(id: string): CachedResponse | undefined {
    return this.#cache.get(id);
  }

  /** The response with what feeds have delivered since, or made of it, where that needs no request. */
  get<T>(id: string, request: ReadRequest<T>): CachedResponse | undefined {
    const cached = this.#cache.get(id);
    return cached ? this.upToDate(id, cached, request) : this.madeOfDelivered(id, request);
  }

  /** The response where records that feeds have delivered are all of it. */
  madeOfDelivered<T>(id: string, request: ReadRequest<T>): CachedResponse | undefined {
    const made = request.madeOf?.(this.#deliveries.records(request.kind));
    if (!made) return undefined;
    const { value, readAtMs } = made;
    const response: CachedResponse = {
      value,
      absent: false,
      readAtMs,
      askedAtMs: this.#deliveries.nextMs(),
      immutable: request.isImmutable?.(value, this.#clock.wallMs(readAtMs)) ?? false,
      version: this.versionOf(request),
      digest: null,
      bytes: freezeAndMeasure(value),
    };
    this.#cache.set(id, response);
    return response;
  }

  set(id: string, response: CachedResponse): void {
    this.#cache.set(id, response);
  }

  delete(id: string): void {
    this.#cache.delete(id);
  }

  clear(): void {
    this.#deliveries.clear();
    this.#cache.clear();
  }

  freshnessOf<T>(
    cached: CachedResponse,
    request: ReadRequest<T>,
    { maxAgeMs, notBeforeMs, demand }: AgeLimits,
  ): Freshness {
    if (this.isLacking(cached, request) || (demand && !this.#meets(cached, demand))) return 'none';
    const listed = this.#listedVersion(request);
    const nowMs = this.#clock.now();
    const freshness = freshnessOf(cached, request.kind, { maxAgeMs, notBeforeMs, listed, nowMs });
    return freshness === 'none' || this.#keyValidity.holds ? freshness : 'stale-if-error';
  }

  /**
   * A response as a dependency of an answer: it holds as long as a read like this one would return it.
   * @param served called when the answer is served again
   */
  dependencyOf<T>(
    id: string,
    cached: CachedResponse,
    request: ReadRequest<T>,
    { maxAgeMs, notBeforeMs }: AgeLimits,
    served: (isFresh: boolean, meter: ReadCounts, times: number) => void,
  ): Dependency {
    const limits = { maxAgeMs, notBeforeMs };
    const lookUp = this.#cache.lookUp(id);
    return {
      state: () => {
        const isReturned = lookUp() === cached && this.upToDate(id, cached, request) === cached;
        return isReturned ? stateOf(this.freshnessOf(cached, request, limits)) : 'gone';
      },
      freshUntilMs: () => this.freshUntilMs(cached, request, limits),
      read: (meter, times, isFresh) => served(isFresh, meter, times),
    };
  }

  /**
   * The freshness of a record that a feed has delivered, as if it were the response to `request`; 'none' where a later
   * response is cached.
   */
  freshnessOfDelivered<T>(
    id: string,
    delivered: Read<object>,
    request: ReadRequest<T>,
    limits: AgeLimits,
  ): Freshness {
    const { value, readAtMs } = delivered;
    const cached = this.#cache.get(id);
    if (cached && cached.readAtMs > readAtMs) return 'none';
    if (!this.#deliveries.records(request.kind).includes(delivered)) return 'none';
    const version = versionOf(value);
    const response = { value, readAtMs, absent: false, askedAtMs: forever, immutable: false };
    return this.freshnessOf({ ...response, version, digest: null, bytes: 0 }, request, limits);
  }

  /** The time until which `freshnessOf` returns 'fresh', unless something changes; on the forward clock. */
  freshUntilMs<T>(cached: CachedResponse, request: ReadRequest<T>, limits: AgeLimits): ForwardMs {
    const { maxAgeMs, notBeforeMs } = limits;
    return freshUntilMs(cached, request.kind, {
      maxAgeMs,
      notBeforeMs,
      listed: this.#listedVersion(request),
    });
  }

  /** The version in which a list last showed what is requested; null where none did. */
  versionOf(request: Pick<ReadRequest<unknown>, 'listedAs'>): string | null {
    return this.#listedVersion(request)?.version ?? null;
  }

  /**
   * A feed is about to deliver this record: from now on no response is used that was requested earlier and can lack it,
   * not even as stale-if-error (docs/behaviour.md 5.7).
   */
  delivering(delivered: Delivered): void {
    this.#deliveries.add(delivered);
  }

  /** The time of a request that is sent now, by which later deliveries are distinguished from earlier ones. */
  requestTimeMs(): ForwardMs {
    return this.#deliveries.nextMs();
  }

  /**
   * An immutable response lacks nothing: nothing can be added to it, and closed values do not change (docs/behaviour.md
   * 5.5).
   */
  isLacking<T>({ immutable, askedAtMs }: CachedResponse, request: ReadRequest<T>): boolean {
    return !immutable && this.#deliveries.isLacking(askedAtMs, request);
  }

  /**
   * Adds the records that feeds have delivered since the response was requested, where that needs no request; otherwise
   * the response still lacks them.
   */
  upToDate<T>(id: string, cached: CachedResponse, request: ReadRequest<T>): CachedResponse {
    if (!this.isLacking(cached, request)) return cached;
    const delivered = this.#deliveries.since(request.kind, cached.askedAtMs);
    const value = delivered && !cached.absent && request.takeIn?.(cached as Read<T>, delivered);
    if (!value) return cached;
    const askedAtMs = this.#deliveries.nextMs();
    if (value === cached.value) {
      cached.askedAtMs = askedAtMs;
      return cached;
    }
    const updated = { ...cached, value, askedAtMs, digest: null, bytes: freezeAndMeasure(value) };
    this.sendOrder.answered(cached, updated);
    if (this.#cache.get(id) === cached) this.#cache.set(id, updated);
    return updated;
  }

  /**
   * A response that has just been read, with the records that feeds delivered shortly before it was requested: the server
   * that answered can be behind the one that answered the feed. Where it is not known whether the response lacks a record,
   * it stays as it is.
   */
  withRecent<T>(response: CachedResponse, request: ReadRequest<T>): CachedResponse {
    const { value: read, readAtMs, absent, immutable } = response;
    const { takeIn, kind } = request;
    if (absent || immutable || !takeIn) return response;
    const delivered = this.#deliveries.since(kind, plus(response.askedAtMs, -behindMs)) ?? [];
    if (delivered.length === 0) return response;
    const withOne = (value: T, one: Read<unknown>) => takeIn({ value, readAtMs }, [one]) ?? value;
    // One by one costs as many times as much, and a burst is hundreds.
    const value = takeIn({ value: read as T, readAtMs }, delivered) ?? delivered.reduce(withOne, read as T);
    return value === read ? response : { ...response, value, digest: null, bytes: freezeAndMeasure(value) };
  }

  /** Immutable responses meet every demand, whenever they were read: upstream would answer the same. */
  #meets(cached: CachedResponse, demand: Demand): boolean {
    return cached.immutable || isRecent(demand, cached.readAtMs) || this.sendOrder.isAfter(cached, demand);
  }

  #listedVersion({ listedAs }: Pick<ReadRequest<unknown>, 'listedAs'>) {
    return listedAs === undefined ? undefined : this.versions.listed(listedAs);
  }
}

/** 'gone' where a read would not return the response. */
function stateOf(freshness: Freshness): CacheState {
  if (freshness === 'fresh') return 'fresh';
  return freshness === 'stale-while-revalidate' ? 'stale' : 'gone';
}
