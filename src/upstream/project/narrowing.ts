import type { Clock } from '../../clock.js';
import type { Page, Read } from '../read.js';
import { isTooLong, narrower, type Step, seam, tooWide } from './too-long.js';

/** A page of a list, in the order of its times where it has any, and between two of them, both included. */
export interface RangedQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly limit: number;
  readonly offset: number;
}

type Range = Pick<RangedQuery, 'from' | 'to'>;

// Stands for a list without a beginning: its first piece reaches back a quarter of this, each of the others twice as far.
const openWidthMs = 28 * 86_400_000;
const mostRequests = 12;

/**
 * Pages of one list that upstream may take too long to answer: after 503 `timeout` the same request is not sent again,
 * but the page is put together from shorter ranges and smaller pages (key-scoped §7, contract 5.9). Where a dozen requests do not make a page, the error says that the range is too wide.
 */
export class Narrowing {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async page<Query extends RangedQuery, T>(
    query: Query,
    keyOf: (item: T) => string,
    read: (query: Query) => Promise<Read<Page<T>>>,
  ): Promise<Read<Page<T>>> {
    const asked = { widthMs: this.#widthOf(query), limit: query.limit };
    let requests = 0;
    const counted = (part: Query) => {
      if (requests++ >= mostRequests) throw tooWide();
      return read(part);
    };
    for (let step: Step | null = null; ; ) {
      try {
        if (!step) return await counted(query);
        return await pageOfPieces(query, this.#pieces(query, step.widthMs), step.limit, keyOf, counted);
      } catch (error) {
        if (!isTooLong(error)) throw error;
        step = narrower(asked, step);
      }
    }
  }

  #widthOf({ from, to, order }: RangedQuery): number {
    if (from === undefined) return order === 'desc' ? openWidthMs : 0;
    // A time that is none is upstream's to refuse.
    return Math.max(0, this.#endMs(to) - Date.parse(from)) || 0;
  }

  #endMs(to: string | undefined): number {
    return to === undefined ? this.#clock.now() : Date.parse(to);
  }

  /** The range in pieces, in the order of the list. Its own ends stay as they were given, to the last digit. */
  *#pieces({ from, to, order }: RangedQuery, widthMs: number): Generator<Range> {
    const startMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
    const endMs = this.#endMs(to);
    if (order !== 'desc') {
      let begin = from;
      for (let atMs = startMs + widthMs; atMs < endMs && begin !== undefined; atMs += widthMs) {
        yield { from: begin, to: seam(atMs) };
        begin = seam(atMs);
      }
      yield { from: begin, to };
    } else {
      let end = to;
      let reachMs = widthMs;
      for (let atMs = endMs - reachMs; atMs > startMs; atMs -= reachMs) {
        yield { from: seam(atMs), to: end };
        end = seam(atMs);
        if (from === undefined) reachMs *= 2;
      }
      yield { from, to: end };
    }
  }
}

/**
 * One page of the list that the pieces make together. A record on a seam is in both of its pieces, and given once.
 */
async function pageOfPieces<Query extends RangedQuery, T>(
  query: Query,
  pieces: Iterable<Range>,
  limit: number,
  keyOf: (item: T) => string,
  read: (query: Query) => Promise<Read<Page<T>>>,
): Promise<Read<Page<T>>> {
  const items = new Map<string, T>();
  let received = 0;
  let readAtMs = Number.POSITIVE_INFINITY;
  /** In the pieces before this one. */
  let passed = 0;
  for (const piece of pieces) {
    for (let ended = false; !ended; ) {
      if (received >= query.limit)
        return { value: { items: [...items.values()], total: null, received }, readAtMs };
      const offset = Math.max(0, query.offset + received - passed);
      const page = await read({ ...query, ...piece, offset, limit: Math.min(limit, query.limit - received) });
      const { total } = page.value;
      // Without a total there is no telling where the next piece goes on.
      if (total === null) throw tooWide();
      for (const item of page.value.items) if (!items.has(keyOf(item))) items.set(keyOf(item), item);
      received += page.value.received;
      readAtMs = Math.min(readAtMs, page.readAtMs);
      ended = page.value.received === 0 || offset + page.value.received >= total;
      if (ended) passed += total;
    }
  }
  return { value: { items: [...items.values()], total: passed, received }, readAtMs };
}
