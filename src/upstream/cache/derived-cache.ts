import type { Clock } from '../../clock.js';
import type { CachePartition } from './response-cache.js';

/** Derived cache of one key: values computed from many responses, under the same bound (`CACHE_MAX_BYTES`). */
export interface DerivedCache {
  /** Undefined when it was never put, or has been evicted since. */
  get(name: string): unknown;
  /** `bytes`: estimate of the memory it takes. A value larger than the cache permits is not cached. */
  put(name: string, value: unknown, bytes: number): void;
  delete(name: string): void;
  clear(): void;
}

export function createDerivedCache(part: CachePartition, clock: Clock): DerivedCache {
  return {
    get: (name) => part.get(name)?.value,
    put(name, value, bytes) {
      const readAtMs = clock.now();
      part.set(name, {
        value,
        bytes,
        readAtMs,
        askedAtMs: readAtMs,
        absent: false,
        immutable: false,
        version: null,
        digest: null,
      });
    },
    delete: (name) => part.delete(name),
    clear: () => part.clear(),
  };
}
