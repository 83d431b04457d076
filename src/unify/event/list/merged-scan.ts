import { asMoment, earliest, type ForwardMs, forever, type UnixMs } from '../../../clock.js';
import { GatewayError, QueryTooComplex, type Source } from '../../../errors.js';
import { limits } from '../../../limits.js';
import { unreadableRecords } from '../../../upstream/decode/response.js';
import type { UnifyContext } from '../../context.js';
import { Instant } from '../../time/instant.js';
import { type EventFilter, matchesFilter, neededSources } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import { isUnaffordable } from './affordable.js';
import type { CatalogueScan } from './catalogue-scan.js';
import type { EventPosition, EventSortKey } from './cursor.js';
import type { Pushdown } from './filter-pushdown.js';
import { ListOrder } from './list-order.js';
import { movedEvents } from './moved-events.js';
import { type ProjectResume, tooManyRequests } from './project-reader.js';
import type { ProjectScan } from './project-scan.js';
import { scanTargetOf } from './scan-target.js';
import { catalogueScan, projectScan } from './scans.js';

export interface MergedScanRequest {
  readonly filter: EventFilter;
  readonly pushdown: Pushdown;
  readonly order: 'DESC' | 'ASC';
  readonly after: EventPosition | null;
  /** Most events to return; infinite for all that match the filter. */
  readonly first: number;
  /** Reasons to give up; the caller then has another way to read the page. */
  readonly givesUp?: readonly GivenUp[];
}

/**
 * `too much`: too many requests for the events that match. `too dense`: too many earthquakes within the look-ahead that
 * equal ids need.
 */
export type GivenUp = 'too much' | 'too dense';

export interface ScannedPage {
  /**
   * In order; at most `first`. `sortKey` is the position in the list behind the event, from which the next page
   * continues.
   */
  readonly events: readonly { readonly event: LocatedEvent; readonly sortKey: EventSortKey }[];
  readonly hasMore: boolean;
  /** The page is complete up to here when it stopped short of `first` events; null at the end of the list. */
  readonly stoppedAt: EventSortKey | null;
  /** All events read around the page: the marks in its cursors are made from them. */
  readonly known: readonly LocatedEvent[];
  readonly resumeAt: (originMs: UnixMs) => ProjectResume | null;
  /** Interfaces that failed, were not read to the end or sent records that cannot be read, so that the page may lack events; with the reason. */
  readonly failures: ReadonlyMap<Source, GatewayError>;
  /** Read time of the oldest response; infinite when nothing was read. */
  readonly oldestReadMs: ForwardMs;
  /** True for an event that the page would have had, had it been listed. */
  includes(event: LocatedEvent): boolean;
}

/**
 * One page of all earthquakes in exact order of origin time, each once (docs/behaviour.md 6.5). Reads both lists until
 * every event on the page, its partner and its neighbours are certain. Returns the reason when it gives up.
 */
export function readMergedScan(
  context: UnifyContext,
  request: MergedScanRequest,
): Promise<ScannedPage | GivenUp> {
  return new MergedScan(context, request).read();
}

type Scan = ProjectScan | CatalogueScan;

class MergedScan {
  readonly #context: UnifyContext;
  readonly #request: MergedScanRequest;
  readonly #listOrder: ListOrder;
  readonly #needed: readonly Source[];
  readonly #project: ProjectScan | null;
  readonly #catalogue: CatalogueScan | null;
  /** Interfaces that failed; they are not read again for this page. */
  readonly #ended = new Set<Source>();
  readonly #failures = new Map<Source, GatewayError>();

  constructor(context: UnifyContext, request: MergedScanRequest) {
    const { project, catalogue } = context;
    this.#context = context;
    this.#request = request;
    this.#needed = neededSources(request.filter, context);
    this.#listOrder = new ListOrder(request);
    this.#project = project && projectScan(context, project, this.#listOrder, request.pushdown);
    this.#catalogue = catalogue && catalogueScan(context, catalogue, this.#listOrder, request.pushdown);
  }

