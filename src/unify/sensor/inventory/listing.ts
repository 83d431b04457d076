import { type ForwardMs, forever, longAgo, plus } from '../../../clock.js';
import type { Demand } from '../../../upstream/cache/demand.js';
import type { Dependency } from '../../../upstream/cache/dependencies.js';
import { freshMs as lifetimesMs, staleIfErrorMs } from '../../../upstream/cache/freshness.js';
import type { Read } from '../../../upstream/read/read.js';
import { allowsStaleIfError, isDefinite } from '../../../upstream/resilience/outcome.js';
import type { UnifyContext } from '../../context.js';
import { CachedList, type CachedListOptions } from './cached-list.js';
import type { PageSource } from './pages.js';
import { type Listed, Reading } from './reading.js';

export interface ListingOptions<W> extends CachedListOptions {
  readonly source: PageSource<W>;
  readonly signal: AbortSignal;
}

export interface ReadOptions<W> {
  /** True when the part read so far is enough for the caller. */
  readonly enough?: (listed: Listed<W>) => boolean;
  /** Greatest acceptable age of the list; the operation's own unless given. */
  readonly maxAgeMs?: number | undefined;
  /** True when the rest should be read in the background after the last waiter has left. */
  readonly goOn?: (listed: Listed<W>) => boolean;
}

const freshMs = lifetimesMs.sensor;

interface OwnReading<W> {
  reading: Reading<W> | null;
  /** Epoch of the listing when the reading began: another one means that `discard` was called since. */
  epoch: object;
}

/**
 * All sensors of one interface: read page by page, cached, and served stale-while-revalidate. Long lists are
 * revalidated less often than short ones, so that they do not spend the budget.
 */
export class SensorListing<W> {
  readonly #options: ListingOptions<W>;
  readonly #cached: CachedList<W>;
  #reading: Reading<W> | null = null;
  #revalidateDueMs: ForwardMs = longAgo;
  #expectedPages = 1;
  /** Replaced by each `discard`. */
  #epoch: object = {};
  readonly #epochs = new WeakMap<Reading<W>, object>();

  constructor(options: ListingOptions<W>) {
    this.#options = options;
    this.#cached = new CachedList(options);
  }

  /**
   * The part of the list that the operation can use, for choosing between list and single reads. Use `read` for the records.
   */
  available(ctx: UnifyContext): Pick<Listed<W>, 'complete' | 'pagesLeft'> | null {
    const { demand } = ctx.scope;
    return this.#cached.servable(demand) ?? (demand ? ctx.once(this.#createOwn).reading : this.#reading);
  }

  /** The complete cached list, fresh or stale; null where there is none. Without a cached list it reads nothing. */
  async known(ctx: UnifyContext): Promise<Listed<W> | null> {
    const known = this.knownNow(ctx);
    return known === undefined ? this.read(ctx) : known;
  }

