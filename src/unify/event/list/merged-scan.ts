import { GatewayError, QueryTooComplex, type Source } from '../../../errors.js';
import type { UnifyContext } from '../../context.js';
import { Instant } from '../../time/instant.js';
import { type EventFilter, matchesFilter, neededSources } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import { isUnaffordable } from './affordable.js';
import type { CatalogueScan } from './catalogue-scan.js';
import type { EventPlace, EventPosition } from './cursor.js';
import type { Pushdown } from './filter-pushdown.js';
import { ListOrder } from './list-order.js';
import { movedEvents } from './moved-events.js';
import { type ProjectResume, tooManyRequests } from './project-reader.js';
import { scanTargetOf } from './scan-target.js';
import { catalogueScan, mostRequests, type ProjectScan, projectScan } from './scans.js';

export interface MergedScanRequest {
  readonly filter: EventFilter;
  readonly narrowing: Pushdown;
  readonly order: 'DESC' | 'ASC';
  readonly after: EventPosition | null;
  /** How many events; infinite for all that the filter lets through. */
  readonly first: number;
  /** For what reasons there is another way to read the page. */
  readonly givesUp?: readonly GivenUp[];
}

/** Too many requests for what the filter lets through, or too many earthquakes within the reach that equal ids have. */
export type GivenUp = 'too much' | 'too dense';

export interface ScannedPage {
  /** In order; at most `first`. Each with the place in the list that a walk goes on behind. */
  readonly events: readonly { readonly event: LocatedEvent; readonly place: EventPlace }[];
  readonly hasMore: boolean;
  /** How far the page is complete, where it stopped short of `first` events; null at the list's end. */
  readonly stoppedAt: EventPlace | null;
  /** What was known around the page: for the marks of its cursors. */
  readonly known: readonly LocatedEvent[];
  readonly resumeAt: (originMs: number) => ProjectResume | null;
  /** Interfaces that the page lacks something of, and why. */
  readonly failures: ReadonlyMap<Source, GatewayError>;
}

/**
 * One page of all earthquakes in exact order of origin time, each once (docs/behaviour.md 6.5): reads as far into both lists as is
 * needed to be certain of every event on the page, of the partner it has, and of its neighbours. The reason when that is
 * given up.
 */
export function readMergedScan(
  context: UnifyContext,
  request: MergedScanRequest,
): Promise<ScannedPage | GivenUp> {
  return new Stream(context, request).read();
}

type Scan = ProjectScan | CatalogueScan;

class Stream {
  readonly #context: UnifyContext;
  readonly #request: MergedScanRequest;
  readonly #line: ListOrder;
  readonly #needed: readonly Source[];
  readonly #project: ProjectScan | null;
  readonly #catalogue: CatalogueScan | null;
  /** Those that are read no more. */
  readonly #ended = new Set<Source>();
  readonly #failures = new Map<Source, GatewayError>();

