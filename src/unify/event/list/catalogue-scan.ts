import { asMoment, type ForwardMs, type UnixMs } from '../../../clock.js';
import { type GatewayError, UpstreamUnavailable } from '../../../errors.js';
import type { WireEvent } from '../../../upstream/catalogue/wire.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { Read } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { instantOf } from '../../time/wire-time.js';
import { knownInstant } from '../solution.js';
import type { CatalogueReader, OpenedWindow, Window } from './catalogue-window.js';
import type { Scan } from './project-reader.js';
import { createWindowCache, type WindowCache } from './window-cache.js';

export interface CatalogueScanOptions {
  readonly sign: 1 | -1;
  /** Positions (`sign × milliseconds`) where the list begins and ends; infinite where it is open. */
  readonly start: number;
  readonly end: number;
  /** Identifies the pushdown of the windows: known windows of the same name can be reused. */
  readonly name: string;
}

/**
 * Scans the catalogue's events in order of origin time, window by window. The length of a window is chosen by the
 * density of the ones before, so that one request fills it; a window that holds much more is replaced by a shorter one.
 */
export class CatalogueScan implements Scan {
  readonly records = new Map<string, Read<WireEvent>>();
  frontier: number;
  readonly #reader: CatalogueReader;
  readonly #options: CatalogueScanOptions;
  readonly #sign: 1 | -1;
  readonly #context: UnifyContext;
  readonly #windowCache: WindowCache;
  /** Assumed beginning of a list that is open there: now, or the position of its first event. */
  readonly #openingMs: number;
  /** Mean milliseconds between events; null before any window was measured. */
  #gapMs: number | null;
  #wasEmpty = false;

  constructor(context: UnifyContext, reader: CatalogueReader, options: CatalogueScanOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#sign = options.sign;
    this.frontier = options.start;
    // The tenant's clock, not that of the operation: an answer from known windows must not depend on the time.
    this.#openingMs = options.sign < 0 ? -context.tenant.clock.wallMs() : Number.POSITIVE_INFINITY;
    this.#context = context;
    this.#windowCache = context.tracked(createWindowCache);
    this.#gapMs = this.#windowCache.gapMs(options.name);
  }

  get canAdvance(): boolean {
    return this.#reader.left > 0;
  }

  get lack(): GatewayError | null {
    return this.#reader.isUnsteady
      ? new UpstreamUnavailable('The list of the catalogue kept changing while it was read: ask again')
      : null;
  }

  get unreadable(): ReadonlySet<string> {
    return this.#reader.unreadable;
  }

  get oldestReadMs(): ForwardMs {
    return this.#reader.oldestReadMs;
  }

  get requests(): number {
    return this.#reader.requests;
  }

  /** True when the length of the next window follows from the density and is not a guess. */
  get knowsDensity(): boolean {
    return this.#gapMs !== null;
  }

  /** Nothing to do: a window is always read whole. */
  settle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Skips everything before a position of the list. */
  skip(position: number): void {
    if (position > this.frontier)
      this.frontier = position >= this.#options.end ? Number.POSITIVE_INFINITY : position;
  }

