import type { Clock } from '../../../clock.js';
import { UpstreamRateLimited, UpstreamUnavailable } from '../../../errors.js';
import type { Demand } from '../../../upstream/cache/demand.js';
import { newCostMeter, type Priority, type Read, type ReadScope } from '../../../upstream/read/read.js';
import { type PageSource, Pass, sizeOf } from './pages.js';

/** What is known of a list so far. */
export interface Listed<W> {
  readonly records: ReadonlyMap<string, Read<W>>;
  /** Every page has been read, and no row slipped between two of them. */
  readonly complete: boolean;
  /** Rows that could not be decoded and are therefore missing. */
  readonly dropped: number;
  /** Pages still to be read; null before the first page has told. */
  readonly pagesLeft: number | null;
  readonly pages: number;
  /** When the oldest page was read. */
  readonly readAtMs: number;
  /** Why it is not complete; null while it is being read, or when it is. */
  readonly failure: unknown;
}

export type WaitOutcome = 'enough' | 'complete' | 'failed' | 'stalled' | 'discarded';

interface Waiter {
  readonly scope: ReadScope;
  wake: () => void;
}

// Enough to have the burst in flight soon, and few enough that other operations get their turn in between.
const atOnce = 6;
const passes = 3;
// Assumed: a budget that is away for longer than this (the day's is spent) is not worth keeping the reading alive.
const longestStallMs = 600_000;

/** One reading of a whole list, shared by all who wait for it. */
export class Reading<W> implements Listed<W> {
  records = new Map<string, Read<W>>();
  complete = false;
  dropped = 0;
  pagesLeft: number | null = null;
  pages = 0;
  failure: unknown = null;
  /** Estimate of the memory that the records take. */
  bytes = 0;
  readAtMs: number;
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
  readonly #underWay = new Set<number>();
  readonly #turn = {};
  #size: number;
  #behind: boolean;

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
    this.#behind = options.behind;
    this.#demand = options.demand;
    this.#size = source.pageSize;
    this.readAtMs = clock.now();
  }

  /** Reads to the end, or until it fails for good; never rejects. */
  async run(): Promise<void> {
    // Who waits is served to the end: then it is over.
    const stop = () => this.#waiters.size === 0 && this.discard();
    this.#owner.addEventListener('abort', stop, { once: true });
    try {
      for (let pass = 1; !(await this.#pass()); pass++) {
        if (pass === passes) {
          this.#throwIfMissing();
          break;
        }
        // What the first pass read is what does not fit together.
        this.#maxAgeMs = 0;
      }
      this.complete = true;
      this.#end('complete');
    } catch (error) {
      this.failure = error;
      this.#end('failed');
    } finally {
      this.#owner.removeEventListener('abort', stop);
    }
  }

  /**
   * Until the list is complete or `enough` is satisfied, until it fails or the budget is spent for now, whichever
   * comes first. Rejects when the caller goes away. When it was the last one, or `goOn` says that the rest is not worth
   * reading, the reading ends with it.
   */
  async wait(
    scope: ReadScope,
    enough: (listed: Listed<W>) => boolean,
    goOn: (listed: Listed<W>) => boolean,
  ): Promise<WaitOutcome> {
    const waiter: Waiter = { scope, wake: () => {} };
    const sponsor = this.#sponsor();
    this.#waiters.add(waiter);
    if (this.#behind || (sponsor && rank[scope.priority] < rank[sponsor.priority])) this.#raise(scope);
    const leave = () => waiter.wake();
    scope.signal.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        scope.signal.throwIfAborted();
        if (this.#outcome === 'discarded') return 'discarded';
        if (enough(this)) return 'enough';
        if (this.#outcome) return this.#outcome;
        await new Promise<void>((resolve) => {
          waiter.wake = resolve;
        });
      }
    } finally {
      scope.signal.removeEventListener('abort', leave);
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) {
        const isUnwanted = !this.#behind && (scope.signal.aborted || !goOn(this));
        if (!this.#outcome && (isUnwanted || this.#owner.aborted)) this.discard();
        this.#behind = true;
      }
    }
  }

  discard(): void {
    this.#end('discarded');
    this.#stop.abort(new Error('The list is no longer wanted'));
  }

  /** One pass over all pages; false when rows moved between pages meanwhile. */
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

  /** The pages after the first, several at a time. When one fails, no other is begun. */
  async #rest(pass: Pass<W>): Promise<void> {
    const rest = Array.from({ length: this.pages - 1 }, (_, index) => index + 1);
    const worker = async () => {
      for (let index = rest.shift(); index !== undefined; index = rest.shift()) {
        await this.#page(index, pass);
      }
    };
    const workers = Array.from({ length: atOnce }, () =>
      worker().catch((error: unknown) => {
        rest.length = 0;
        throw error;
      }),
    );
    // All of them, so that what is still on its way counts and nothing changes after the end.
    const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** After several passes what one missed another has seen, unless the list changes faster than it can be read. */
  #throwIfMissing(): void {
    if (this.#total === null || this.records.size + this.dropped >= this.#total) return;
    throw new UpstreamUnavailable('The list of sensors kept changing while it was read: ask again');
  }

  async #page(index: number, pass: Pass<W>): Promise<Awaited<ReturnType<PageSource<W>['read']>>> {
    for (;;) {
      this.#underWay.add(index);
      try {
        const page = await this.#source.read(index, this.#size, this.#scope());
        this.#signal.throwIfAborted();
        pass.take(page);
        this.readAtMs = Math.min(this.readAtMs, page.readAtMs);
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
        this.#underWay.delete(index);
      }
    }
  }

  /** Who waits is told; the reading goes on behind. */
  #stall(error: UpstreamRateLimited): void {
    this.#behind = true;
    this.#outcome = 'stalled';
    this.failure = error;
    this.#wake();
  }

  #scope(): ReadScope {
    const sponsor = this.#sponsor();
    return {
      signal: this.#signal,
      priority: sponsor?.priority ?? 'background',
      operationKey: sponsor?.operationKey ?? this.#turn,
      meter: sponsor?.meter ?? newCostMeter(),
      maxAgeMs: this.#maxAgeMs,
      demand: this.#demand,
    };
  }

  /** Of those who wait, the one who pays: the most urgent. */
  #sponsor(): ReadScope | undefined {
    let best: ReadScope | undefined;
    for (const { scope } of this.#waiters) {
      if (!best || rank[scope.priority] < rank[best.priority]) best = scope;
    }
    return best;
  }

  /** Requests that the background is waiting for become as urgent as the one who now waits for them too. */
  #raise({ priority, operationKey: turn }: ReadScope): void {
    for (const index of this.#underWay) {
      const scope = { ...this.#scope(), priority, turn, meter: newCostMeter() };
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

const rank: Readonly<Record<Priority, number>> = { query: 0, feed: 1, background: 2 };