  constructor(context: UnifyContext, request: MergedScanRequest) {
    const { project, catalogue } = context;
    this.#context = context;
    this.#request = request;
    this.#needed = neededSources(request.filter, context);
    this.#line = new ListOrder(request);
    this.#project = project && projectScan(context, project, this.#line, request.narrowing);
    this.#catalogue = catalogue && catalogueScan(context, catalogue, this.#line, request.narrowing);
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
      const known = this.#line.merge(project, catalogue);
      const found = known.filter((event) => this.#isOnPage(event, certain));
      const isEnd = certain > this.#line.end || certain === Number.POSITIVE_INFINITY;
      if (found.length <= first && !isEnd) {
        const wanted = Math.min(mostWanted, first + 1 - found.length);
        if (this.#isTooDense(known)) return 'too dense';
        if (this.#isTooMuch(known, wanted)) return 'too much';
        if (await this.#advance(known, wanted, certain)) continue;
      }
      if (!(await this.#settle())) continue;
      const late = await this.#guarded('PROJECT', () =>
        movedEvents(this.#context, this.#line, known, filter),
      );
      return this.#page(known, [...(late ?? []), ...found], isEnd, certain);
    }
  }

  /** Everything nearer along the list than this is known, and which records belong together. */
  #certain(): number {
    const frontiers = this.#running().map(([, scan]) => scan.frontier);
    return Math.floor(Math.min(Number.POSITIVE_INFINITY, ...frontiers) - this.#line.reach.lookAheadMs);
  }

  #isOnPage(event: LocatedEvent, certain: number): boolean {
    const line = this.#line;
    return (
      line.placeOf(event) < certain &&
      line.isAhead(event) &&
      matchesFilter(this.#request.filter, event) &&
      !line.isDelivered(event)
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
    const stoppedAt = { originTime: Instant.fromMs(this.#line.sign * certain), key: null };
    return {
      events: (isFull ? found.slice(0, first) : found).map((event) => ({
        event,
        place: this.#line.behind(event),
      })),
      known,
      hasMore: isFull || !isEnd,
      stoppedAt: isFull || isEnd ? null : stoppedAt,
      resumeAt: (originMs) => this.#project?.resumeAt(originMs) ?? null,
      failures: this.#failures,
    };
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
    const line = this.#line;
    const places = known.filter((event) => line.isAhead(event)).map((event) => line.placeOf(event));
    const [first = 0] = places;
    return places.filter((place) => place < first + line.reach.lookAheadMs).length > mostWithinReach;
  }

  /** Reads on with whoever is behind. False when the page has to end where it stands. */
  async #advance(known: readonly LocatedEvent[], wanted: number, certain: number): Promise<boolean> {
    const running = this.#running();
    const behind = Math.min(...running.map(([, scan]) => scan.frontier));
    let due = running.filter(([, scan]) => scan.frontier === behind);
    // How dense earthquakes lie is learnt from the project before the first window is cut from the catalogue.
    if (due.length === 2 && this.#catalogue?.knowsDensity === false) due = due.slice(0, 1);
    let target: number | null = null;
    if (this.#catalogue && due.some(([source]) => source === 'CATALOGUE')) {
      const aim = scanTargetOf(this.#line, {
        filter: this.#request.filter,
        known,
        wanted,
        projectFrontier: this.#ended.has('PROJECT') ? null : (this.#project?.frontier ?? null),
        catalogueFrontier: this.#catalogue.frontier,
      });
      if (aim.from > this.#catalogue.frontier) {
        // What is passed over is not come back to: whatever the project has there must be known.
        if (await this.#settle()) this.#catalogue.skip(aim.from);
        return true;
      }
      target = aim.to;
    }
    const spent = due.filter(([, scan]) => !scan.canAdvance);
    if (spent.length > 0) return this.#stop(spent, certain);
    const needed = Math.max(wanted, this.#countUpTo(known, target));
    await Promise.all(due.map(([source, scan]) => this.#guarded(source, () => scan.advance(target, needed))));
    return true;
  }

  /** How many events lie ahead of the catalogue, as far as the page reaches: all of them are needed to be certain. */
  #countUpTo(known: readonly LocatedEvent[], target: number | null): number {
    if (!this.#catalogue || target === null) return 0;
    const { frontier } = this.#catalogue;
    const places = known.map((event) => this.#line.placeOf(event));
    return places.filter((place) => place > frontier && place <= target).length;
  }

  /**
   * Too many requests end the page where it stands. Where they did not even lead to its beginning, the interface counts
   * as one that could not answer, and the page goes on without the rest of it.
   */
  #stop(spent: readonly [Source, Scan][], certain: number): boolean {
    const isBegun = certain > this.#line.start && Number.isFinite(certain);
    for (const [source] of spent) {
      const failure = tooManyRequests(source, mostRequests);
      if (isBegun) this.#failures.set(source, failure);
      else this.#fail(source, failure);
    }
    return !isBegun;
  }

  /** False when it had to read for that, so that everything has to be looked at again. */
  async #settle(): Promise<boolean> {
    let isSettled = true;
    for (const [source, scan] of this.#running()) {
      const hasRead = await this.#guarded(source, () =>
        scan.settle().catch((error) => this.#tolerated(source, error)),
      );
      if (hasRead !== false) isSettled = false;
      if (scan.isAssumed && !this.#failures.has(source)) {
        this.#failures.set(source, tooManyRequests(source, mostRequests));
      }
    }
    return isSettled;
  }

  /** That so much has been issued meanwhile that it cannot all be read is told, and takes away nothing. */
  #tolerated(source: Source, error: unknown): false {
    if (!(error instanceof QueryTooComplex)) throw error;
    this.#failures.set(source, error);
    return false;
  }

  /** Null when the interface failed: it is read no more. */
  async #guarded<T>(source: Source, read: () => Promise<T>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#fail(source, error);
      return null;
    }
  }

  /** What has been read of the interface stays; nothing more comes. */
  #fail(source: Source, error: GatewayError): void {
    this.#ended.add(source);
    this.#failures.set(source, error);
    if (this.#needed.includes(source) || this.#running().length === 0) throw error;
  }
}

// More would be read than a page usually has.
const mostWithinReach = 60;

// What it takes to merge a record, counted in values of an answer: lists that are asked for at once would hold up the loop.
const valuesPerMerge = 2;

// A window of the catalogue is not made longer than for so many.
const mostWanted = 500;
