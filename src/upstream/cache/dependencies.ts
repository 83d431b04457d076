/** What a cached value is to a read at one moment; `gone`: the read would find another value, or ask upstream. */
export type CacheState = 'fresh' | 'stale' | 'gone';

/** What reads of cached values count up in an operation's cost. */
export interface ReadCounts {
  cacheHits: number;
  staleHits: number;
  /** Age of the oldest value used, in seconds. */
  oldestAgeS: number;
}

/** A value that an answer was made of: a cached response, a list of several, a setting. */
export interface Dependency {
  /** How a read would find this very value now. The read itself decides by the same rule. */
  state(): CacheState;
  /** Until when it is fresh unless something changes, in milliseconds since 1970. */
  freshUntilMs(): number;
  /** Does what `times` reads of it would do besides: counts them, and revalidates it where it is stale. */
  read(meter: ReadCounts, times: number): void;
}

/** On something that gets another version when it changes, and is fresh as long as it has not. */
export function unchanged(version: () => unknown): Dependency {
  const noted = version();
  return {
    state: () => (version() === noted ? 'fresh' : 'gone'),
    freshUntilMs: () => Number.POSITIVE_INFINITY,
    read: () => {},
  };
}

// An answer of more parts takes as long to check as to make.
const mostDependencies = 256;

/**
 * All that one answer was made of, noted while it is made. As long as no part is gone and `endMs` has not passed, making the
 * answer again would give the same. What cannot say when it changes refuses: then the answer is not kept.
 */
export class Dependencies {
  readonly #reads = new Map<object, { readonly dependency: Dependency; times: number }>();
  #endMs = Number.POSITIVE_INFINITY;
  #refusal: string | null = null;

  /** Why the answer may not be kept; null when it may. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** How many cached values it is made of. */
  get size(): number {
    return this.#reads.size;
  }

  /** When the answer becomes another one by the clock alone, in milliseconds since 1970. */
  get endMs(): number {
    return this.#endMs;
  }

  /** @param value the cached value itself: two reads of it are one dependency, counted twice */
  add(value: object, make: () => Dependency): void {
    if (this.#refusal !== null) return;
    const known = this.#reads.get(value);
    if (known) known.times += 1;
    else if (this.#reads.size < mostDependencies) this.#reads.set(value, { dependency: make(), times: 1 });
    else this.refuse('made of too many parts');
  }

  /** The answer holds up to this moment, and not after it. */
  endsAfter(ms: number): void {
    if (ms < this.#endMs) this.#endMs = ms;
  }

  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  /** Of the answer as a whole: as stale as its stalest part. */
  state(nowMs: number): CacheState {
    if (this.#refusal !== null || nowMs > this.#endMs) return 'gone';
    let whole: CacheState = 'fresh';
    for (const { dependency } of this.#reads.values()) {
      const state = dependency.state();
      if (state === 'gone') return 'gone';
      if (state === 'stale') whole = 'stale';
    }
    return whole;
  }

  /** Until when the answer is fresh unless something changes, in milliseconds since 1970. */
  freshUntilMs(): number {
    let untilMs = this.#endMs;
    for (const { dependency } of this.#reads.values()) untilMs = Math.min(untilMs, dependency.freshUntilMs());
    return untilMs;
  }

  /** Does what making the answer again would do besides: the reads are counted, and what is stale is revalidated. */
  readAgain(meter: ReadCounts): void {
    for (const { dependency, times } of this.#reads.values()) dependency.read(meter, times);
  }
}
