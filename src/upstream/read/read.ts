import type { Source } from '../../errors.js';
import type { Demand } from '../cache/demand.js';
import type { Dependencies, ReadCounts } from '../cache/dependencies.js';

/**
 * Who is asking upstream, for how long and at which priority. One per operation, delivered change or poll.
 * (docs/behaviour.md 5.1–5.2, 5.8–5.9)
 */
export interface ReadScope {
  /** Aborted when the caller goes away: it leaves the read, and the last to leave ends the request. */
  readonly signal: AbortSignal;
  /** A client's query before feeds before refreshes in the background. */
  readonly priority: Priority;
  /** Waiting operations take turns: reads of one scope share one turn. Any object that identifies the operation. */
  readonly operationKey: object;
  /** What this operation has spent so far. */
  readonly meter: CostMeter;
  /**
   * The oldest answer that will do, in milliseconds: 0 always asks upstream (a feed's poll) and writes the cache.
   * Left out, the ages of docs/behaviour.md 5.5–5.6 hold, stale answers included.
   */
  readonly maxAgeMs?: number | undefined;
  /** When an answer that will do may have been read at the earliest; in milliseconds since 1970. */
  readonly notBeforeMs?: number | undefined;
  /** What the client demands of cached responses, beside these two. Immutable ones always meet it. */
  readonly demand?: Demand | undefined;
  /** Where it is noted what the answer is made of, if it may be kept whole. */
  readonly dependencies?: Dependencies | undefined;
}

/** The most urgent first. */
export const priorities = ['query', 'feed', 'background'] as const;

export type Priority = (typeof priorities)[number];

/** Lower is served first. */
export const priorityRank: Readonly<Record<Priority, number>> = { query: 0, feed: 1, background: 2 };

/** What one operation cost (docs/behaviour.md 5.8). The pipeline writes it, `extensions.upstream` shows it. */
export interface CostMeter extends ReadCounts {
  requests: number;
  /** Longest time that a read of this operation waited for budget. */
  waitedMs: number;
  /** What upstream calls the requests, for the log: its operator finds them by it. The first twenty; clients never see them. */
  readonly requestIds: string[];
}

export function newCostMeter(): CostMeter {
  return { requests: 0, cacheHits: 0, staleHits: 0, waitedMs: 0, oldestAgeS: 0, requestIds: [] };
}

const mostRequestIds = 20;

export function noteRequestId({ requestIds }: CostMeter, id: string | null | undefined): void {
  if (id != null && requestIds.length < mostRequestIds) requestIds.push(id);
}

/** A decoded answer and when the gateway read it from upstream (the `asOf` of the graph). Frozen: many share it. */
export interface Read<T> {
  readonly value: T;
  readonly readAtMs: number;
}

/** A page of a list, however the interface pages. */
export interface Page<T> {
  readonly items: readonly T[];
  /** All that match, as upstream counts them; null where it did not say. */
  readonly total: number | null;
  /** Elements upstream sent on this page, including those dropped as undecodable: what paging goes on from. */
  readonly received: number;
  /** Handed over before it was full: there is more of the list to look through, whatever may be in there. */
  readonly goesOn?: true;
  /** When elements were read that a feed delivered after the page had been asked for; the others are as old as the page. */
  readonly readLater?: ReadonlyMap<T, number>;
}

/** Whether nothing lies behind this page: the total counts; where there is none, a page that is not full is the last. */
export function isLastPage(
  page: Pick<Page<unknown>, 'total' | 'received' | 'goesOn'>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): boolean {
  if (page.received === 0) return true;
  if (page.goesOn) return false;
  return page.total === null ? page.received < limit : offset + page.received >= page.total;
}

/** How one interface is doing under one key, for `gateway.interfaces`, `/ready` and the metrics. */
export interface InterfaceStatus {
  readonly source: Source;
  /** Null before the first request. */
  readonly reachable: boolean | null;
  /** When the last request that says so was over; null before the first. */
  readonly reachableAsOfMs: number | null;
  readonly lastErrorCode: string | null;
  readonly lastErrorAtMs: number | null;
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
  /** When the budget is whole again; null when it is. */
  readonly resetAtMs: number | null;
}

/** What else operators see of an interface under one key. */
export interface UpstreamStatus extends InterfaceStatus {
  /** When the interface is tried again after it failed repeatedly (docs/behaviour.md 5.11); null while it is asked freely. */
  readonly circuitOpenUntilMs: number | null;
  /** Until when upstream has asked for silence by 429 or `Retry-After`; null while it has not. */
  readonly retryAfterUntilMs: number | null;
  /** Reads in the request queue. */
  readonly waiting: Readonly<Record<Priority, number>>;
}
