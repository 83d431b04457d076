import type { Clock } from '../../../clock.js';
import { type Demand, isRecent } from '../../../upstream/cache/demand.js';
import type { CacheState, Dependency, ReadCounts } from '../../../upstream/cache/dependencies.js';
import type { DerivedCache } from '../../../upstream/cache/derived-cache.js';
import {
  freshMs as lifetimesMs,
  staleIfErrorMs,
  staleWhileRevalidateMs,
} from '../../../upstream/cache/freshness.js';
import type { RateLimitStatus, Read } from '../../../upstream/read/read.js';
import { allowsStaleIfError, isDefinite } from '../../../upstream/resilience/outcome.js';
import type { UnifyContext } from '../../context.js';
import type { PageSource } from './pages.js';
import { type Listed, Reading } from './reading.js';

export interface ListingOptions<W> {
  readonly source: PageSource<W>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly rateLimit: () => RateLimitStatus;
  /** False when upstream must accept the key again before anything kept is shown (docs/behaviour.md 7). */
  readonly mayShowKept: () => boolean;
  /** Where it is kept: under the bound of all that is cached. */
  readonly derivedCache: DerivedCache;
}

export interface ReadOptions<W> {
  /** When what has been read so far will do. */
  readonly enough?: (listed: Listed<W>) => boolean;
  /** The oldest list that will do; as the operation has it, unless given. */
  readonly maxAgeMs?: number | undefined;
  /** Whether the rest is still wanted, behind, when nobody waits for it any more. */
  readonly goOn?: (listed: Listed<W>) => boolean;
}

const freshMs = lifetimesMs.sensor;
const longestBetweenReadingsMs = 3_600_000;

interface OwnReading<W> {
  reading: Reading<W> | null;
  /** When it was begun, as far as `discard` goes. */
  epoch: object;
}

// Each interface has one such list.
const cacheKey = 'sensors';

/**
 * All sensors of one interface: read page by page, kept, and read again behind when asked for after they are no longer
 * fresh. Ten thousand sensors are read less often than ten, so that they do not eat the budget.
 */
export class SensorListing<W> {
  readonly #options: ListingOptions<W>;
  #reading: Reading<W> | null = null;
  #refreshDueMs = Number.NEGATIVE_INFINITY;
  #expectedPages = 1;
  /** Another object from each `discard` on. */
  #epoch: object = {};
  readonly #epochs = new WeakMap<Reading<W>, object>();

  constructor(options: ListingOptions<W>) {
    this.#options = options;
  }

  /** How far the operation can use the list, for deciding what to ask; what it holds is for `read` to give. */
  held(ctx: UnifyContext): Pick<Listed<W>, 'complete' | 'pagesLeft'> | null {
    const { demand } = ctx.scope;
    return this.#atHand(demand) ?? (demand ? ctx.once(this.#createOwn).reading : this.#reading);
  }

  /** The list as it is known whole, fresh or stale; null where it is not. Asks nothing. */
  async known(ctx: UnifyContext): Promise<Listed<W> | null> {
    const known = this.knownNow(ctx);
    return known === undefined ? this.read(ctx) : known;
  }

