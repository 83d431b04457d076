import type { WireEvent } from '../../../upstream/catalogue/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { instantOf } from '../../time/wire-time.js';
import { knownInstant } from '../solution.js';
import type { CatalogueReader, OpenedWindow, Window } from './catalogue-window.js';
import { type Scan, tooManyRequests } from './project-reader.js';
import { createWindowCache, type WindowCache } from './window-cache.js';

export interface CatalogueScanOptions {
  readonly sign: 1 | -1;
  /** Places along the list (`sign × milliseconds`) where it begins and ends; infinite where it is open. */
  readonly start: number;
  readonly end: number;
  /** What else the windows are narrowed by: those of the same name can be used again. */
  readonly name: string;
}

/**
 * The catalogue's events in order of origin time, window by window. Each window is as long as one request can fill, by
 * the density of those before; one that turns out to hold much more than is wanted is given up for a shorter one.
 */
export class CatalogueScan implements Scan {
  readonly records = new Map<string, Read<WireEvent>>();
  frontier: number;
  readonly isAssumed = false;
  readonly #reader: CatalogueReader;
  readonly #options: CatalogueScanOptions;
  readonly #sign: 1 | -1;
  readonly #context: UnifyContext;
  readonly #book: WindowCache;
  /** Where a list that is open at its beginning is thought to begin: now, or else wherever its first event is. */
  readonly #openingMs: number;
  /** Milliseconds from event to event; null before anything is known of it. */
  #gapMs: number | null;
  #wasEmpty = false;

  constructor(context: UnifyContext, reader: CatalogueReader, options: CatalogueScanOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#sign = options.sign;
    this.frontier = options.start;
    // The tenant's clock: an answer from windows that are known already does not depend on the time.
    this.#openingMs = options.sign < 0 ? -context.tenant.clock.now() : Number.POSITIVE_INFINITY;
    this.#context = context;
    this.#book = context.tracked(createWindowCache);
    this.#gapMs = this.#book.gapMs(options.name);
  }

  get canAdvance(): boolean {
    return this.#reader.left > 0;
  }

  get requests(): number {
    return this.#reader.requests;
  }

  /** Whether the length of the next window need not be guessed. */
  get knowsDensity(): boolean {
    return this.#gapMs !== null;
  }

  /** A window is read whole, so that nothing slips through. */
  settle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Passes over what does not matter, up to a place along the list. */
  skip(place: number): void {
    if (place > this.frontier) this.frontier = place >= this.#options.end ? Number.POSITIVE_INFINITY : place;
  }

