import { type Clock, earliest, type ForwardMs, minuteMs, plus } from '../../../clock.js';
import { UpstreamRateLimited, UpstreamUnavailable } from '../../../errors.js';
import type { Demand } from '../../../upstream/cache/demand.js';
import { onAbort } from '../../../upstream/http/abort.js';
import { newCostMeter, priorityRank, type Read, type ReadScope } from '../../../upstream/read/read.js';
import { type PageSource, Pass, sizeOf } from './pages.js';

/** The part of a list that has been read so far. */
export interface Listed<W> {
  readonly records: ReadonlyMap<string, Read<W>>;
  /** True when every page has been read and no row was missed between two pages. */
  readonly complete: boolean;
  /** Number of rows that are missing because they could not be decoded. */
  readonly dropped: number;
  /** Pages still to be read; null until the first page has been read. */
  readonly pagesLeft: number | null;
  readonly pages: number;
  /** Read time of the oldest page. */
  readonly readAtMs: ForwardMs;
  /** The error because of which the list is incomplete; null while it is being read and when it is complete. */
  readonly failure: unknown;
}

export type WaitOutcome = 'enough' | 'complete' | 'failed' | 'stalled' | 'discarded';

interface Waiter {
  readonly scope: ReadScope;
  wake: () => void;
}

// Pages in flight at a time: enough to use the burst of the rate limit, few enough to leave room for other operations.
const concurrentPages = 6;
const mostPasses = 3;
// Assumed: a reading is given up when the budget stays exhausted for longer than this, as with the daily quota.
const longestStallMs = 10 * minuteMs;

/** One reading of a whole list, shared by all its waiters. */
export class Reading<W> implements Listed<W> {
  records = new Map<string, Read<W>>();
  complete = false;
  dropped = 0;
  pagesLeft: number | null = null;
  pages = 0;
  failure: unknown = null;
  /** Estimated memory of the records, in bytes. */
  bytes = 0;
  readAtMs: ForwardMs;
  #outcome: WaitOutcome | null = null;
  readonly #source: PageSource<W>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #owner: AbortSignal;
  #maxAgeMs: number;
  readonly #demand: Demand | undefined;
  #total: number | null = null;
  readonly #waiters = new Set<Waiter>();
  readonly #inFlight = new Set<number>();
  readonly #ownOperationKey = {};
  #size: number;
  #isBackground: boolean;

  constructor(
    source: PageSource<W>,
    clock: Clock,
    options: {
      readonly signal: AbortSignal;
      readonly maxAgeMs: number;
      readonly behind: boolean;
      readonly demand?: Demand | undefined;
    },
  ) {
    this.#source = source;
    this.#clock = clock;
    this.#owner = options.signal;
    this.#signal = this.#stop.signal;
    this.#maxAgeMs = options.maxAgeMs;
    this.#isBackground = options.behind;
    this.#demand = options.demand;
    this.#size = source.pageSize;
    this.readAtMs = clock.now();
  }

