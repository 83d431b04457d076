import { createHash } from 'node:crypto';
import {
  BadUserInput,
  GatewayError,
  type Source,
  Unauthenticated,
  UpstreamUnauthorized,
} from '../../errors.js';
import { CachedResponses } from '../cache/cached-responses.js';
import { createDerivedCache, type DerivedCache } from '../cache/derived-cache.js';
import { HitCounter } from '../cache/hit-counter.js';
import { KeyValidity } from '../cache/key-validity.js';
import type { CachedResponse } from '../cache/response-cache.js';
import { SharedCache } from '../cache/shared-cache.js';
import { ResponseReader } from '../decode/response-reader.js';
import { RateLimit } from '../rate-limit/rate-limit.js';
import { CircuitBreaker } from '../resilience/circuit-breaker.js';
import type { CoalescedRequest } from '../resilience/coalesced-request.js';
import { Condition } from '../resilience/outcome.js';
import type { UpstreamStatus } from './read.js';
import type { Request, UpstreamOptions } from './request.js';

/** How a coalesced request ended. */
export interface Completed {
  readonly cached: CachedResponse;
  /** Another instance has read it. */
  readonly isShared: boolean;
}

/**
 * State that all reads of one interface under one key share: its caches, the requests in flight, the circuit breaker,
 * the rate limit, and what is known of its condition. `pipeline.ts` says in which order a read uses them.
 */
export class InterfaceState {
  readonly source: Source;
  readonly cache: CachedResponses;
  /** Values derived from several responses; evicted with them. */
  readonly derivedCache: DerivedCache;
  readonly keyValidity: KeyValidity;
  readonly hits: HitCounter;
  readonly inFlight = new Map<string, CoalescedRequest<Completed>>();
  /** Null in one process. */
  readonly shared: SharedCache | null;
  readonly circuitBreaker: CircuitBreaker;
  readonly rateLimit: RateLimit;
  readonly reader: ResponseReader;
  requestCount = 0;
  readonly #options: UpstreamOptions;
  readonly #condition = new Condition();
  readonly #closing = new AbortController();
  readonly #stopListening: (() => void) | undefined;

  constructor(source: Source, options: UpstreamOptions) {
    this.source = source;
    this.#options = options;
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    const name = `${source} ${keyHash}`;
    const { clock, store, timeoutMs, maxWaitMs } = options;
    this.circuitBreaker = new CircuitBreaker(source, clock);
    this.rateLimit = new RateLimit({ ...options, source, name });
    this.derivedCache = createDerivedCache(options.cache.part(`derived ${name}`), clock);
    this.keyValidity = new KeyValidity(options.keyOwner, this.#condition, clock);
    this.cache = new CachedResponses(options.cache.part(name), clock, this.keyValidity);
    this.hits = new HitCounter(clock);
    this.reader = new ResponseReader(source, options, this.cache.versions);
    const bodies = store.bodies(name);
    this.shared = bodies && new SharedCache({ bodies, clock, mostWaitMs: timeoutMs + maxWaitMs });
    this.#stopListening = this.shared?.onCleared(() => {
      this.#condition.doubt();
      this.#discardOwn();
    });
  }

  /** Aborted when the client of the interface is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  succeeded(): void {
    this.#condition.succeeded(this.#options.clock.now());
  }

  failed(request: Request, error: unknown): void {
    this.#condition.failed(error, this.#options.clock.now());
    this.#logFailure(request, error);
    if (error instanceof Unauthenticated || error instanceof UpstreamUnauthorized)
      this.#options.onKeyRefused?.();
    // docs/behaviour.md 7: once upstream refuses a client's key, nothing that was read with it stays cached.
    if (error instanceof Unauthenticated) this.discardCache();
  }

  status(): UpstreamStatus {
    const { reachable, reachableAsOfMs, lastErrorCode, lastErrorAtMs } = this.#condition;
    return {
      source: this.source,
      reachable,
      reachableAsOfMs,
      lastErrorCode,
      lastErrorAtMs,
      requestCount: this.requestCount,
      cacheHitCount: this.hits.total,
      circuitOpenUntilMs: this.circuitBreaker.retryAtMs,
      ...this.rateLimit.status(),
    };
  }

  /** Derived values follow the same rule as the cached responses: the key must still be valid. */
  get mayServeCached(): boolean {
    return this.keyValidity.holds || this.keyValidity.outlasts(null);
  }

  discardCache(): void {
    this.#discardOwn();
    this.shared?.clear();
  }

  close(): void {
    this.#closing.abort(new Error('The client of this interface is closed'));
    this.rateLimit.close();
    this.#stopListening?.();
    this.#discardOwn();
  }

  #discardOwn(): void {
    // Requests in flight still answer their waiters, but are neither joined by others nor cached.
    this.inFlight.clear();
    this.cache.clear();
    this.derivedCache.clear();
  }

  /** Logs upstream's error with its request id: clients see only a part of it. */
  #logFailure({ endpoint }: Request, error: unknown): void {
    if (!(error instanceof GatewayError) || !error.upstream || error instanceof BadUserInput) return;
    const { code, upstream, retryAfterS, cause } = error;
    this.#options.log.warn({ endpoint, failure: code, upstream, retryAfterS, cause }, 'Upstream read failed');
  }
}