  /**
   * Reads the next window.
   * @param target how far along the list the page is thought to reach; null when nobody knows
   * @param wanted how many more events the page needs
   */
  async advance(target: number | null, wanted: number): Promise<void> {
    const known = this.#known();
    let until = known ? this.#farEnd(known) : this.#proposed(target, wanted);
    for (let window = known ?? this.#window(until); ; window = this.#window(until)) {
      const opened = await this.#reader.open(window);
      const shorter = this.#shorter(opened, until, wanted);
      const isWorthIt = opened.pages <= 1 + Math.ceil(wanted / opened.limit);
      if (isWorthIt || shorter === null) return this.#take(opened, window, until);
      this.#book.drop(window, this.#options.name);
      if (this.#reader.left <= 0) return;
      until = shorter;
    }
  }

  async #take(opened: OpenedWindow, window: Window, until: number): Promise<void> {
    if (Number.isFinite(opened.pages) && opened.pages - 1 > this.#reader.left) {
      throw tooManyRequests('CATALOGUE', this.#reader.mostRequests);
    }
    const reads = opened.pages > 1 ? await opened.whole() : opened.reads;
    for (const read of reads) this.records.set(read.value.id, read);
    const places = this.#placesOf(reads);
    const nearEnd = this.#sign < 0 ? -window.toMs : window.fromMs;
    const start = Number.isFinite(nearEnd) ? nearEnd : Math.min(this.#openingMs, ...places);
    const end = Number.isFinite(until) ? until : Math.max(...places);
    const isMeasured = Number.isFinite(start) && Number.isFinite(end);
    if (isMeasured) this.#gapMs = Math.max(1, end - start) / Math.max(1, reads.length);
    if (this.#gapMs !== null) this.#book.add({ ...window, name: this.#options.name, gapMs: this.#gapMs });
    this.#wasEmpty = reads.length === 0;
    this.frontier = until >= this.#options.end ? Number.POSITIVE_INFINITY : until;
  }

  /** A window that the cache still has. */
  #known(): Window | null {
    const ms = this.#sign * this.frontier;
    const { name } = this.#options;
    const window = this.#sign < 0 ? this.#book.before(name, ms) : this.#book.after(name, ms);
    const { dependencies } = this.#context.scope;
    if (!window) dependencies?.refuse('a window was chosen by what is known of the density');
    else {
      this.#book.note(this.#context);
      dependencies?.endsAfter(this.#book.usableUntilMs(window, ms));
    }
    return window;
  }

  #farEnd({ fromMs, toMs }: Window): number {
    return this.#sign < 0 ? -fromMs : toMs;
  }

  #proposed(target: number | null, wanted: number): number {
    const start = this.#start(target === null ? [] : [target]);
    // Behind an empty window there may be nothing at all.
    if (this.#wasEmpty || (this.#gapMs === null && target === null)) return this.#options.end;
    if (this.#gapMs === null || !Number.isFinite(start))
      return this.#bounded(start, target ?? this.#options.end);
    const oneRequest = start + this.#gapMs * pageLimit * fill;
    const most = start + this.#gapMs * Math.max(wanted, pageLimit) * fill;
    return this.#bounded(start, target === null ? oneRequest : Math.min(most, Math.max(target, oneRequest)));
  }

  /** A shorter window that should hold what is wanted; null when there is none worth trying. */
  #shorter(opened: OpenedWindow, until: number, wanted: number): number | null {
    const places = this.#placesOf(opened.reads);
    const start = this.#start(places);
    const end = Number.isFinite(until) ? until : Math.max(...places);
    if (!Number.isFinite(start) || !Number.isFinite(end) || !Number.isFinite(opened.total)) return null;
    const share = (Math.max(wanted, opened.limit) * fill) / opened.total;
    // A list that comes in this very order shows the density at its beginning, else only the average.
    const isSorted =
      places.length > 1 && places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0));
    const shorter =
      isSorted && !Number.isFinite(until) ? start + (end - start) * fill : start + (end - start) * share;
    const bounded = this.#bounded(start, shorter);
    return bounded < until && bounded > start ? bounded : null;
  }

  /** On a grid that follows from the length, so that the same window is asked for until it has to be another. */
  #bounded(start: number, until: number): number {
    const length = until - start;
    if (!Number.isFinite(length)) return Math.min(until, this.#options.end);
    const gridMs = 1000 * 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, length / 128_000))));
    return Math.min(Math.max(start + 1000, Math.ceil(until / gridMs) * gridMs), this.#options.end);
  }

  #start(places: readonly number[]): number {
    if (Number.isFinite(this.frontier)) return this.frontier;
    return Math.min(this.#openingMs, ...places);
  }

  #window(until: number): Window {
    const [near, far] = [this.#sign * this.frontier, this.#sign * until];
    return this.#sign < 0 ? { fromMs: far, toMs: near } : { fromMs: near, toMs: far };
  }

  #placesOf(reads: readonly Read<WireEvent>[]): number[] {
    return reads.flatMap(({ value }) => {
      const time = knownInstant(instantOf(value.origin_time));
      return time ? [this.#sign * time.ms] : [];
    });
  }
}

const pageLimit = 100;

// Windows are made a little shorter than would fill a page, so that most of them do not spill over.
const fill = 0.85;