  /** As `known`; undefined where that takes a promise. */
  knownNow(ctx: UnifyContext): Listed<W> | null | undefined {
    if (this.#atHand(ctx.scope.demand)) return this.now(ctx);
    ctx.scope.dependencies?.add(this, () => this.#notHeld());
    return null;
  }

  /** As `read`, where the list is in memory and may be shown; undefined where that takes a promise. */
  now(ctx: UnifyContext): Listed<W> | undefined {
    if (ctx.scope.maxAgeMs !== undefined) return undefined;
    const cached = this.#atHand(ctx.scope.demand);
    if (!cached || !this.#options.mayShowKept()) return undefined;
    return this.#served(ctx, cached);
  }

  /** As many as there were last; most lists have one. */
  get expectedPages(): number {
    return this.#expectedPages;
  }

  /** Whether a reading that somebody waits for is on its way. */
  get isBeingRead(): boolean {
    return this.#reading !== null;
  }

  /**
   * For a look-up of one record: what the list has of it where it is known, or is being read and will tell within a page or
   * so; `undefined` where asking for the one is cheaper.
   */
  async find(ctx: UnifyContext, isIt: (value: W) => boolean): Promise<Read<W> | null | undefined> {
    // Other fields of the same operation have begun their reads by then.
    await null;
    if (!this.held(ctx)) {
      ctx.scope.dependencies?.add(this, () => this.#notHeld());
      return undefined;
    }
    let found: Read<W> | undefined;
    const look = ({ records }: Listed<W>) => {
      for (const record of found ? [] : records.values()) if (isIt(record.value)) found = record;
      return found !== undefined;
    };
    const listed = await this.read(ctx, { enough: (sofar) => look(sofar) || (sofar.pagesLeft ?? 0) > 1 });
    if (look(listed)) return found;
    return listed.complete && this.#ageMs(listed) <= freshMs ? null : undefined;
  }

  /**
   * The whole list, or as much of it as satisfies `enough`. Where the budget does not suffice or a page fails, what
   * there is, with `failure`; the reading then goes on behind where that can help.
   */
  async read(
    ctx: UnifyContext,
    { enough = never, maxAgeMs = ctx.scope.maxAgeMs, goOn = always }: ReadOptions<W> = {},
  ): Promise<Listed<W>> {
    if (maxAgeMs !== undefined) ctx.scope.dependencies?.refuse('a list of a certain age was asked for');
    const { demand } = ctx.scope;
    for (;;) {
      const kept = maxAgeMs === undefined ? this.#atHand(demand) : this.#usable(maxAgeMs, demand);
      const refusal = kept && (await this.#refusal(ctx));
      if (refusal) return { ...nothing, failure: refusal };
      if (kept) return this.#served(ctx, kept, maxAgeMs === undefined);
      ctx.scope.dependencies?.refuse('a list was read');
      const own = demand && ctx.once(this.#createOwn);
      const known = own ? own.reading : this.#reading;
      const reading = known ?? (own ? this.#startOwn(own, demand) : this.#start(maxAgeMs, false));
      const waiting = reading.wait(ctx.scope, enough, goOn);
      if (!known) void this.#run(reading);
      const outcome = await waiting;
      if (own && (outcome === 'discarded' || own.epoch !== this.#epoch)) own.reading = null;
      if (outcome === 'discarded' || own?.reading === null) continue;
      const older = reading.failure && maxAgeMs === undefined ? this.#usable(staleIfErrorMs, demand) : null;
      if (!older || (await this.#refusal(ctx))) return reading;
      ctx.once(this.#countOnce);
      return older;
    }
  }

  /**
   * What `readOne` reads of one record; where the budget or upstream fails it, what the list had of it (stale-if-error): a
   * look-up by itself has no cached response of its own where the list has told so far.
   */
  async orOlder<R extends Read<W>>(
    ctx: UnifyContext,
    isIt: (value: W) => boolean,
    readOne: () => Promise<R | null>,
  ): Promise<R | Read<W> | null> {
    try {
      return await readOne();
    } catch (error) {
      const older = allowsStaleIfError(error) && this.#usable(staleIfErrorMs, ctx.scope.demand);
      if (!older || !this.#options.mayShowKept()) throw error;
      for (const record of older.records.values()) {
        if (!isIt(record.value)) continue;
        ctx.once(this.#countOnce);
        return record;
      }
      throw error;
    }
  }

  /** Nothing read before this moment is served again. */
  discard(): void {
    this.#options.derivedCache.delete(cacheKey);
    this.#refreshDueMs = Number.NEGATIVE_INFINITY;
    this.#epoch = {};
    const reading = this.#reading;
    this.#reading = null;
    reading?.discard();
  }

  get #kept(): Listed<W> | null {
    return (this.#options.derivedCache.get(cacheKey) as Listed<W> | undefined) ?? null;
  }

  #usable(maxAgeMs: number, demand?: Demand): Listed<W> | null {
    const kept = this.#kept;
    if (!kept || (demand && !isRecent(demand, kept.readAtMs))) return null;
    return this.#ageMs(kept) <= maxAgeMs ? kept : null;
  }

  /**
   * The list that is served without waiting for upstream. One of so many pages that the budget does not allow for reading it
   * anew yet is served until it does.
   */
  #atHand(demand?: Demand): Listed<W> | null {
    const kept = this.#usable(staleIfErrorMs, demand);
    if (!kept) return null;
    const ageMs = this.#ageMs(kept);
    if (ageMs <= staleWhileRevalidateMs('sensor')) return kept;
    return ageMs <= refreshEveryMs(kept.pages, this.#options.rateLimit()) ? kept : null;
  }

  /** Reads for an operation that demands fresher records: what others have begun may hold pages of before. */
  #startOwn(own: OwnReading<W>, demand: Demand | undefined): Reading<W> {
    const { source, clock, signal } = this.#options;
    own.epoch = this.#epoch;
    own.reading = new Reading(source, clock, { signal, behind: false, maxAgeMs: freshMs, demand });
    this.#epochs.set(own.reading, own.epoch);
    return own.reading;
  }

  /**
   * Why nothing kept may be shown; null when it may. Where the key has not been accepted lately, the first page is asked for:
   * upstream's word on that is on all of it.
   */
  async #refusal(ctx: UnifyContext): Promise<unknown> {
    const { source, mayShowKept } = this.#options;
    if (mayShowKept()) return null;
    try {
      await source.read(0, source.pageSize, { ...ctx.scope, maxAgeMs: undefined });
      return null;
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      return error;
    }
  }

  #ageMs(listed: Listed<W>): number {
    return this.#options.clock.now() - listed.readAtMs;
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
    const { clock, rateLimit } = this.#options;
    this.#refreshDueMs = clock.now() + refreshEveryMs(reading.pages, rateLimit());
    const { derivedCache } = this.#options;
    if (reading.complete) derivedCache.put(cacheKey, reading, reading.bytes);
    // What this key may no longer see is not shown from memory either.
    else if (isDefinite(reading.failure)) derivedCache.delete(cacheKey);
  }

  #refreshBehind(): void {
    if (this.#reading || this.#options.clock.now() < this.#refreshDueMs) return;
    void this.#run(this.#start(undefined, true));
  }

  /**
   * A list from memory: a part of the answer, counted once in what the operation cost, revalidated when it is stale unless
   * the operation has said what age will do.
   */
  #served(ctx: UnifyContext, listed: Listed<W>, isRefreshed = true): Listed<W> {
    ctx.scope.dependencies?.add(listed, () => this.#dependencyOn(listed));
    ctx.once(this.#countOnce);
    if (isRefreshed && this.#ageMs(listed) > freshMs) this.#refreshBehind();
    return listed;
  }

  #dependencyOn(listed: Listed<W>): Dependency {
    return {
      state: (): CacheState => {
        if (this.#atHand() !== listed || !this.#options.mayShowKept()) return 'gone';
        return this.#ageMs(listed) <= freshMs ? 'fresh' : 'stale';
      },
      freshUntilMs: () => listed.readAtMs + freshMs,
      read: (meter) => {
        this.#count(listed, meter);
        if (this.#ageMs(listed) > freshMs) this.#refreshBehind();
      },
    };
  }

  /** For an answer that was made without the list because nothing of it was known. */
  #notHeld(): Dependency {
    return {
      state: () => ((this.#atHand() ?? this.#reading) ? 'gone' : 'fresh'),
      freshUntilMs: () => Number.POSITIVE_INFINITY,
      read: () => {},
    };
  }

  #count(listed: Listed<W>, meter: ReadCounts): void {
    const ageMs = this.#ageMs(listed);
    if (ageMs <= freshMs) meter.cacheHits += listed.pages;
    else meter.staleHits += listed.pages;
    meter.oldestAgeS = Math.max(meter.oldestAgeS, ageMs / 1000);
  }

  /** For `ctx.once`: the reads of an operation with a demand share one reading. */
  readonly #createOwn = (): OwnReading<W> => ({ reading: null, epoch: this.#epoch });

  /** For `ctx.once`: an operation that reads the list a hundred times has read it once. */
  readonly #countOnce = (ctx: UnifyContext): void => {
    const listed = this.#kept;
    if (listed) this.#count(listed, ctx.scope.meter);
  };
}

/**
 * How often a list of so many pages may be read again: as docs/behaviour.md 5.6 calls for, unless that takes more than a quarter
 * of the minute's budget, or would leave too little of the day's.
 */
function refreshEveryMs(pages: number, { perMinute, remainingToday }: RateLimitStatus): number {
  const byMinute = (pages * 60_000 * 4) / Math.max(1, perMinute);
  const byDay = remainingToday === null ? 0 : (pages * 86_400_000) / Math.max(1, remainingToday * 0.9);
  return Math.min(longestBetweenReadingsMs, Math.max(freshMs, byMinute, byDay));
}

const nothing = { records: new Map(), complete: false, dropped: 0, pagesLeft: null, pages: 0, readAtMs: 0 };

const never = () => false;
const always = () => true;