  /**
   * Reads the next window.
   * @param target position that the page should reach; null when it is not known
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
      this.#windowCache.drop(window, this.#options.name);
      if (this.#reader.left <= 0) return;
      until = shorter;
    }
  }

  async #take(opened: OpenedWindow, window: Window, until: number): Promise<void> {
    const reads = opened.pages > 1 ? await opened.whole() : opened.reads;
    for (const read of reads) {
      const known = this.records.get(read.value.id);
      // A window that an event has left can still have it as a feed delivered it before.
      if (!known || read.readAtMs >= known.readAtMs) this.records.set(read.value.id, read);
    }
    const positions = this.#positionsOf(reads);
    const nearEnd = this.#sign < 0 ? -window.toMs : window.fromMs;
    const start = Number.isFinite(nearEnd) ? nearEnd : Math.min(this.#openingMs, ...positions);
    const end = Number.isFinite(until) ? until : Math.max(...positions);
    const isMeasured = Number.isFinite(start) && Number.isFinite(end);
    if (isMeasured) this.#gapMs = Math.max(1, end - start) / Math.max(1, reads.length);
    if (this.#gapMs !== null)
      this.#windowCache.add({ ...window, name: this.#options.name, gapMs: this.#gapMs });
    this.#wasEmpty = reads.length === 0;
    this.frontier = until >= this.#options.end ? Number.POSITIVE_INFINITY : until;
  }

  /** A window at the frontier that is still cached. */
  #known(): Window | null {
    const ms = this.#sign * this.frontier;
    const { name } = this.#options;
    const window = this.#sign < 0 ? this.#windowCache.before(name, ms) : this.#windowCache.after(name, ms);
    const { dependencies } = this.#context.scope;
    if (!window) dependencies?.refuse('a window was chosen by what is known of the density');
    else {
      this.#windowCache.note(this.#context);
      dependencies?.endsAfter(this.#windowCache.usableUntilMs(window, ms));
    }
    return window;
  }

  #farEnd({ fromMs, toMs }: Window): number {
    return this.#sign < 0 ? -fromMs : toMs;
  }

  #proposed(target: number | null, wanted: number): number {
    const start = this.#start(target === null ? [] : [target]);
    // After an empty window the rest of the list may be empty too, so it is read in one window.
    if (this.#wasEmpty || (this.#gapMs === null && target === null)) return this.#options.end;
    if (this.#gapMs === null || !Number.isFinite(start))
      return this.#bounded(start, target ?? this.#options.end);
    const oneRequest = start + this.#gapMs * largestPage.catalogue * fill;
    const most = start + this.#gapMs * Math.max(wanted, largestPage.catalogue) * fill;
    return this.#bounded(start, target === null ? oneRequest : Math.min(most, Math.max(target, oneRequest)));
  }

  /** End of a shorter window that should hold `wanted` events; null when none is worth a request. */
  #shorter(opened: OpenedWindow, until: number, wanted: number): number | null {
    const positions = this.#positionsOf(opened.reads);
    const start = this.#start(positions);
    const end = Number.isFinite(until) ? until : Math.max(...positions);
    if (!Number.isFinite(start) || !Number.isFinite(end) || !Number.isFinite(opened.total)) return null;
    const share = (Math.max(wanted, opened.limit) * fill) / opened.total;
    // A first page in list order shows the density at the beginning of the window; otherwise only the average is known.
    const isSorted =
      positions.length > 1 &&
      positions.every((position, index) => index === 0 || position >= (positions[index - 1] ?? 0));
    const shorter =
      isSorted && !Number.isFinite(until) ? start + (end - start) * fill : start + (end - start) * share;
    const bounded = this.#bounded(start, shorter);
    return bounded < until && bounded > start ? bounded : null;
  }

  /**
   * Rounds the end to a grid that depends on the length, so that repeated reads ask for the same window and hit the
   * cache.
   */
  #bounded(start: number, until: number): number {
    const length = until - start;
    if (!Number.isFinite(length)) return Math.min(until, this.#options.end);
    const gridMs = 1000 * 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, length / 128_000))));
    return Math.min(Math.max(start + 1000, Math.ceil(until / gridMs) * gridMs), this.#options.end);
  }

  #start(positions: readonly number[]): number {
    if (Number.isFinite(this.frontier)) return this.frontier;
    return Math.min(this.#openingMs, ...positions);
  }

  #window(until: number): Window {
    const [near, far] = [this.#dateOf(this.frontier), this.#dateOf(until)];
    return this.#sign < 0 ? { fromMs: far, toMs: near } : { fromMs: near, toMs: far };
  }

  #dateOf(position: number): UnixMs {
    return asMoment(this.#sign * position);
  }

  #positionsOf(reads: readonly Read<WireEvent>[]): number[] {
    return reads.flatMap(({ value }) => {
      const time = knownInstant(instantOf(value.origin_time));
      return time ? [this.#sign * time.ms] : [];
    });
  }
}

// Windows are planned at 85 % of a page, so that most of them do not need a second page.
const fill = 0.85;
