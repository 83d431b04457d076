import type { ForwardMs } from '../../clock.js';
import type { Source } from '../../errors.js';
import type { Demand } from '../cache/demand.js';
import type { Dependencies, ReadCounts } from '../cache/dependencies.js';

/**
 * The caller of a read: its abort signal, priority and age limits. One per operation, delivered change or poll
 * (docs/behaviour.md 5.1–5.2, 5.8–5.9).
 */
export interface ReadScope {
  /** Aborted when the caller goes away: it leaves the read, and the last to leave ends the request. */
  readonly signal: AbortSignal;
  /** Queries are served before feeds, and feeds before background revalidation. */
  readonly priority: Priority;
  /**
   * Longest wait of a read in the request queue; left out for what its priority allows. A deferred part of an answer has
   * more patience than other queries.
   */
  readonly maxWaitMs?: number | undefined;
  /** Any object that identifies the operation: waiting operations take turns, and reads with one key share a turn. */
  readonly operationKey: object;
  /** Counts what this operation has cost so far. */
  readonly meter: CostMeter;
  /**
   * The oldest response that is accepted, in milliseconds: 0 always asks upstream (a feed's poll) and writes the cache.
   * Without it the ages of docs/behaviour.md 5.5–5.6 hold, stale responses included.
   */
  readonly maxAgeMs?: number | undefined;
  /** The earliest read time that is accepted of a response, on the forward clock. */
  readonly notBeforeMs?: ForwardMs | undefined;
  /** The client's own demand on cached responses, beside these two limits. Immutable responses always meet it. */
  readonly demand?: Demand | undefined;
  /** Collects the cached values that the answer is made of, if the answer as a whole may be cached. */
  readonly dependencies?: Dependencies | undefined;
}

/** The most urgent first. */
export const priorities = ['query', 'feed', 'background'] as const;

export type Priority = (typeof priorities)[number];

/** Lower is served first. */
export const priorityRank: Readonly<Record<Priority, number>> = { query: 0, feed: 1, background: 2 };

/** The cost of one operation (docs/behaviour.md 5.8). The pipeline writes it, `extensions.upstream` shows it. */
export interface CostMeter extends ReadCounts {
  requests: number;
  /** Longest time that a read of this operation waited for a permit. */
  waitedMs: number;
  /**
   * Upstream's request ids, for the log: its operator finds requests by them. The first twenty; clients never see them.
   */
  readonly requestIds: string[];
}

export function newCostMeter(): CostMeter {
  return { requests: 0, cacheHits: 0, staleHits: 0, waitedMs: 0, oldestAgeS: 0, requestIds: [] };
}

const mostRequestIds = 20;

export function noteRequestId({ requestIds }: CostMeter, id: string | null | undefined): void {
  if (id != null && requestIds.length < mostRequestIds) requestIds.push(id);
}

/**
 * A decoded response and when the gateway read it from upstream (the `asOf` of the graph). Frozen, since many callers
 * share it.
 */
export interface Read<T> {
  readonly value: T;
  readonly readAtMs: ForwardMs;
}

/** A page of a list, however the interface pages. */
export interface Page<T> {
  readonly items: readonly T[];
  /** All records that match, as upstream counts them; null where it gave no count. */
  readonly total: number | null;
  /** Elements that upstream sent on this page, including those dropped as undecodable: the next offset counts them. */
  readonly received: number;
  /** One name for each element that was dropped, equal when it is read again; left out where there is none. */
  readonly unreadable?: readonly string[];
  /** The page was returned before it was full: the list may hold more records. */
  readonly goesOn?: true;
  /**
   * Read times of the elements that a feed has delivered and the response lacked; the others are as old as the page.
   */
  readonly readLater?: ReadonlyMap<T, ForwardMs>;
}

/** The records of a page, each with its read time. */
export function readsIn<T>({ value, readAtMs }: Read<Page<T>>): readonly Read<T>[] {
  return value.items.map((item) => ({ value: item, readAtMs: value.readLater?.get(item) ?? readAtMs }));
}

/** True where no record follows this page. The total decides; without one, a page that is not full is the last. */
export function isLastPage(
  page: Pick<Page<unknown>, 'total' | 'received' | 'goesOn'>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): boolean {
  if (page.received === 0) return true;
  if (page.goesOn) return false;
  return page.total === null ? page.received < limit : offset + page.received >= page.total;
}

/** State of one interface under one key, for `gateway.interfaces`, `/ready` and the metrics. */
export interface InterfaceStatus {
  readonly source: Source;
  /** Null before the first request. */
  readonly reachable: boolean | null;
  /** When the last request that showed it ended; null before the first. */
  readonly reachableAsOfMs: ForwardMs | null;
  readonly lastErrorCode: string | null;
  readonly lastErrorAtMs: ForwardMs | null;
  readonly requestCount: number;
  readonly cacheHitCount: number;
  readonly rateLimit: RateLimitStatus;
}

export interface RateLimitStatus {
  readonly perMinute: number;
  readonly burst: number | null;
  readonly remaining: number;
  /** Left of the daily quota; null where there is none. */
  readonly remainingToday: number | null;
  /** When the whole burst can be sent again; null when it can now. */
  readonly resetAtMs: ForwardMs | null;
}

/** State of an interface under one key that only operators see. */
export interface UpstreamStatus extends InterfaceStatus {
  /** When the circuit breaker admits the next read (docs/behaviour.md 5.11); null while the circuit is closed. */
  readonly circuitOpenUntilMs: ForwardMs | null;
  /** End of the pause that upstream asked for by 429 or `Retry-After`; null while there is none. */
  readonly retryAfterUntilMs: ForwardMs | null;
  /** Reads in the request queue. */
  readonly waiting: Readonly<Record<Priority, number>>;
}