  async read(): Promise<ScannedPage | GivenUp> {
    const { filter, first } = this.#request;
    for (;;) {
      const project = [...(this.#project?.records.values() ?? [])];
      const catalogue = [...(this.#catalogue?.records.values() ?? [])];
      await this.#context.slices.take(
        valuesPerMerge * (project.length + catalogue.length),
        this.#context.scope.operationKey,
      );
      const certain = this.#certain();
      const known = this.#listOrder.merge(project, catalogue);
      const found = known.filter((event) => this.#isOnPage(event, certain));
      const isEnd = certain > this.#listOrder.end || certain === Number.POSITIVE_INFINITY;
      if (found.length <= first && !isEnd) {
        const wanted = Math.min(limits.pageRecords + 1, first + 1 - found.length);
        if (this.#isTooDense(known)) return 'too dense';
        if (this.#isTooMuch(known, wanted)) return 'too much';
        if (await this.#advance(known, wanted, certain)) continue;
      }
      if (!(await this.#settle())) continue;
      const moved = await this.#guarded('PROJECT', () =>
        movedEvents(this.#context, this.#listOrder, known, filter),
      );
      return this.#page(known, [...(moved ?? []), ...found], isEnd, certain);
    }
  }

  /** All events before this position of the list are known, and so are their associations. */
  #certain(): number {
    const frontiers = this.#running().map(([, scan]) => scan.frontier);
    return Math.floor(Math.min(Number.POSITIVE_INFINITY, ...frontiers) - this.#listOrder.reach.lookAheadMs);
  }

  #isOnPage(event: LocatedEvent, certain: number): boolean {
    const listOrder = this.#listOrder;
    return (
      listOrder.positionOf(event) < certain &&
      listOrder.isAhead(event) &&
      matchesFilter(this.#request.filter, event) &&
      !listOrder.isDelivered(event)
    );
  }

  #page(
    known: readonly LocatedEvent[],
    found: readonly LocatedEvent[],
    isEnd: boolean,
    certain: number,
  ): ScannedPage {
    const { first } = this.#request;
    const isFull = found.length > first;
    const stoppedAt = { originTime: Instant.fromMs(asMoment(this.#listOrder.sign * certain)), key: null };
    const events = isFull ? found.slice(0, first) : found;
    const last = events.at(-1);
    return {
      events: events.map((event) => ({ event, sortKey: this.#listOrder.behind(event) })),
      known,
      hasMore: isFull || !isEnd,
      stoppedAt: isFull || isEnd ? null : stoppedAt,
      resumeAt: (originMs) => this.#project?.resumeAt(originMs) ?? null,
      failures: this.#shortcomings(),
      oldestReadMs: earliest(
        ...[this.#project, this.#catalogue].map((scan) => scan?.oldestReadMs ?? forever),
      ),
      includes: (event) =>
        this.#isOnPage(event, isFull ? Number.POSITIVE_INFINITY : certain) &&
        !(isFull && last && this.#listOrder.positionOf(event) > this.#listOrder.positionOf(last)),
    };
  }

  /** The failures, and for an interface without one the records of it that could not be read. */
  #shortcomings(): ReadonlyMap<Source, GatewayError> {
    const lost = this.#running().flatMap(([source, { unreadable }]): [Source, GatewayError][] =>
      unreadable.size > 0 ? [[source, unreadableRecords(source, unreadable.size)]] : [],
    );
    return new Map([...lost, ...this.#failures]);
  }

  #running(): [Source, Scan][] {
    const scans: [Source, Scan | null][] = [
      ['PROJECT', this.#project],
      ['CATALOGUE', this.#catalogue],
    ];
    return scans.flatMap(([source, scan]) => (scan && !this.#ended.has(source) ? [[source, scan]] : []));
  }

  #isTooMuch(known: readonly LocatedEvent[], wanted: number): boolean {
    const { filter, givesUp } = this.#request;
    if (!givesUp?.includes('too much')) return false;
    const total = this.#project?.total ?? null;
    return isUnaffordable({ filter, known, wanted, total, spent: this.#catalogue?.requests ?? 0 });
  }

  #isTooDense(known: readonly LocatedEvent[]): boolean {
    if (!this.#request.givesUp?.includes('too dense')) return false;
    const listOrder = this.#listOrder;
    const positions = known
      .filter((event) => listOrder.isAhead(event))
      .map((event) => listOrder.positionOf(event));
    const [first = 0] = positions;
    return (
      positions.filter((position) => position < first + listOrder.reach.lookAheadMs).length > mostWithinReach
    );
  }

  /** Reads the next part of the scan that lags behind, or of both. False when the page has to end here. */
  async #advance(known: readonly LocatedEvent[], wanted: number, certain: number): Promise<boolean> {
    const running = this.#running();
    const behind = Math.min(...running.map(([, scan]) => scan.frontier));
    let due = running.filter(([, scan]) => scan.frontier === behind);
    // The project is read first: the density of its events gives the length of the first catalogue window.
    if (due.length === 2 && this.#catalogue?.knowsDensity === false) due = due.slice(0, 1);
    let target: number | null = null;
    if (this.#catalogue && due.some(([source]) => source === 'CATALOGUE')) {
      const scanTarget = scanTargetOf(this.#listOrder, {
        filter: this.#request.filter,
        known,
        wanted,
        projectFrontier: this.#ended.has('PROJECT') ? null : (this.#project?.frontier ?? null),
        catalogueFrontier: this.#catalogue.frontier,
      });
      if (scanTarget.from > this.#catalogue.frontier) {
        // A skipped range is not read later, so all project events in it must be known first.
        if (await this.#settle()) this.#catalogue.skip(scanTarget.from);
        return true;
      }
      target = scanTarget.to;
    }
    const exhausted = due.filter(([, scan]) => !scan.canAdvance);
    if (exhausted.length > 0) return this.#stop(exhausted, certain);
    const needed = Math.max(wanted, this.#countUpTo(known, target));
    await Promise.all(due.map(([source, scan]) => this.#guarded(source, () => scan.advance(target, needed))));
    return true;
  }

  /**
   * Number of known events between the catalogue frontier and the target: the window must cover all of them before the
   * page is certain.
   */
  #countUpTo(known: readonly LocatedEvent[], target: number | null): number {
    if (!this.#catalogue || target === null) return 0;
    const { frontier } = this.#catalogue;
    const positions = known.map((event) => this.#listOrder.positionOf(event));
    return positions.filter((position) => position > frontier && position <= target).length;
  }

  /**
   * At the request limit the page ends where it is complete. If not even its beginning is complete, the interface
   * counts as failed, and the page is made from the other one.
   */
  #stop(exhausted: readonly [Source, Scan][], certain: number): boolean {
    const isBegun = certain > this.#listOrder.start && Number.isFinite(certain);
    for (const [source] of exhausted) {
      const failure = tooManyRequests(source, limits.eventPageRequests);
      if (isBegun) this.#failures.set(source, failure);
      else this.#fail(source, failure);
    }
    return !isBegun;
  }

  /** True when no further reads were needed; after a read the merge has to be repeated. */
  async #settle(): Promise<boolean> {
    let isSettled = true;
    for (const [source, scan] of this.#running()) {
      const hasRead = await this.#guarded(source, () =>
        scan.settle().catch((error) => this.#tolerated(source, error)),
      );
      if (hasRead !== false) isSettled = false;
      const { lack } = scan;
      if (lack && !this.#failures.has(source)) this.#failures.set(source, lack);
    }
    return isSettled;
  }

  /**
   * If too many solutions were issued since the scan began to read them all, the failure is reported with the page and
   * the scan continues.
   */
  #tolerated(source: Source, error: unknown): false {
    if (!(error instanceof QueryTooComplex)) throw error;
    this.#failures.set(source, error);
    return false;
  }

  /** Null when the interface failed; it is then not read again. */
  async #guarded<T>(source: Source, read: () => Promise<T>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#fail(source, error);
      return null;
    }
  }

  /**
   * Records that were read before the failure stay in the page.
   * @throws the failure when the filter needs this interface or no other is left
   */
  #fail(source: Source, error: GatewayError): void {
    this.#ended.add(source);
    this.#failures.set(source, error);
    if (this.#needed.includes(source) || this.#running().length === 0) throw error;
  }
}

// A page usually has fewer events; more within the look-ahead means many extra reads.
const mostWithinReach = 60;

// Cost of merging one record, counted in values of an answer, for the event-loop slices: several lists in one operation
// would otherwise block the event loop.
const valuesPerMerge = 2;
