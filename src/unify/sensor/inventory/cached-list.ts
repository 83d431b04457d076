import { type Clock, dayMs, hourMs, minuteMs, plus } from '../../../clock.js';
import { type Demand, isRecent } from '../../../upstream/cache/demand.js';
import type { CacheState, Dependency, ReadCounts } from '../../../upstream/cache/dependencies.js';
import type { DerivedCache } from '../../../upstream/cache/derived-cache.js';
import {
  freshMs as lifetimesMs,
  staleIfErrorMs,
  staleWhileRevalidateMs,
} from '../../../upstream/cache/freshness.js';
import type { RateLimitStatus } from '../../../upstream/read/read.js';
import type { Listed } from './reading.js';

export interface CachedListOptions {
  readonly clock: Clock;
  readonly rateLimit: () => RateLimitStatus;
  /** False when upstream must accept the key again before anything cached is shown (docs/behaviour.md 7). */
  readonly mayServeCached: () => boolean;
  /** Stores the list, so that it counts towards the size bound of the whole cache. */
  readonly derivedCache: DerivedCache;
}

const freshMs = lifetimesMs.sensor;
const longestIntervalMs = hourMs;

// Each interface has a derived cache of its own, so that one key is enough.
const cacheKey = 'sensors';

/** The cached list of all sensors of one interface, and what its age permits (docs/behaviour.md 5.6). */
export class CachedList<W> {
  readonly #options: CachedListOptions;

  constructor(options: CachedListOptions) {
    this.#options = options;
  }

  get current(): Listed<W> | null {
    return (this.#options.derivedCache.get(cacheKey) as Listed<W> | undefined) ?? null;
  }

  usable(maxAgeMs: number, demand?: Demand): Listed<W> | null {
    const cached = this.current;
    if (!cached || (demand && !isRecent(demand, cached.readAtMs))) return null;
    return this.#ageMs(cached) <= maxAgeMs ? cached : null;
  }

  /**
   * The list, where it may be served without waiting for upstream. A list of so many pages that the budget does not yet
   * allow another reading is served for longer.
   */
  servable(demand?: Demand): Listed<W> | null {
    const cached = this.usable(staleIfErrorMs, demand);
    if (!cached) return null;
    const ageMs = this.#ageMs(cached);
    if (ageMs <= staleWhileRevalidateMs('sensor')) return cached;
    return ageMs <= this.intervalMs(cached.pages) ? cached : null;
  }

  isFresh(listed: Listed<W>): boolean {
    return this.#ageMs(listed) <= freshMs;
  }

  put(listed: Listed<W>, bytes: number): void {
    this.#options.derivedCache.put(cacheKey, listed, bytes);
  }

  delete(): void {
    this.#options.derivedCache.delete(cacheKey);
  }

  /** The list as a dependency of an answer; `revalidate` is called where a stale one is used again. */
  dependency(listed: Listed<W>, revalidate: () => void): Dependency {
    return {
      state: (): CacheState => {
        if (this.servable() !== listed || !this.#options.mayServeCached()) return 'gone';
        return this.isFresh(listed) ? 'fresh' : 'stale';
      },
      freshUntilMs: () => plus(listed.readAtMs, freshMs),
      read: (meter, _times, isFresh) => {
        this.count(listed, meter);
        if (!isFresh) revalidate();
      },
    };
  }

  count(listed: Listed<W>, meter: ReadCounts): void {
    const ageMs = this.#ageMs(listed);
    if (ageMs <= freshMs) meter.cacheHits += listed.pages;
    else meter.staleHits += listed.pages;
    meter.oldestAgeS = Math.max(meter.oldestAgeS, ageMs / 1000);
  }

  /**
   * Interval between readings of a list of so many pages: as in docs/behaviour.md 5.6, or longer where that would take
   * more than a quarter of the budget per minute, or more than 90 % of the rest of the daily quota.
   */
  intervalMs(pages: number): number {
    const { perMinute, remainingToday } = this.#options.rateLimit();
    const byMinute = (pages * minuteMs * 4) / Math.max(1, perMinute);
    const byDay = remainingToday === null ? 0 : (pages * dayMs) / Math.max(1, remainingToday * 0.9);
    return Math.min(longestIntervalMs, Math.max(freshMs, byMinute, byDay));
  }

  #ageMs(listed: Listed<W>): number {
    return this.#options.clock.now() - listed.readAtMs;
  }
}
