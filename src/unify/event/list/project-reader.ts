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
import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read, ReadScope } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { issuedMs } from '../merge.js';
import { projectSolution } from '../solution.js';
import type { Pushdown } from './filter-pushdown.js';
import { IssueTimeScan } from './issue-time-scan.js';

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

/** Reads pages of the project's events for one page of the graph, within a limit of requests. */
export class ProjectReader {
  readonly records = new Map<string, Read<WireEvent>>();
  /** Names of the elements that could not be read. */
  readonly unreadable = new Set<string>();
  oldestReadMs: ForwardMs = forever;
  requests = 0;
  horizonMs: UnixMs;
  #atMs: ForwardMs;
  readonly #times = new Set<string>();
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
    options: { pushdown: Pushdown; mostRequests: number; resume: ProjectResume | null },
  ) {
    this.#context = context;
    this.#client = client;
    this.#pushdown = options.pushdown;
    this.#mostRequests = options.mostRequests;
    this.horizonMs = options.resume?.horizonMs ?? longAgo;
    const { clock } = context.tenant;
    // An instance whose wall clock is ahead may have dated the read later than now.
    this.#atMs = options.resume ? earliest(momentAt(clock, options.resume.readOnMs), clock.now()) : longAgo;
  }

  /** As in `ProjectResume`. */
  get readOnMs(): UnixMs {
    return this.#context.tenant.clock.wallMs(this.#atMs);
  }

  get left(): number {
    return this.#mostRequests - this.requests;
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
    this.#add(pages.flat());
    const times = scans.map((scan) => scan.readAtMs);
    if (areNewest) this.#newestReadAtMs = earliest(...times);
    else this.#hasRead(times);
    if (this.horizonMs !== longAgo) return;
    this.horizonMs = plus(this.#newestMs(), -listingLagMs);
    this.#atMs = earliest(...times);
  }

  #newestMs(): UnixMs {
    const issued = [...this.records.values()].map(({ value }) => issuedMs(value) ?? longAgo);
    return latest(...issued);
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
    for (let isWhole = false; !isWhole; fromMs = plus(this.#newestMs(), -listingLagMs)) {
      const before = this.#times.size;
      const scans = this.#pushdown.boxes.map((bbox) =>
        this.#scan('desc', plus(floorTo(1000, fromMs), -1000), forever, bbox, notBeforeMs),
      );
      for (const scan of scans) await this.#readAll(scan);
      const times = scans.map((scan) => scan.readAtMs);
      this.#newestReadAtMs = earliest(...times);
      notBeforeMs = latest(...times);
      // A solution can also be replaced between two of these pages, so the read is repeated until nothing new appears.
      isWhole = scans.every((scan) => scan.pages === 1) || this.#times.size === before;
    }
    return true;
  }

  unread(stragglers: readonly Straggler[]): Straggler[] {
    return stragglers.filter(([issued, origin]) => !this.#times.has(`${issued} ${origin}`));
  }

  /** Times of all solutions read that were issued before the scan began. */
  known(): Straggler[] {
    return [...this.records.values()].flatMap(({ value }) => {
      const times = timesOf(value);
      return times[0] <= this.horizonMs ? [times] : [];
    });
  }

  /** Reads all solutions issued within about a second of `ms`, in every region. */
  async readMoment(ms: UnixMs): Promise<void> {
    const secondMs = floorTo(1000, ms);
    const scan = this.#scan('desc', plus(secondMs, -1000), plus(secondMs, 2000), undefined, this.#atMs);
    await this.#readAll(scan);
    this.#hasRead([scan.readAtMs]);
  }

  /** A page read after the newest solutions may lack one that was replaced since, so those have to be read again. */
  #hasRead(times: readonly ForwardMs[]): void {
    this.#readAtMs = latest(this.#readAtMs, ...times);
    if (this.#readAtMs >= this.#newestReadAtMs) this.#isSettled = false;
  }

  async #readAll(scan: IssueTimeScan): Promise<void> {
    while (!scan.isDone) {
      this.#add(await scan.next());
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
  #add(reads: readonly Read<WireEvent>[]): void {
    for (const read of reads) {
      const known = this.records.get(read.value.id);
      if (known && (issuedMs(known.value) ?? 0) > (issuedMs(read.value) ?? 0)) continue;
      this.records.set(read.value.id, read);
      this.#times.add(timesOf(read.value).join(' '));
    }
  }
}

// An event without an issue time cannot be found by one, so it sorts last.
function timesOf(event: WireEvent): Straggler {
  return [issuedMs(event) ?? forever, originMs(event)];
}

/** Origin time; without an origin the issue time stands in for it. */
export function originMs(event: WireEvent): UnixMs {
  return projectSolution(event)?.originTime.ms ?? issuedMs(event) ?? longAgo;
}

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