  /** Reads the whole list, or stops at the first error that waiting cannot mend; never rejects. */
  async run(): Promise<void> {
    // When the owner aborts, remaining waiters are still served; the reading ends with the last of them.
    const stop = () => {
      if (this.#waiters.size === 0) this.discard();
    };
    const stopListening = onAbort(this.#owner, stop);
    try {
      for (let pass = 1; !(await this.#pass()); pass++) {
        if (pass === mostPasses) {
          this.#throwIfMissing();
          break;
        }
        // The cached pages of the first pass are inconsistent with each other: later passes must not use them.
        this.#maxAgeMs = 0;
      }
      this.complete = true;
      this.#end('complete');
    } catch (error) {
      this.failure = error;
      this.#end('failed');
    } finally {
      stopListening();
    }
  }

  /**
   * Waits until the list is complete, `enough` is satisfied, the reading fails or the budget is exhausted for now (for
   * longer than the caller's `maxWaitMs`, where it has one: the reading itself goes on once there is budget).
   * Rejects when the caller aborts. When the last waiter leaves, a reading that is not in the background ends if that
   * waiter aborted or `goOn` is false; otherwise it continues in the background.
   */
  async wait(
    scope: ReadScope,
    enough: (listed: Listed<W>) => boolean,
    goOn: (listed: Listed<W>) => boolean,
  ): Promise<WaitOutcome> {
    const waiter: Waiter = { scope, wake: () => {} };
    const sponsor = this.#sponsor();
    this.#waiters.add(waiter);
    if (this.#isBackground || (sponsor && priorityRank[scope.priority] < priorityRank[sponsor.priority]))
      this.#raise(scope);
    const leave = () => waiter.wake();
    const { maxWaitMs = 0 } = scope;
    const patientUntilMs = plus(this.#clock.now(), maxWaitMs);
    const timer = maxWaitMs > 0 ? this.#clock.timer(maxWaitMs, leave) : null;
    const stopListening = onAbort(scope.signal, leave);
    try {
      for (;;) {
        scope.signal.throwIfAborted();
        if (this.#outcome === 'discarded') return 'discarded';
        if (enough(this)) return 'enough';
        const isPatient = this.#outcome === 'stalled' && this.#clock.now() < patientUntilMs;
        if (this.#outcome && !isPatient) return this.#outcome;
        await new Promise<void>((resolve) => {
          waiter.wake = resolve;
        });
      }
    } finally {
      timer?.cancel();
      stopListening();
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) {
        const isUnwanted = !this.#isBackground && (scope.signal.aborted || !goOn(this));
        if (!this.#outcome && (isUnwanted || this.#owner.aborted)) this.discard();
        this.#isBackground = true;
      }
    }
  }

  discard(): void {
    this.#end('discarded');
    this.#stop.abort(new Error('The list is no longer wanted'));
  }

  /** One pass over all pages; false when rows moved between pages during the pass. */
  async #pass(): Promise<boolean> {
    const pass = new Pass<W>(this.#source, this.records);
    this.dropped = 0;
    const first = await this.#page(0, pass);
    const { total, received } = first.value;
    this.#size = sizeOf(first, this.#source.pageSize);
    if (total === null) {
      let { received: size } = first.value;
      for (let index = 1; size >= this.#size && pass.grew; index++) {
        size = (await this.#page(index, pass)).value.received;
      }
    } else {
      this.pages = received >= total ? 1 : Math.ceil(total / this.#size);
      this.pagesLeft = this.pages - 1;
      this.#wake();
      await this.#rest(pass);
    }
    this.pagesLeft = 0;
    this.#total = total;
    this.bytes = Math.max(this.bytes, pass.bytes);
    if (pass.clean) this.records = pass.seen;
    return pass.clean;
  }

  /** Reads the pages after the first, several at a time. After a failure no further page is begun. */
  async #rest(pass: Pass<W>): Promise<void> {
    const rest = Array.from({ length: this.pages - 1 }, (_, index) => index + 1);
    const worker = async () => {
      for (let index = rest.shift(); index !== undefined; index = rest.shift()) {
        await this.#page(index, pass);
      }
    };
    const workers = Array.from({ length: concurrentPages }, () =>
      worker().catch((error: unknown) => {
        rest.length = 0;
        throw error;
      }),
    );
    // Wait for all workers, so that pages in flight count and no record changes after the end.
    const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /**
   * The union of several passes has all rows, unless the list changes faster than it can be read.
   * @throws UpstreamUnavailable when rows are still missing
   */
  #throwIfMissing(): void {
    if (this.#total === null || this.records.size + this.dropped >= this.#total) return;
    throw new UpstreamUnavailable('The list of sensors kept changing while it was read: ask again');
  }

  async #page(index: number, pass: Pass<W>): Promise<Awaited<ReturnType<PageSource<W>['read']>>> {
    for (;;) {
      this.#inFlight.add(index);
      try {
        const page = await this.#source.read(index, this.#size, this.#scope());
        this.#signal.throwIfAborted();
        pass.take(page);
        this.readAtMs = earliest(this.readAtMs, page.readAtMs);
        this.dropped += page.value.received - page.value.items.length;
        if (page.value.total === null) this.pages = Math.max(this.pages, index + 1);
        if (this.pagesLeft !== null) this.pagesLeft--;
        this.#outcome = null;
        this.failure = null;
        this.#wake();
        return page;
      } catch (error) {
        if (!(error instanceof UpstreamRateLimited) || this.#signal.aborted) throw error;
        const pauseMs = Math.max(1, error.retryAfterS ?? 5) * 1000;
        if (pauseMs > longestStallMs) throw error;
        this.#stall(error);
        await this.#clock.sleep(pauseMs, this.#signal);
      } finally {
        this.#inFlight.delete(index);
      }
    }
  }

  /** Releases the waiters with the part read so far; the reading continues in the background. */
  #stall(error: UpstreamRateLimited): void {
    this.#isBackground = true;
    this.#outcome = 'stalled';
    this.failure = error;
    this.#wake();
  }

  #scope(): ReadScope {
    const sponsor = this.#sponsor();
    return {
      signal: this.#signal,
      priority: sponsor?.priority ?? 'background',
      operationKey: sponsor?.operationKey ?? this.#ownOperationKey,
      meter: sponsor?.meter ?? newCostMeter(),
      maxAgeMs: this.#maxAgeMs,
      demand: this.#demand,
    };
  }

  /** The waiter of the highest priority: the next requests run with its priority and count towards its cost. */
  #sponsor(): ReadScope | undefined {
    let best: ReadScope | undefined;
    for (const { scope } of this.#waiters) {
      if (!best || priorityRank[scope.priority] < priorityRank[best.priority]) best = scope;
    }
    return best;
  }

  /**
   * Raises the priority of requests in flight to that of the new waiter: asking for the same page joins the coalesced
   * request and moves it forward in the request queue.
   */
  #raise({ priority, operationKey }: ReadScope): void {
    for (const index of this.#inFlight) {
      const scope = { ...this.#scope(), priority, operationKey, meter: newCostMeter() };
      this.#source.read(index, this.#size, scope).catch(() => {});
    }
  }

  #end(outcome: WaitOutcome): void {
    if (this.#outcome === 'discarded') return;
    this.#outcome = outcome;
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter.wake();
  }
}
