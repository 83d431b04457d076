import { earliest, type ForwardMs, forever, type UnixMs } from '../../../clock.js';
import { unchanged } from '../../../upstream/cache/dependencies.js';
import type { CatalogueClient, CataloguePage, EventQuery } from '../../../upstream/catalogue/client.js';
import type { WireEvent } from '../../../upstream/catalogue/wire.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { Read, ReadScope } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { derived, mostPages } from '../../derived.js';
import { textBound } from '../../time/wire-time.js';
import type { Pushdown } from './filter-pushdown.js';

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
    return {
      reads: readsOf(first),
      pages: isWhole ? 1 : Math.ceil(total / limit),
      total,
      limit,
      whole: () => this.#whole(window, first),
    };
  }

  // The list can change between two pages, and pages are cached for different times. If their totals differ or an event
  // appears twice, another one may be missing, and the window is read again without the cache.
  async #whole(window: Window, opened: Read<CataloguePage<WireEvent>>): Promise<readonly Read<WireEvent>[]> {
    const cached = [opened, ...(await this.#others(window, opened, this.#context.scope))];
    if (isSteady(cached)) return cached.flatMap(readsOf);
    const afresh = { ...this.#context.scope, maxAgeMs: 0 };
    const first = await this.#page(window, 1, afresh);
    const pages = [first, ...(await this.#others(window, first, afresh))];
    if (!isSteady(pages)) {
      this.#context.tenant.log.warn({ source: 'CATALOGUE' }, 'Pages of events do not add up to their total');
    }
    return [...cached, ...pages].flatMap(readsOf);
  }

  async #others(
    window: Window,
    { value: first }: Read<CataloguePage<WireEvent>>,
    scope: ReadScope,
  ): Promise<Read<CataloguePage<WireEvent>>[]> {
    if (first.total !== null) {
      const pages = Math.ceil(first.total / Math.max(1, first.limit));
      const numbers = Array.from({ length: Math.max(0, pages - 1) }, (_, index) => index + 2);
      return Promise.all(numbers.map((page) => this.#page(window, page, scope)));
    }
    const others: Read<CataloguePage<WireEvent>>[] = [];
    for (let page = 2, full = first.received >= first.limit; full && this.left > 0; page++) {
      const next = await this.#page(window, page, scope);
      others.push(next);
      full = next.value.received >= next.value.limit;
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

const readsOf = derived(
  ({ value, readAtMs }: Read<CataloguePage<WireEvent>>): readonly Read<WireEvent>[] =>
    value.items.map((item) => ({ value: item, readAtMs })),
  mostPages,
);

function isSteady(pages: readonly Read<CataloguePage<WireEvent>>[]): boolean {
  const ids = pages.flatMap(({ value }) => value.items.map(({ id }) => id));
  return new Set(pages.map(({ value }) => value.total)).size === 1 && new Set(ids).size === ids.length;
}
