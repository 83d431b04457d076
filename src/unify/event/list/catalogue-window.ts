import { earliest, type ForwardMs, forever, type UnixMs } from '../../../clock.js';
import { unchanged } from '../../../upstream/cache/dependencies.js';
import type { CatalogueClient, CataloguePage, EventQuery } from '../../../upstream/catalogue/client.js';
import type { WireEvent } from '../../../upstream/catalogue/wire.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import { type Read, type ReadScope, readsIn } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { derived, mostPages } from '../../derived.js';
import { textBound } from '../../time/wire-time.js';
import type { Pushdown } from './filter-pushdown.js';
import { tooManyRequests } from './project-reader.js';

/** A span of origin times, in Unix milliseconds; infinite where it is open. */
export interface Window {
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
}

/** The pushdown of a window besides its time span. */
export type CataloguePushdown = Pick<Pushdown, 'near' | 'selection'>;

const everything: CataloguePushdown = { near: undefined, selection: {} };

/** The first page of a window; the rest is read on demand. */
export interface OpenedWindow {
  readonly reads: readonly Read<WireEvent>[];
  /** Number of pages of the window; infinite when upstream gives no total. */
  readonly pages: number;
  readonly total: number;
  /** Events per page as upstream reports it, which can differ from the requested limit. */
  readonly limit: number;
  /** @throws QueryTooComplex where that takes more requests than are left */
  readonly whole: () => Promise<readonly Read<WireEvent>[]>;
}

/**
 * Reads windows of the catalogue's events, each one whole: the list order is not documented (docs/interfaces.md C4), so
 * a part of a window proves nothing. Nor is it documented whether the ends are inclusive and how fractions of a second
 * are compared, so each end is requested with at least a second of margin, and neighbouring windows overlap.
 */
export class CatalogueReader {
  /** Names of the elements that could not be read. */
  readonly unreadable = new Set<string>();
  oldestReadMs: ForwardMs = forever;
  requests = 0;
  /** True when the pages of a window did not fit together, and events of it may be missing. */
  isUnsteady = false;
  readonly #context: UnifyContext;
  readonly #client: CatalogueClient;
  readonly #pushdown: CataloguePushdown;
  readonly mostRequests: number;

  constructor(
    context: UnifyContext,
    client: CatalogueClient,
    options: { readonly pushdown?: CataloguePushdown; readonly mostRequests: number },
  ) {
    this.#context = context;
    this.#client = client;
    this.#pushdown = options.pushdown ?? everything;
    this.mostRequests = options.mostRequests;
    // A different page size means different responses, so the answer depends on it.
    context.scope.dependencies?.add(client, () => unchanged(() => client.largestEventPage()));
  }

  get left(): number {
    return this.mostRequests - this.requests;
  }

  async open(window: Window): Promise<OpenedWindow> {
    const first = await this.#page(window, 1, this.#context.scope);
    const { value: page } = first;
    const limit = Math.max(1, page.limit);
    const isWhole = page.total === null ? page.received < limit : page.received >= page.total;
    const total = isWhole ? page.received : (page.total ?? Number.POSITIVE_INFINITY);
    const pages = isWhole ? 1 : Math.ceil(total / limit);
    return { reads: readsOf(first), pages, total, limit, whole: () => this.#whole(window, first, pages) };
  }

  // The list can change between two pages, and pages are cached for different times. If their totals differ or an event
  // appears twice, another one may be missing, and the window is read again without the cache.
  async #whole(
    window: Window,
    opened: Read<CataloguePage<WireEvent>>,
    pages: number,
  ): Promise<readonly Read<WireEvent>[]> {
    if (Number.isFinite(pages) && pages - 1 > this.left)
      throw tooManyRequests('CATALOGUE', this.mostRequests);
    const cached = [opened, ...(await this.#others(window, opened, this.#context.scope))];
    if (isSteady(cached)) return cached.flatMap(readsOf);
    const afresh = { ...this.#context.scope, maxAgeMs: 0 };
    const first = await this.#page(window, 1, afresh);
    const again = [first, ...(await this.#others(window, first, afresh))];
    const reads = [...cached, ...again].flatMap(readsOf);
    if (!isSteady(again) && new Set(reads.map(({ value }) => value.id)).size < totalOf(again)) {
      this.isUnsteady = true;
      this.#context.tenant.log.warn({ source: 'CATALOGUE' }, 'Pages of events do not add up to their total');
    }
    return reads;
  }

  /**
   * The pages after the first. Ends where one after the other adds nothing, whatever the total says: an upstream that repeats
   * a page would be read without end.
   */
  async #others(
    window: Window,
    { value: first }: Read<CataloguePage<WireEvent>>,
    scope: ReadScope,
  ): Promise<Read<CataloguePage<WireEvent>>[]> {
    const others: Read<CataloguePage<WireEvent>>[] = [];
    const known = new Set(first.items.map(({ id }) => id));
    const last = first.total === null ? null : Math.ceil(first.total / Math.max(1, first.limit));
    let repeated = 0;
    let isMore = last !== null || (first.received >= first.limit && this.left > 0);
    for (let page = 2; isMore && page <= (last ?? page); ) {
      const count = last === null ? 1 : Math.min(pagesAtOnce, last - page + 1);
      const pages = Array.from({ length: count }, (_, index) => this.#page(window, page + index, scope));
      const reads = await Promise.all(pages);
      others.push(...reads);
      page += count;
      for (const { value } of reads) repeated = addsTo(known, value) ? 0 : repeated + 1;
      const isFull = reads.every(({ value }) => value.received >= value.limit);
      isMore = repeated < mostRepeated && (last !== null || (isFull && this.left > 0));
    }
    return others;
  }

  async #page(window: Window, page: number, scope: ReadScope): Promise<Read<CataloguePage<WireEvent>>> {
    const query: EventQuery = {
      start: textBound(window.fromMs - 1000),
      end: textBound(window.toMs + 2000),
      near: this.#pushdown.near,
      ...this.#pushdown.selection,
      page,
      limit: largestPage.catalogue,
    };
    this.requests++;
    const answer = await this.#client.events(query, scope);
    for (const name of answer.value.unreadable ?? []) this.unreadable.add(name);
    this.oldestReadMs = earliest(this.oldestReadMs, answer.readAtMs);
    return answer;
  }
}

// Pages are in flight together, and the rate limit decides how fast they follow.
const pagesAtOnce = 8;
// In a list that changes while it is read, a short page can repeat the one before.
const mostRepeated = 8;

/** Adds the ids of a page. False where it has none that is new; elements that cannot be read may be. */
function addsTo(known: Set<string>, { items, received }: CataloguePage<WireEvent>): boolean {
  const before = known.size;
  for (const { id } of items) known.add(id);
  return known.size > before || received > items.length;
}

const readsOf = derived(readsIn<WireEvent>, mostPages);

/** The greatest that a page names; without end where one names none. */
function totalOf(pages: readonly Read<CataloguePage<WireEvent>>[]): number {
  return Math.max(...pages.map(({ value }) => value.total ?? Number.POSITIVE_INFINITY));
}

function isSteady(pages: readonly Read<CataloguePage<WireEvent>>[]): boolean {
  const ids = pages.flatMap(({ value }) => value.items.map(({ id }) => id));
  return new Set(pages.map(({ value }) => value.total)).size === 1 && new Set(ids).size === ids.length;
}
