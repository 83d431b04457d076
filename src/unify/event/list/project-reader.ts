import { QueryTooComplex } from '../../../errors.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import type { Read, ReadScope } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { issuedMs } from '../merge.js';
import { projectSolution } from '../solution.js';
import type { Pushdown } from './filter-pushdown.js';
import { IssueTimeScan } from './issue-time-scan.js';

/** A source of one page: what it has read, and how far along the list that is all there is. */
export interface Scan {
  /** Everything nearer along the list is known. Places along it are `sign × milliseconds`: they grow in either order. */
  readonly frontier: number;
  readonly canAdvance: boolean;
  /** True when that rests on an assumption, since proof would take too many requests. */
  readonly isAssumed: boolean;
  /** Makes sure that nothing slipped through between two reads. True when it had to read for that. */
  settle(): Promise<boolean>;
}

/** What a cursor carries so that the project's list is gone on with, rather than begun again. */
export interface ProjectResume {
  /** Issue time up to which the list was known when the walk began; what has been issued since is read anew. */
  readonly horizonMs: number;
  /** When that was. Nothing read before may be used: a solution could be in neither place. */
  readonly atMs: number;
  /** Where the walk by issue time goes on; null at its beginning. */
  readonly pinMs: number | null;
  /** Solutions that the pin leaves out and the list has not come to yet. */
  readonly stragglers: readonly Straggler[];
  /** Oldest first: no other solution comes later than this after its earthquake. Null when nobody knows. */
  readonly lagMs: number | null;
  /** Whether that is only assumed. */
  readonly isAssumed: boolean;
}

/** Times of a solution that was issued long after its earthquake: enough to find it again. */
export type Straggler = readonly [issuedMs: number, originMs: number];

/** Reads pages of the project's events for one page of the graph, within a number of requests. */
export class ProjectReader {
  readonly records = new Map<string, Read<WireEvent>>();
  requests = 0;
  horizonMs: number;
  atMs: number;
  readonly #times = new Set<string>();
  readonly #context: UnifyContext;
  readonly #client: ProjectClient;
  readonly #narrowing: Pushdown;
  readonly #mostRequests: number;
  /** When the latest page was read that did not begin with the news. */
  #readAtMs = Number.NEGATIVE_INFINITY;
  #newsAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the news were read after all else: clocks do not tell two reads of one millisecond apart. */
  #isSettled = true;

  constructor(
    context: UnifyContext,
    client: ProjectClient,
    options: { narrowing: Pushdown; mostRequests: number; resume: ProjectResume | null },
  ) {
    this.#context = context;
    this.#client = client;
    this.#narrowing = options.narrowing;
    this.#mostRequests = options.mostRequests;
    this.horizonMs = options.resume?.horizonMs ?? Number.NEGATIVE_INFINITY;
    this.atMs = options.resume?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  get left(): number {
    return this.#mostRequests - this.requests;
  }

  /** One for each region that the list is narrowed to. */
  walks(order: 'asc' | 'desc', fromMs: number, toMs: number): IssueTimeScan[] {
    return this.#narrowing.boxes.map((bbox) => this.#walk(order, fromMs, toMs, bbox, this.atMs));
  }

  /**
   * The next page of each, side by side.
   * @param areNews whether they begin with the latest that has been issued
   */
  async advance(walks: readonly IssueTimeScan[], areNews = false): Promise<void> {
    const pages = await Promise.all(walks.map((walk) => walk.next()));
    this.#add(pages.flat());
    const times = walks.map((walk) => walk.readAtMs);
    if (areNews) this.#newsAtMs = Math.min(...times);
    else this.#hasRead(times);
    if (this.horizonMs !== Number.NEGATIVE_INFINITY) return;
    this.horizonMs = this.#newestMs() - lateMs;
    this.atMs = Math.min(...times);
  }

  #newestMs(): number {
    const issued = [...this.records.values()].map(({ value }) => issuedMs(value) ?? Number.NEGATIVE_INFINITY);
    return Math.max(...issued);
  }

