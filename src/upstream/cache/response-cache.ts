import { LRUCache } from 'lru-cache';

/** An answer as it is kept. */
export interface CachedResponse {
  /** Frozen, whatever it is: many share it. */
  readonly value: unknown;
  /** Upstream said that it is not there; there is no value. */
  readonly absent: boolean;
  readonly readAtMs: number;
  /** It has all that upstream had then: when it was asked for, or later where nothing since concerns it. */
  askedAtMs: number;
  /** It will never be otherwise (docs/behaviour.md 5.5). */
  readonly final: boolean;
  /** As a list showed the resource when this was asked for; null where none had. */
  readonly version: string | null;
  /** Estimate of the memory it takes. */
  readonly bytes: number;
}

/** What one key of one interface was told. No other key can see it, and it goes as a whole. */
export interface CachePartition {
  get(request: string): CachedResponse | undefined;
  set(request: string, kept: CachedResponse): void;
  delete(request: string): void;
  clear(): void;
}

/** All that is kept, bounded in bytes over all keys; what was used longest ago goes first. */
export interface ResponseCache {
  /** `name` tells interface, address and key apart. */
  part(name: string): CachePartition;
  readonly bytes: number;
  readonly entries: number;
}

export interface ResponseCacheOptions {
  /** CACHE_MAX_BYTES. */
  readonly maxBytes: number;
}

export function createResponseCache({ maxBytes }: ResponseCacheOptions): ResponseCache {
  // An entry of its own weight: its key, and what the cache itself keeps about it.
  const overhead = 400;
  const requestsOf = new Map<string, Set<string>>();
  const entries = new LRUCache<
    string,
    { readonly kept: CachedResponse; readonly part: string; readonly request: string }
  >({
    maxSize: Math.max(1, maxBytes),
    // Nothing may push out everything else.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 2)),
    sizeCalculation: ({ kept }, key) => kept.bytes + key.length * 4 + overhead,
    disposeAfter: ({ part, request }, _key, reason) => {
      if (reason === 'set') return;
      const requests = requestsOf.get(part);
      requests?.delete(request);
      if (requests?.size === 0) requestsOf.delete(part);
    },
  });
  return {
    part(name) {
      const keyOf = (request: string) => `${name} ${request}`;
      return {
        get: (request) => entries.get(keyOf(request))?.kept,
        set(request, kept) {
          const key = keyOf(request);
          entries.set(key, { kept, part: name, request });
          if (!entries.has(key)) return;
          const requests = requestsOf.get(name) ?? new Set();
          requests.add(request);
          requestsOf.set(name, requests);
        },
        delete: (request) => {
          entries.delete(keyOf(request));
        },
        clear() {
          for (const request of [...(requestsOf.get(name) ?? [])]) entries.delete(keyOf(request));
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
