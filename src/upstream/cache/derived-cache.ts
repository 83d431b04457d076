import type { Clock } from '../../clock.js';
import type { CachePartition } from './response-cache.js';

/** A place beside the answers of one key for what is made of many of them: under the same bound (`CACHE_MAX_BYTES`). */
export interface DerivedCache {
  /** Undefined when it was never put there, or has had to go since. */
  get(name: string): unknown;
  /** `bytes`: what it takes of memory, as estimated. What is larger than the cache is not kept. */
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
        final: false,
        version: null,
      });
    },
    delete: (name) => part.delete(name),
    clear: () => part.clear(),
  };
}