  /**
   * Reads what has been issued since the walk began: a solution that was replaced between two pages is in neither of
   * them, but here. False where that has been read after everything else.
   */
  async readNews(): Promise<boolean> {
    if (this.#isSettled || this.horizonMs === Number.NEGATIVE_INFINITY) return false;
    this.#isSettled = true;
    let fromMs = this.horizonMs;
    let notBeforeMs = this.#readAtMs;
    for (let isWhole = false; !isWhole; fromMs = this.#newestMs() - lateMs) {
      const before = this.#times.size;
      const walks = this.#narrowing.boxes.map((bbox) =>
        this.#walk('desc', Math.floor(fromMs / 1000 - 1) * 1000, Number.POSITIVE_INFINITY, bbox, notBeforeMs),
      );
      for (const walk of walks) await this.#readAll(walk);
      const times = walks.map((walk) => walk.readAtMs);
      this.#newsAtMs = Math.min(...times);
      notBeforeMs = Math.max(...times);
      // Between two pages of news as well, a solution can be replaced: what came meanwhile is read too.
      isWhole = walks.every((walk) => walk.pages === 1) || this.#times.size === before;
    }
    return true;
  }

  /** Those that have not been read yet. */
  unread(stragglers: readonly Straggler[]): Straggler[] {
    return stragglers.filter(([issued, origin]) => !this.#times.has(`${issued} ${origin}`));
  }

  /** All that the walk has read of what was issued before it began. */
  known(): Straggler[] {
    return [...this.records.values()].flatMap(({ value }) => {
      const times = timesOf(value);
      return times[0] <= this.horizonMs ? [times] : [];
    });
  }

  /** Everything issued at about this moment, wherever it is. */
  async readMoment(ms: number): Promise<void> {
    const second = Math.floor(ms / 1000);
    const walk = this.#walk('desc', (second - 1) * 1000, (second + 2) * 1000, undefined, this.atMs);
    await this.#readAll(walk);
    this.#hasRead([walk.readAtMs]);
  }

  /** What is not in a page that was read later than the news can be among those that have been issued since. */
  #hasRead(times: readonly number[]): void {
    this.#readAtMs = Math.max(this.#readAtMs, ...times);
    if (this.#readAtMs >= this.#newsAtMs) this.#isSettled = false;
  }

  async #readAll(walk: IssueTimeScan): Promise<void> {
    while (!walk.isDone) {
      this.#add(await walk.next());
      if (!walk.isDone && this.left <= 0) throw tooManyRequests('PROJECT', this.#mostRequests);
    }
  }

  #walk(
    order: 'asc' | 'desc',
    fromMs: number,
    toMs: number,
    bbox: Pushdown['boxes'][number],
    notBeforeMs: number,
  ): IssueTimeScan {
    return new IssueTimeScan({
      order,
      fromMs,
      toMs,
      bbox,
      minMagnitude: this.#narrowing.selection.minMagnitude,
      limit: pageLimit,
      read: (query, pageNotBeforeMs) => {
        this.requests++;
        return this.#client.events(query, this.#scope(Math.max(notBeforeMs, pageNotBeforeMs)));
      },
    });
  }

  #scope(notBeforeMs: number): ReadScope {
    const { scope } = this.#context;
    return notBeforeMs === Number.NEGATIVE_INFINITY ? scope : { ...scope, notBeforeMs };
  }

  // Of two versions of an event, the one issued later stands, whichever page came first.
  #add(reads: readonly Read<WireEvent>[]): void {
    for (const read of reads) {
      const known = this.records.get(read.value.id);
      if (known && (issuedMs(known.value) ?? 0) > (issuedMs(read.value) ?? 0)) continue;
      this.records.set(read.value.id, read);
      this.#times.add(timesOf(read.value).join(' '));
    }
  }
}

// An event without an issue time cannot be found by it; one without an origin begins when it is issued.
function timesOf(event: WireEvent): Straggler {
  const issued = issuedMs(event);
  const origin = projectSolution(event)?.originTime.ms ?? issued;
  return [issued ?? Number.POSITIVE_INFINITY, origin ?? Number.NEGATIVE_INFINITY];
}

// Assumed: what the list does not show yet is issued no more than this before the newest that it shows. Data can be a few
// seconds behind (docs/interfaces.md P1), and issue times can be written in whole seconds.
export const lateMs = 10_000;

// docs/interfaces.md P8: at most 500. Requests are scarcer than bytes.
const pageLimit = 500;

export function tooManyRequests(source: 'PROJECT' | 'CATALOGUE', most: number): QueryTooComplex {
  const name = source === 'PROJECT' ? 'project' : 'catalogue';
  return new QueryTooComplex(
    `Reading on would take more than ${most} requests to the ${name} interface: narrow \`filter.from\` and ` +
      '`filter.to`, or `filter.boundingBox` or `filter.within`',
    { argument: 'filter.from' },
  );
}
