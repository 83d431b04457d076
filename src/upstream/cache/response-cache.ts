import { LRUCache } from 'lru-cache';
import type { ForwardMs } from '../../clock.js';

/** A cached response. */
export interface CachedResponse {
  /** Frozen, since many callers share it. */
  readonly value: unknown;
  /** Upstream answered that the resource does not exist; there is no value. */
  readonly absent: boolean;
  readonly readAtMs: ForwardMs;
  /**
   * The response holds all that upstream had at this time: when it was requested, or later where no record delivered
   * since concerns it.
   */
  askedAtMs: ForwardMs;
  /** The response is immutable (docs/behaviour.md 5.5). */
  readonly immutable: boolean;
  /** The version that a list showed when this was requested; null where none had shown it. */
  readonly version: string | null;
  /** Hash of the body that `value` is decoded from; null where the value is something else. */
  readonly digest: string | null;
  /** Estimate of the memory it takes. */
  readonly bytes: number;
}

/** The cached responses of one interface under one key. No other key can see them, and they are cleared together. */
export interface CachePartition {
  get(request: string): CachedResponse | undefined;
  /** As `get`, for one that is looked up again and again. */
  lookUp(request: string): () => CachedResponse | undefined;
  set(request: string, cached: CachedResponse): void;
  delete(request: string): void;
  clear(): void;
}

/** All cached responses, bounded in bytes over all keys; the least recently used are evicted first. */
export interface ResponseCache {
  /** `name` is unique to interface, address and key. */
  part(name: string): CachePartition;
  readonly bytes: number;
  readonly entries: number;
}

export interface ResponseCacheOptions {
  /** CACHE_MAX_BYTES. */
  readonly maxBytes: number;
}

export function createResponseCache({ maxBytes }: ResponseCacheOptions): ResponseCache {
  // Bytes per entry besides its value: the key, and the cache's own bookkeeping.
  const overhead = 400;
  // The key of each cached request, by part: to join name and request anew for each read, and hash the long text, would
  // take longer than the rest of it.
  const keysOf = new Map<string, Map<string, string>>();
  const entries = new LRUCache<
    string,
    { readonly cached: CachedResponse; readonly part: string; readonly request: string }
  >({
    maxSize: Math.max(1, maxBytes),
    // No single entry may evict all others.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 2)),
    sizeCalculation: ({ cached }, key) => cached.bytes + key.length * 4 + overhead,
    disposeAfter: ({ part, request }, _key, reason) => {
      if (reason === 'set') return;
      const keys = keysOf.get(part);
      keys?.delete(request);
      if (keys?.size === 0) keysOf.delete(part);
    },
  });
  return {
    part(name) {
      const keyOf = (request: string) => keysOf.get(name)?.get(request) ?? `${name} ${request}`;
      return {
        get: (request) => entries.get(keyOf(request))?.cached,
        lookUp(request) {
          const key = keyOf(request);
          return () => entries.get(key)?.cached;
        },
        set(request, cached) {
          const key = keyOf(request);
          entries.set(key, { cached, part: name, request });
          if (!entries.has(key)) return;
          const keys = keysOf.get(name) ?? new Map<string, string>();
          keys.set(request, key);
          keysOf.set(name, keys);
        },
        delete: (request) => {
          entries.delete(keyOf(request));
        },
        clear() {
          for (const key of [...(keysOf.get(name)?.values() ?? [])]) entries.delete(key);
        },
      };
    },
    get bytes() {
      return entries.calculatedSize;
    },
    get entries() {
      return entries.size;
    },
  };
}
