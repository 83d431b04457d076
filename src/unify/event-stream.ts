import { GatewayError, type Source } from '../errors.js';
import type { ProjectClient } from '../upstream/project/client.js';
import type { UnifyContext } from './context.js';
import { CatalogueScan } from './event-catalogue-scan.js';
import { CatalogueReader } from './event-catalogue-window.js';
import { type EventPosition, marksOf, mostMarks, movesWithinMs, type Place } from './event-cursor.js';
import { type EventFilter, matchesFilter, neededSources } from './event-filter.js';
import { associate, lookAheadMs } from './event-identity.js';
import {
  compareEvents,
  compareText,
  isLocated,
  issuedMs,
  type LocatedEvent,
  mergeEvent,
} from './event-merge.js';
import { type Narrowing, narrow } from './event-narrowing.js';
import { NewestFirst } from './event-newest-first.js';
import { OldestFirst } from './event-oldest-first.js';
import { solutionAsOf } from './event-origins.js';
import { ProjectReader, type ProjectResume, tooManyRequests } from './event-project-reader.js';
import type { Solution } from './event-solution.js';
import { Instant } from './time.js';

export interface StreamRequest {
  readonly filter: EventFilter;
  readonly order: 'DESC' | 'ASC';
  readonly after: EventPosition | null;
  /** How many events; infinite for all that the filter lets through. */
  readonly first: number;
}

export interface StreamPage {
  /** In order; at most `first`. Each with the place in the list that a walk goes on behind. */
  readonly events: readonly { readonly event: LocatedEvent; readonly place: Place }[];
  readonly hasMore: boolean;
  /** How far the page is complete, where it stopped short of `first` events; null at the list's end. */
  readonly stoppedAt: Place | null;
  /** What was known around the page: for the marks of its cursors. */
  readonly known: readonly LocatedEvent[];
  readonly resumeAt: (originMs: number) => ProjectResume | null;
  /** Interfaces that the page lacks something of, and why. */
  readonly failures: ReadonlyMap<Source, GatewayError>;
}

/**
 * One page of all earthquakes in exact order of origin time, each once (contract 6.5): reads as far into both lists as is
 * needed to be certain of every event on the page, of the partner it has, and of its neighbours.
 */
export async function readStream(context: UnifyContext, request: StreamRequest): Promise<StreamPage> {
  return new Stream(context, request).read();
}

class Stream {
  readonly #context: UnifyContext;
  readonly #request: StreamRequest;
  readonly #needed: readonly Source[];
  readonly #sign: 1 | -1;
  /** Places along the list (`sign × milliseconds`) where the page begins and where the list ends. */
  readonly #start: number;
  readonly #end: number;
  readonly #project: ProjectScan | null;
  readonly #catalogue: CatalogueScan | null;
  readonly #delivered: ReadonlySet<string>;
  /** Those that are read no more. */
  readonly #ended = new Set<Source>();
  readonly #failures = new Map<Source, GatewayError>();

