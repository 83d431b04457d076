import {
  earliest,
  type ForwardMs,
  floorTo,
  forever,
  latest,
  longAgo,
  momentAt,
  plus,
  type UnixMs,
} from '../../../clock.js';
import { type GatewayError, QueryTooComplex } from '../../../errors.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { ReadScope } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import type { Pushdown } from './filter-pushdown.js';
import { IssueTimeScan, type TimedRecord } from './issue-time-scan.js';

/** A scan of one interface for one page: its records, and the position up to which they are complete. */
export interface Scan {
  /** All records before this position are known. Positions are `sign × milliseconds`, so they grow in either order. */
  readonly frontier: number;
  readonly canAdvance: boolean;
  /** Why records may be missing before `frontier`; null when none is. */
  readonly lack: GatewayError | null;
  /** Names of the elements that could not be read. */
  readonly unreadable: ReadonlySet<string>;
  /** Read time of the oldest response; infinite when nothing was read. */
  readonly oldestReadMs: ForwardMs;
  /** Reads what was issued between two reads of the list. True when it had to read. */
  settle(): Promise<boolean>;
}

/** Carried in a cursor, so that the next page resumes the project's list and does not restart it. */
export interface ProjectResume {
  /** Issue time up to which the list was known when the scan began; solutions issued later are read again. */
  readonly horizonMs: UnixMs;
  /**
   * Date of that first read, since the forward clock of another machine has another origin. Older responses must not be
   * used: a replaced solution could be missing from both pages.
   */
  readonly readOnMs: UnixMs;
  /** Issue time at which the scan resumes; null at its beginning. */
  readonly pinMs: UnixMs | null;
  /** Solutions outside the pinned range that the page has not reached yet. */
  readonly stragglers: readonly Straggler[];
  /** Oldest first only: the longest time from origin to issue, stragglers excepted. Null when it is not known. */
  readonly lagMs: number | null;
  /** True when the lag or the end of the scan is assumed, not read. */
  readonly isAssumed: boolean;
}

/** Issue and origin time of a solution issued long after its earthquake; enough to find it again. */
export type Straggler = readonly [issuedMs: UnixMs, originMs: UnixMs];

export interface ProjectReaderOptions {
  readonly pushdown: Pushdown;
  readonly mostRequests: number;
  readonly resume: ProjectResume | null;
  /** False for the origin time of a record that decides on no event of the page. */
  readonly isNeeded: (originMs: UnixMs) => boolean;
}

/** Reads pages of the project's events for one page of the graph, within a limit of requests. */
export class ProjectReader {
  /** The records that the page needs, by id. */
  readonly needed = new Map<string, TimedRecord>();
  /** The stragglers in the cursor that have not been read yet. */
  stragglers: readonly Straggler[];
  /** Names of the elements that could not be read. */
  readonly unreadable = new Set<string>();
  oldestReadMs: ForwardMs = forever;
  requests = 0;
  horizonMs: UnixMs;
  #atMs: ForwardMs;
  /** All that was read: deep in the list the solutions issued since are many times as many as the page needs. */
  readonly #records = new Map<string, TimedRecord>();
  #newestMs: UnixMs = longAgo;
  /** Number of solutions that were not known when they were read. */
  #solutions = 0;
  readonly #isNeeded: ProjectReaderOptions['isNeeded'];
  readonly #context: UnifyContext;
  readonly #client: ProjectClient;
  readonly #pushdown: Pushdown;
  readonly #mostRequests: number;
  /** Time of the latest read that was not of the newest solutions. */
  #readAtMs: ForwardMs = longAgo;
  #newestReadAtMs: ForwardMs = longAgo;
  /** True when the newest solutions were read after all other pages. Equal milliseconds count as not after. */
  #isSettled = true;

  constructor(
    context: UnifyContext,
    client: ProjectClient,
    { pushdown, mostRequests, resume, isNeeded }: ProjectReaderOptions,
  ) {
    this.#context = context;
    this.#client = client;
    this.#pushdown = pushdown;
    this.#mostRequests = mostRequests;
    this.#isNeeded = isNeeded;
    this.horizonMs = resume?.horizonMs ?? longAgo;
    this.stragglers = resume?.stragglers ?? [];
    const { clock } = context.tenant;
    // An instance whose wall clock is ahead may have dated the read later than now.
    this.#atMs = resume ? earliest(momentAt(clock, resume.readOnMs), clock.now()) : longAgo;
  }

  /** As in `ProjectResume`. */
  get readOnMs(): UnixMs {
    return this.#context.tenant.clock.wallMs(this.#atMs);
  }

  get left(): number {
    return this.#mostRequests - this.requests;
  }

  /** Number of events read. */
  get size(): number {
    return this.#records.size;
  }

  /** One scan for each bounding box of the pushdown. */
  scans(order: 'asc' | 'desc', fromMs: UnixMs, toMs: UnixMs): IssueTimeScan[] {
    return this.#pushdown.boxes.map((bbox) => this.#scan(order, fromMs, toMs, bbox, this.#atMs));
  }

