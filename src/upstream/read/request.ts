import type { Clock, UnixMs } from '../../clock.js';
import type { Source } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Store } from '../../store/store.js';
import type { RecordKind } from '../cache/freshness.js';
import type { ResponseCache } from '../cache/response-cache.js';
import type { Listed } from '../cache/validators.js';
import type { Decoding } from '../decode/list.js';
import type { Asked, KeyOwner } from '../decode/response.js';
import type { Parameters } from '../http/address.js';
import type { Http } from '../http/http.js';
import type { RateLimitSettings } from '../rate-limit/limiter.js';
import type { Priority, Read } from './read.js';

/** One interface under one key. */
export interface UpstreamOptions {
  /** Without `/v1`; can have a path prefix. */
  readonly baseUrl: string;
  readonly key: string;
  readonly keyOwner: KeyOwner;
  /** Secrets of the tenant beside `key`, as they are now: no text of upstream that repeats one is passed on. */
  readonly otherSecrets?: (() => readonly string[]) | undefined;
  /** Shared by all clients, as is the cache. */
  readonly http: Http;
  readonly cache: ResponseCache;
  /** State that is shared with other instances. */
  readonly store: Store;
  readonly rateLimit: RateLimitSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** UPSTREAM_TIMEOUT_MS. */
  readonly timeoutMs: number;
  /** UPSTREAM_MAX_WAIT_MS. */
  readonly maxWaitMs: number;
  /** Called when upstream refused the key: in `passthrough`, all sessions of that key end (docs/behaviour.md 7). */
  readonly onKeyRefused?: (() => void) | undefined;
  /** Called for every request that is sent, for metrics and traces; the returned function is called when it ends. */
  readonly onRequest?: ((request: SentRequest) => (end: RequestEnd) => void) | undefined;
}

export interface SentRequest {
  readonly source: Source;
  /** As the specs spell it: one of a few values, whatever the identifiers. */
  readonly endpoint: string;
  readonly priority: Priority;
}

export interface RequestEnd {
  /** Null where there was no response. */
  readonly status: number | null;
}

/** One request to upstream. */
export interface Request extends Pick<Asked, 'endpoint' | 'list'> {
  readonly path: string;
  readonly parameters: Parameters;
  /** Wire parameter → argument of the graph, for the message about a wrong one. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** A request, and how its response is decoded and cached. */
export interface ReadRequest<T> extends Request {
  readonly kind: RecordKind;
  readonly decode: (body: unknown, decoding: Decoding) => T;
  /** True where the response is immutable (docs/behaviour.md 5.5). */
  readonly isImmutable?: (value: T, readOnMs: UnixMs) => boolean;
  /**
   * The name that lists give the resource, where they show enough to detect that it has not changed (docs/behaviour.md
   * 5.5).
   */
  readonly listedAs?: string;
  /**
   * The counterpart of `listedAs`: the resources that this list shows, each with a version that changes when it does.
   */
  readonly lists?: (value: T) => Listed;
  /**
   * Adds records of its kind that feeds have delivered to the response, as upstream would answer now; null where that
   * cannot be decided. Undefined where it never can.
   */
  readonly takeIn?: (read: Read<T>, delivered: readonly Read<unknown>[]) => T | null;
  /**
   * The whole response, made of records of its kind that feeds have delivered; null where they are not all of it.
   * Undefined where they never are.
   */
  readonly madeOf?: (delivered: readonly Read<unknown>[]) => Read<T> | null;
}