  /** As `known`, synchronously; undefined where that needs a promise. */
  knownNow(ctx: UnifyContext): Listed<W> | null | undefined {
    if (this.#cached.servable(ctx.scope.demand)) return this.now(ctx);
    ctx.scope.dependencies?.add(this, () => this.#absence());
    return null;
  }

  /** As `read`, synchronously, where the list is cached and may be shown; undefined where that needs a promise. */
  now(ctx: UnifyContext): Listed<W> | undefined {
    if (ctx.scope.maxAgeMs !== undefined) return undefined;
    const cached = this.#cached.servable(ctx.scope.demand);
    if (!cached || !this.#options.mayServeCached()) return undefined;
    return this.#served(ctx, cached);
  }

  /** The complete cached list, however old; null without one. For an estimate, not for an answer. */
  get lastComplete(): Listed<W> | null {
    const cached = this.#cached.usable(staleIfErrorMs);
    return cached?.complete ? cached : null;
  }

  /** Number of pages of the last reading; 1 before the first, since most lists have one page. */
  get expectedPages(): number {
    return this.#expectedPages;
  }

  /** True while a reading that operations share is in progress. */
  get isBeingRead(): boolean {
    return this.#reading !== null;
  }

  /**
   * Looks up one record in the list where the list is cached, or is being read with at most about one page left.
   * Null when a fresh list lacks the record; `undefined` where a single read of the record is cheaper.
   */
  async find(ctx: UnifyContext, matches: (value: W) => boolean): Promise<Read<W> | null | undefined> {
    // Sibling fields of the same operation may start to read the list in this microtask.
    await null;
    if (!this.available(ctx)) {
      ctx.scope.dependencies?.add(this, () => this.#absence());
      return undefined;
    }
    let found: Read<W> | undefined;
    const scan = ({ records }: Listed<W>) => {
      for (const record of found ? [] : records.values()) if (matches(record.value)) found = record;
      return found !== undefined;
    };
    const listed = await this.read(ctx, { enough: (sofar) => scan(sofar) || (sofar.pagesLeft ?? 0) > 1 });
    if (scan(listed)) return found;
    return listed.complete && this.#cached.isFresh(listed) ? null : undefined;
  }

  /**
   * The whole list, or as much of it as satisfies `enough`. Where the budget is exhausted or a page fails, the part
   * read so far, with `failure`; while only the budget is lacking, the reading continues in the background.
   */
  async read(
    ctx: UnifyContext,
    { enough = never, maxAgeMs = ctx.scope.maxAgeMs, goOn = always }: ReadOptions<W> = {},
  ): Promise<Listed<W>> {
    if (maxAgeMs !== undefined) ctx.scope.dependencies?.refuse('a list of a certain age was asked for');
    const { demand } = ctx.scope;
    for (;;) {
      const cached =
        maxAgeMs === undefined ? this.#cached.servable(demand) : this.#cached.usable(maxAgeMs, demand);
      const refusal = cached && (await this.#refusal(ctx));
      if (refusal) return { ...nothing, failure: refusal };
      if (cached) return this.#served(ctx, cached, maxAgeMs === undefined);
      ctx.scope.dependencies?.refuse('a list was read');
      const own = demand && ctx.once(this.#createOwn);
      const known = own ? own.reading : this.#reading;
      const reading = known ?? (own ? this.#startOwn(own, demand) : this.#start(maxAgeMs, false));
      const waiting = reading.wait(ctx.scope, enough, goOn);
      if (!known) void this.#run(reading);
      const outcome = await waiting;
      if (own && (outcome === 'discarded' || own.epoch !== this.#epoch)) own.reading = null;
      if (outcome === 'discarded' || own?.reading === null) continue;
      const older =
        reading.failure && maxAgeMs === undefined ? this.#cached.usable(staleIfErrorMs, demand) : null;
      if (!older || (await this.#refusal(ctx))) return reading;
      ctx.once(this.#countOnce);
      return older;
    }
  }

  /**
   * The record from the cached list (stale-if-error), where its single read has failed. A single read has no cached
   * response of its own where earlier look-ups were answered from the list.
   * @throws `failure` where the list cannot stand in for it
   */
  older(ctx: UnifyContext, matches: (value: W) => boolean, failure: unknown): Read<W> {
    const older = allowsStaleIfError(failure) && this.#cached.usable(staleIfErrorMs, ctx.scope.demand);
    if (!older || !this.#options.mayServeCached()) throw failure;
    for (const record of older.records.values()) {
      if (!matches(record.value)) continue;
      ctx.once(this.#countOnce);
      return record;
    }
    throw failure;
  }

  /** Discards the cached list and every reading in progress: no record read before this call is served again. */
  discard(): void {
    this.#cached.delete();
    this.#revalidateDueMs = longAgo;
    this.#epoch = {};
    const reading = this.#reading;
    this.#reading = null;
    reading?.discard();
  }

  /** Starts a reading for an operation with a freshness demand: a shared one may hold pages from before the demand. */
  #startOwn(own: OwnReading<W>, demand: Demand | undefined): Reading<W> {
    const { source, clock, signal } = this.#options;
    own.epoch = this.#epoch;
    own.reading = new Reading(source, clock, { signal, behind: false, maxAgeMs: freshMs, demand });
    this.#epochs.set(own.reading, own.epoch);
    return own.reading;
  }

  /**
   * The reason why the cached list must not be shown; null when it may be. Where the key has not been accepted
   * recently, the first page is read: upstream's acceptance or refusal of it applies to the whole list.
   */
  async #refusal(ctx: UnifyContext): Promise<unknown> {
    const { source, mayServeCached } = this.#options;
    if (mayServeCached()) return null;
    try {
      await source.read(0, source.pageSize, { ...ctx.scope, maxAgeMs: undefined });
      return null;
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      return error;
    }
  }

  #start(maxAgeMs: number | undefined, behind: boolean): Reading<W> {
    const { source, clock, signal } = this.#options;
    const reading = new Reading(source, clock, {
      signal,
      behind,
      maxAgeMs: Math.min(maxAgeMs ?? freshMs, freshMs),
    });
    this.#reading = reading;
    return reading;
  }

  async #run(reading: Reading<W>): Promise<void> {
    await reading.run();
    const isShared = this.#reading === reading;
    if (!isShared && this.#epochs.get(reading) !== this.#epoch) return;
    if (isShared) this.#reading = null;
    if (reading.pages > 0) this.#expectedPages = reading.pages;
    this.#revalidateDueMs = plus(this.#options.clock.now(), this.#cached.intervalMs(reading.pages));
    if (reading.complete) this.#cached.put(reading, reading.bytes);
    // A list that this key may no longer read must not be served from the cache either.
    else if (isDefinite(reading.failure)) this.#cached.delete();
  }

  #revalidate(): void {
    if (this.#reading || this.#options.clock.now() < this.#revalidateDueMs) return;
    void this.#run(this.#start(undefined, true));
  }

  /**
   * Serves the cached list: records it as a dependency of the answer, counts it once in the operation's cost and
   * revalidates it when stale. `mayRevalidate` is false where the operation has set a greatest age, which this list
   * then satisfies.
   */
  #served(ctx: UnifyContext, listed: Listed<W>, mayRevalidate = true): Listed<W> {
    ctx.scope.dependencies?.add(listed, () => this.#cached.dependency(listed, () => this.#revalidate()));
    ctx.once(this.#countOnce);
    if (mayRevalidate && !this.#cached.isFresh(listed)) this.#revalidate();
    return listed;
  }

  /** Dependency of an answer that was made without the list because the list was neither cached nor being read. */
  #absence(): Dependency {
    return {
      state: () => ((this.#cached.servable() ?? this.#reading) ? 'gone' : 'fresh'),
      freshUntilMs: () => forever,
      read: () => {},
    };
  }

  /** For `ctx.once`: the reads of an operation with a demand share one reading. */
  readonly #createOwn = (): OwnReading<W> => ({ reading: null, epoch: this.#epoch });

  /** For `ctx.once`: an operation that uses the list a hundred times counts it once. */
  readonly #countOnce = (ctx: UnifyContext): void => {
    const listed = this.#cached.current;
    if (listed) this.#cached.count(listed, ctx.scope.meter);
  };
}

const nothing = {
  records: new Map(),
  complete: false,
  dropped: 0,
  pagesLeft: null,
  pages: 0,
  readAtMs: longAgo,
};

const never = () => false;
const always = () => true;