  /**
   * Reads the next page of each scan, in parallel.
   * @param areNewest true when the scans begin with the newest solutions
   */
  async advance(scans: readonly IssueTimeScan[], areNewest = false): Promise<void> {
    const pages = await Promise.all(scans.map((scan) => scan.next()));
    for (const records of pages) await this.#add(records);
    const times = scans.map((scan) => scan.readAtMs);
    if (areNewest) this.#newestReadAtMs = earliest(...times);
    else this.#hasRead(times);
    if (this.horizonMs !== longAgo) return;
    this.horizonMs = plus(this.#newestMs, -listingLagMs);
    this.#atMs = earliest(...times);
  }

  /**
   * Reads the solutions issued since the scan began: one that was replaced between two pages is in neither of them, but
   * here. False when they were already read after all other pages.
   */
  async readNewer(): Promise<boolean> {
    if (this.#isSettled || this.horizonMs === longAgo) return false;
    this.#isSettled = true;
    let fromMs = this.horizonMs;
    let notBeforeMs = this.#readAtMs;
    for (let isWhole = false; !isWhole; fromMs = plus(this.#newestMs, -listingLagMs)) {
      const before = this.#solutions;
      const scans = this.#pushdown.boxes.map((bbox) =>
        this.#scan('desc', plus(floorTo(1000, fromMs), -1000), forever, bbox, notBeforeMs),
      );
      for (const scan of scans) await this.#readAll(scan);
      const times = scans.map((scan) => scan.readAtMs);
      this.#newestReadAtMs = earliest(...times);
      notBeforeMs = latest(...times);
      // A solution can also be replaced between two of these pages, so the read is repeated until nothing new appears.
      isWhole = scans.every((scan) => scan.pages === 1) || this.#solutions === before;
    }
    return true;
  }

  /** Times of the solutions read that were issued before the scan began; `isAhead` selects by origin time. */
  known(isAhead: (originMs: UnixMs) => boolean): Straggler[] {
    const known: Straggler[] = [];
    for (const record of this.#records.values()) {
      const issuedMs = issuedMsOf(record);
      if (issuedMs <= this.horizonMs && isAhead(record.originMs)) known.push([issuedMs, record.originMs]);
    }
    return known;
  }

  /** Reads all solutions issued within about a second of the straggler, in every region. */
  async readStraggler(straggler: Straggler): Promise<void> {
    const secondMs = floorTo(1000, straggler[0]);
    const scan = this.#scan('desc', plus(secondMs, -1000), plus(secondMs, 2000), undefined, this.#atMs);
    await this.#readAll(scan);
    this.#hasRead([scan.readAtMs]);
    // A straggler that is missing was issued again and is read with the newest solutions.
    this.stragglers = this.stragglers.filter((other) => other !== straggler);
  }

  /** A page read after the newest solutions may lack one that was replaced since, so those have to be read again. */
  #hasRead(times: readonly ForwardMs[]): void {
    this.#readAtMs = latest(this.#readAtMs, ...times);
    if (this.#readAtMs >= this.#newestReadAtMs) this.#isSettled = false;
  }

  async #readAll(scan: IssueTimeScan): Promise<void> {
    while (!scan.isDone) {
      await this.#add(await scan.next());
      if (!scan.isDone && this.left <= 0) throw tooManyRequests('PROJECT', this.#mostRequests);
    }
  }

  #scan(
    order: 'asc' | 'desc',
    fromMs: UnixMs,
    toMs: UnixMs,
    bbox: Pushdown['boxes'][number],
    notBeforeMs: ForwardMs,
  ): IssueTimeScan {
    return new IssueTimeScan({
      order,
      fromMs,
      toMs,
      bbox,
      minMagnitude: this.#pushdown.selection.minMagnitude,
      read: async (query, pageNotBeforeMs) => {
        this.requests++;
        const page = await this.#client.events(query, this.#scope(latest(notBeforeMs, pageNotBeforeMs)));
        for (const name of page.value.unreadable ?? []) this.unreadable.add(name);
        this.oldestReadMs = earliest(this.oldestReadMs, page.readAtMs);
        return page;
      },
    });
  }

  #scope(notBeforeMs: ForwardMs): ReadScope {
    const { scope } = this.#context;
    return notBeforeMs === longAgo ? scope : { ...scope, notBeforeMs };
  }

  // Of two versions of an event the one issued later wins, whichever page was read first.
  async #add(records: readonly TimedRecord[]): Promise<void> {
    for (const record of records) {
      const { id } = record.value;
      const known = this.#records.get(id);
      const isLater = (record.issuedMs ?? 0) - (known?.issuedMs ?? 0);
      if (known && isLater < 0) continue;
      if (!known || isLater > 0) this.#solutions++;
      this.#records.set(id, record);
      if (this.#isNeeded(record.originMs)) this.needed.set(id, record);
      else this.needed.delete(id);
      if (record.issuedMs !== null) this.#newestMs = latest(this.#newestMs, record.issuedMs);
      if (this.stragglers.length > 0) {
        this.stragglers = this.stragglers.filter(
          ([issuedMs, originMs]) => issuedMs !== issuedMsOf(record) || originMs !== record.originMs,
        );
      }
    }
    const { slices, scope } = this.#context;
    await slices.take(Math.ceil(records.length / recordsPerValue), scope.operationKey);
  }
}

// An event without an issue time cannot be found by one, so it sorts last.
const issuedMsOf = ({ issuedMs }: TimedRecord): UnixMs => issuedMs ?? forever;

// Records that are added in the time that one value of an answer takes: a page deep in the list adds tens of thousands.
const recordsPerValue = 25;

// Assumed: a solution that the list does not show yet is issued at most this long before the newest that it shows. Data
// can be a few seconds behind (docs/interfaces.md P1), and issue times may be in whole seconds.
export const listingLagMs = 10_000;

export function tooManyRequests(source: 'PROJECT' | 'CATALOGUE', most: number): QueryTooComplex {
  const name = source === 'PROJECT' ? 'project' : 'catalogue';
  return new QueryTooComplex(
    `Reading on would take more than ${most} requests to the ${name} interface: narrow \`filter.from\` and ` +
      '`filter.to`, or `filter.boundingBox` or `filter.within`',
    { argument: 'filter.from' },
  );
}
