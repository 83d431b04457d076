import { earliest, type ForwardMs, forever } from '../../clock.js';
/** State of a cached value for a read at one moment; `gone`: the read would find another value, or ask upstream. */
export type CacheState = 'fresh' | 'stale' | 'gone';

/** Counters that reads of cached values raise in an operation's cost. */
export interface ReadCounts {
  cacheHits: number;
  staleHits: number;
  /** Age of the oldest value used, in seconds. */
  oldestAgeS: number;
}

/** A value that an answer was made of: a cached response, several, or a setting. */
export interface Dependency {
  /** The state in which a read would find this very value now. The read itself decides by the same rule. */
  state(): CacheState;
  /** When it stops being fresh unless something changes, on the forward clock. */
  freshUntilMs(): ForwardMs;
  /**
   * Has the side effects of `times` reads: counts them, and revalidates the value where it is stale.
   * @param isFresh as `state` has just answered
   */
  read(meter: ReadCounts, times: number, isFresh: boolean): void;
}

/** Depends on a value that gets another version when it changes, and is fresh until then. */
export function unchanged(version: () => unknown): Dependency {
  const noted = version();
  return {
    state: () => (version() === noted ? 'fresh' : 'gone'),
    freshUntilMs: () => forever,
    read: () => {},
  };
}

// An answer with more dependencies takes as long to check as to make.
const mostDependencies = 256;

/**
 * The cached values that one answer was made of, recorded while it is made. As long as none is gone and `endMs` has not
 * passed, making the answer again would give the same. A source that cannot report its changes calls `refuse`: then the
 * answer is not cached.
 */
export class Dependencies {
  readonly #reads = new Map<object, { readonly dependency: Dependency; times: number; isFresh: boolean }>();
  #endMs: ForwardMs = forever;
  #refusal: string | null = null;

  /** The reason why the answer may not be cached; null when it may. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Number of cached values that the answer is made of. */
  get size(): number {
    return this.#reads.size;
  }

  /** When the answer changes by the clock alone, on the forward clock. */
  get endMs(): ForwardMs {
    return this.#endMs;
  }

  /** @param value the cached value itself: two reads of it are one dependency, counted twice */
  add(value: object, make: () => Dependency): void {
    if (this.#refusal !== null) return;
    const known = this.#reads.get(value);
    if (known) known.times += 1;
    else if (this.#reads.size < mostDependencies)
      this.#reads.set(value, { dependency: make(), times: 1, isFresh: true });
    else this.refuse('made of too many parts');
  }

  /** The answer holds up to this moment, and not after it. */
  endsAfter(ms: ForwardMs): void {
    if (ms < this.#endMs) this.#endMs = ms;
  }

  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  /** State of the whole answer: as stale as its stalest dependency. */
  state(nowMs: ForwardMs): CacheState {
    if (this.#refusal !== null || nowMs > this.#endMs) return 'gone';
    let whole: CacheState = 'fresh';
    for (const read of this.#reads.values()) {
      const state = read.dependency.state();
      if (state === 'gone') return 'gone';
      read.isFresh = state === 'fresh';
      if (!read.isFresh) whole = 'stale';
    }
    return whole;
  }

  /** When the answer stops being fresh unless something changes, on the forward clock. */
  freshUntilMs(): ForwardMs {
    let untilMs = this.#endMs;
    for (const { dependency } of this.#reads.values()) untilMs = earliest(untilMs, dependency.freshUntilMs());
    return untilMs;
  }

  /**
   * Has the side effects of making the answer again, in the state that `state` has just answered: the reads are counted,
   * and stale values are revalidated.
   */
  readAgain(meter: ReadCounts): void {
    for (const { dependency, times, isFresh } of this.#reads.values()) dependency.read(meter, times, isFresh);
  }
}