  constructor(context: UnifyContext, request: StreamRequest) {
    const { filter, order, after } = request;
    this.#context = context;
    this.#request = request;
    this.#needed = neededSources(filter, context);
    this.#sign = order === 'DESC' ? -1 : 1;
    const [first, last] = order === 'DESC' ? [filter.to, filter.from] : [filter.from, filter.to];
    const begins = [first, after?.originTime].map((time) => (time ? this.#sign * time.ms : -Infinity));
    this.#start = Math.max(...begins);
    this.#end = last ? this.#sign * last.ms : Number.POSITIVE_INFINITY;
    this.#delivered = new Set(after?.delivered);
    const narrowing = narrow(filter);
    const begin = this.#start - lookAheadMs;
    this.#project =
      context.project && projectScan(context, context.project, request, narrowing, this.#sign * begin);
    this.#catalogue =
      context.catalogue &&
      new CatalogueScan(
        context,
        new CatalogueReader(context, context.catalogue, { near: narrowing.near, mostRequests }),
        { order, start: begin, end: this.#end + lookAheadMs, place: JSON.stringify(narrowing.near ?? null) },
      );
  }

  async read(): Promise<StreamPage> {
    for (;;) {
      const certain = this.#certain();
      const known = this.#merged();
      const found = known.filter((event) => this.#isOnPage(event, certain));
      const isEnd = certain > this.#end || certain === Number.POSITIVE_INFINITY;
      if (
        found.length > this.#request.first ||
        isEnd ||
        !(await this.#advance(known, found.length, certain))
      ) {
        if (await this.#settle()) {
          return this.#page(known, [...(await this.#late(known)), ...found], isEnd, certain);
        }
      }
    }
  }

  #page(
    known: readonly LocatedEvent[],
    found: readonly LocatedEvent[],
    isEnd: boolean,
    certain: number,
  ): StreamPage {
    const { first } = this.#request;
    const isFull = found.length > first;
    return {
      events: (isFull ? found.slice(0, first) : found).map((event) => ({
        event,
        place: this.#behind(event),
      })),
      known,
      hasMore: isFull || !isEnd,
      stoppedAt: isFull || isEnd ? null : { originTime: Instant.fromMs(this.#sign * certain), key: null },
      resumeAt: (originMs) => this.#project?.resumeAt(originMs) ?? null,
      failures: this.#failures,
    };
  }

  // A walk does not go back for an event that was moved behind its cursor.
  #behind(event: LocatedEvent): Place {
    const { after } = this.#request;
    const { originTime, key } =
      after && !this.#isAfter(event) ? after : { ...event.solution, key: event.key };
    return { originTime, key };
  }

  /** Everything nearer along the list than this is known, and which records belong together. */
  #certain(): number {
    const frontiers = this.#running().map(([, scan]) => scan.frontier);
    return Math.floor(Math.min(Number.POSITIVE_INFINITY, ...frontiers) - lookAheadMs);
  }

  #merged(): LocatedEvent[] {
    const project = [...(this.#project?.records.values() ?? [])];
    const catalogue = [...(this.#catalogue?.records.values() ?? [])];
    const pairs = associate(project, catalogue);
    const paired = new Set(pairs.values());
    const events = [
      ...project.map((record) => mergeEvent(record, pairs.get(record) ?? null)),
      ...catalogue.filter((record) => !paired.has(record)).map((record) => mergeEvent(null, record)),
    ];
    return events.filter(isLocated).sort((a, b) => this.#sign * compareEvents(a, b));
  }

  #isOnPage(event: LocatedEvent, certain: number): boolean {
    return (
      this.#placeOf(event) < certain &&
      this.#isAfter(event) &&
      matchesFilter(this.#request.filter, event) &&
      !this.#isDelivered(event)
    );
  }

  /**
   * Events that a new solution has moved from ahead of the cursor to behind it: they would be missed. What is new there
   * is not; only the project's detail can tell, so it is read for the few that were issued since the walk began.
   */
  async #late(known: readonly LocatedEvent[]): Promise<LocatedEvent[]> {
    const { after, filter } = this.#request;
    if (!after?.project || after.delivered.length >= mostMarks) return [];
    const { horizonMs } = after.project;
    const late: LocatedEvent[] = [];
    for (const event of known) {
      const isNear = Math.abs(event.solution.originTime.ms - after.originTime.ms) <= movesWithinMs;
      if (!event.project || !isNear || (issuedMs(event.project.value) ?? 0) <= horizonMs) continue;
      if (this.#isAfter(event) || this.#isDelivered(event) || !matchesFilter(filter, event)) continue;
      const former = await this.#former(event.project.value.id, horizonMs);
      if (former && this.#isAfter({ solution: former, key: event.key })) late.push(event);
    }
    return late;
  }

  async #former(id: string, horizonMs: number): Promise<Solution | null> {
    let former: Solution | null = null;
    await this.#guarded('PROJECT', async () => {
      former = await solutionAsOf(this.#context, id, horizonMs);
    });
    return former;
  }

  #isDelivered(event: LocatedEvent): boolean {
    return marksOf(event).some((mark) => this.#delivered.has(mark));
  }

  #isAfter({ solution, key }: Pick<LocatedEvent, 'solution' | 'key'>): boolean {
    const { after } = this.#request;
    if (!after) return true;
    const byTime = this.#sign * solution.originTime.compare(after.originTime);
    if (byTime !== 0 || after.key === null) return byTime >= 0;
    return this.#sign * compareText(key, after.key) > 0;
  }

  #placeOf(event: LocatedEvent): number {
    return this.#sign * event.solution.originTime.ms;
  }

  #running(): [Source, ProjectScan | CatalogueScan][] {
    const scans: [Source, ProjectScan | CatalogueScan | null][] = [
      ['PROJECT', this.#project],
      ['CATALOGUE', this.#catalogue],
    ];
    return scans.flatMap(([source, scan]) => (scan && !this.#ended.has(source) ? [[source, scan]] : []));
  }

  /** Reads on with whoever is behind. False when the page has to end where it stands. */
  async #advance(known: readonly LocatedEvent[], found: number, certain: number): Promise<boolean> {
    const running = this.#running();
    const behind = Math.min(...running.map(([, scan]) => scan.frontier));
    let due = running.filter(([, scan]) => scan.frontier === behind);
    // How dense earthquakes lie is learnt from the project before the first window is cut from the catalogue.
    if (due.length === 2 && this.#catalogue?.knowsDensity === false) due = due.slice(0, 1);
    const spent = due.filter(([, scan]) => !scan.canAdvance);
    if (spent.length > 0) return this.#stop(spent, certain);
    const wanted = Math.min(mostWanted, this.#request.first + 1 - found);
    const target = this.#target(known, wanted);
    await Promise.all(due.map(([source, scan]) => this.#guarded(source, () => scan.advance(target, wanted))));
    return true;
  }

  /**
   * Too many requests end the page where it stands. Where they did not even lead to its beginning, the interface counts
   * as one that could not answer, and the page goes on without the rest of it.
   */
  #stop(spent: readonly [Source, ProjectScan | CatalogueScan][], certain: number): boolean {
    const isBegun = certain > this.#start && Number.isFinite(certain);
    for (const [source] of spent) {
      const failure = tooManyRequests(source, mostRequests);
      if (isBegun) this.#failures.set(source, failure);
      else this.#fail(source, failure);
    }
    return !isBegun;
  }

  /** How far the page will reach at most, by what the project has; null when that tells nothing. */
  #target(known: readonly LocatedEvent[], wanted: number): number | null {
    const { filter } = this.#request;
    const tells = this.#project && !this.#ended.has('PROJECT') && typeof filter.networkId !== 'string';
    const ahead =
      tells && filter.source !== 'CATALOGUE'
        ? known.filter((event) => event.project && this.#isAfter(event) && matchesFilter(filter, event))
        : [];
    const last = ahead[wanted - 1];
    const reach = last ? this.#placeOf(last) : tells ? (this.#project?.frontier ?? Infinity) : Infinity;
    const target = Math.min(reach, this.#end) + lookAheadMs + 1000;
    return Number.isFinite(target) ? target : null;
  }

  /** False when it had to read for that, so that everything has to be looked at again. */
  async #settle(): Promise<boolean> {
    let isSettled = true;
    for (const [source, scan] of this.#running()) {
      const isWhole = await this.#guarded(source, async () => {
        if (await scan.settle()) isSettled = false;
      });
      if (!isWhole) isSettled = false;
    }
    for (const [source, scan] of this.#running()) {
      if (scan.isAssumed && !this.#failures.has(source)) {
        this.#failures.set(source, tooManyRequests(source, mostRequests));
      }
    }
    return isSettled;
  }

  async #guarded(source: Source, read: () => Promise<void>): Promise<boolean> {
    try {
      await read();
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#fail(source, error);
      return false;
    }
  }

  /** What has been read of the interface stays; nothing more comes. */
  #fail(source: Source, error: GatewayError): void {
    this.#ended.add(source);
    this.#failures.set(source, error);
    if (this.#needed.includes(source) || this.#running().length === 0) throw error;
  }
}

function projectScan(
  context: UnifyContext,
  client: ProjectClient,
  { order, after }: StreamRequest,
  narrowing: Narrowing,
  startMs: number,
): ProjectScan {
  const resume = after?.project ?? null;
  const reader = new ProjectReader(context, client, { narrowing, mostRequests, resume });
  const options = { narrowing, startMs, resume };
  return order === 'DESC' ? new NewestFirst(reader, options) : new OldestFirst(reader, options);
}

type ProjectScan = NewestFirst | OldestFirst;

// As many as a burst of the project's allowance (key-scoped §8): what one page may take of each interface.
export const mostRequests = 20;

// A window of the catalogue is not made longer than for so many.
const mostWanted = 500;
