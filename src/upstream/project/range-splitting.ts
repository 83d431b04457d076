import type { Clock } from '../../clock.js';
import type { Page, Read } from '../read/read.js';
import { allowsStaleIfError } from '../resilience/outcome.js';
import { isTooLong, mostRequests, Pace, Paces, seam, tooWide } from './too-long.js';

/** A page of a list, in the order of its times where it has any, and between two of them, both included. */
export interface RangedQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface Means<Query, T> {
  /** Whose operation it is: what has been learnt for one page of it serves the next. */
  readonly turn: object;
  keyOf(item: T): string;
  read(query: Query): Promise<Read<Page<T>>>;
}

const dayMs = 86_400_000;
// Stands for a list without a beginning: its first piece reaches back a quarter of this.
const openWidthMs = 28 * dayMs;
const wellFilled = 25;

/**
 * Pages of one list that upstream may take too long to answer: after 503 `timeout` the same request is not sent again,
 * but the page is put together from shorter ranges and smaller pages (docs/interfaces.md P7, docs/behaviour.md 5.10). What has been read is
 * never thrown away: where a dozen requests do not fill the page, it is handed over as far as it came, and only where they
 * found nothing the error says that the range is too wide.
 */
export class RangeSplitting {
  readonly #clock: Clock;
  readonly #paces = new Paces();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async page<Query extends RangedQuery, T>(query: Query, means: Means<Query, T>): Promise<Read<Page<T>>> {
    const { from: _from, to: _to, limit, offset: _offset, ...rest } = query;
    const list = JSON.stringify(rest);
    const learnt = this.#paces.of(means.turn, list);
    const stretch = this.#stretchOf(query);
    if (learnt) return pageOfPieces({ query, stretch, pace: learnt }, means);
    try {
      return await means.read(query);
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
    const pace = new Pace({ widthMs: stretch.endMs - stretch.startMs, limit });
    if (!pace.slower(pace.step)) throw tooWide();
    this.#paces.learn(means.turn, list, pace);
    return pageOfPieces({ query, stretch, pace }, means);
  }

  #stretchOf({ from, to, order }: RangedQuery): Stretch {
    const nowMs = this.#clock.now();
    const givenMs = to === undefined ? nowMs : Date.parse(to);
    // Assumed: nothing is dated more than a day ahead.
    const endMs = order === 'desc' ? Math.min(givenMs, nowMs + dayMs) : givenMs;
    const startMs = from === undefined ? (order === 'desc' ? endMs - openWidthMs : endMs) : Date.parse(from);
    // A time that is none is upstream's to refuse.
    return {
      startMs: Number.isFinite(startMs) ? Math.min(startMs, endMs) : endMs,
      endMs,
      to: endMs < givenMs ? seam(endMs) : to,
    };
  }
}

/** What a list is asked for in pieces of: all of the range that can hold anything. */
interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
  /** As it is written; undefined for no end. */
  readonly to: string | undefined;
}

interface Walk<Query> {
  readonly query: Query;
  readonly stretch: Stretch;
  readonly pace: Pace;
}

/**
 * One page of the list that the pieces make together. A record on a seam is in both of its pieces, and given once. A
 * page that is well filled ends at a piece with nothing in it: whoever asked may have enough, which is not known here.
 */
async function pageOfPieces<Query extends RangedQuery, T>(
  { query, stretch, pace }: Walk<Query>,
  { keyOf, read }: Means<Query, T>,
): Promise<Read<Page<T>>> {
  const items = new Map<string, T>();
  let received = 0;
  let readAtMs = Number.POSITIVE_INFINITY;
  /** In the pieces before this one. */
  let passed = 0;
  const page = (total: number | null, goesOn: boolean): Read<Page<T>> => {
    if (received >= wellFilled) pace.requestsLeft = mostRequests;
    return { value: { items: [...items.values()], total, received, ...(goesOn && { goesOn }) }, readAtMs };
  };
  const tooMuch = new Set<string>();
  let piece = firstPiece(query, stretch);
  for (let receivedBefore = 0; ; ) {
    const { step } = pace;
    const { range, isLast } = piece(step.widthMs);
    const offset = Math.max(0, query.offset + received - passed);
    const asked = { ...query, ...range, offset, limit: Math.min(step.limit, query.limit - received) };
    // What is left of the page can be less than a step: then a smaller one asks the same.
    const isKnown = tooMuch.has(JSON.stringify(asked));
    if (isKnown && pace.slower(step)) continue;
    // What is no wider than what was answered before is no search.
    const isSpent = pace.requestsLeft <= 0 && !(isLast && passed === 0);
    if (isKnown || isSpent) {
      if (received > 0) return page(null, true);
      throw tooWide();
    }
    let part: Page<T>;
    try {
      pace.requestsLeft--;
      const answer = await read(asked);
      part = answer.value;
      readAtMs = Math.min(readAtMs, answer.readAtMs);
    } catch (error) {
      if (isTooLong(error)) {
        tooMuch.add(JSON.stringify(asked));
        if (pace.slower(step)) continue;
      }
      if (received > 0 && allowsStaleIfError(error)) return page(null, true);
      throw isTooLong(error) ? tooWide() : error;
    }
    for (const item of part.items) if (!items.has(keyOf(item))) items.set(keyOf(item), item);
    received += part.received;
    const { total } = part;
    const isWhole = isLast && passed === 0 && total !== null;
    if (received >= query.limit) return page(isWhole ? total : null, false);
    // Without a total there is no telling where the next piece goes on.
    if (total === null) {
      if (received > 0) return page(null, true);
      throw tooWide();
    }
    const isOver = part.received === 0 || offset + part.received >= total;
    pace.faster(isOver);
    if (!isOver) continue;
    passed += total;
    if (isLast) return page(passed, false);
    if (received === receivedBefore && received >= wellFilled) return page(null, true);
    receivedBefore = received;
    piece = nextPiece(query, stretch, range);
  }
}

interface Piece {
  readonly range: Pick<RangedQuery, 'from' | 'to'>;
  /** Nothing of the list lies behind it. */
  readonly isLast: boolean;
}

/** The range in pieces, in the order of the list. Its own ends stay as they were given, to the last digit. */
function firstPiece(query: RangedQuery, stretch: Stretch): (widthMs: number) => Piece {
  return pieceAt(query, stretch, query.order === 'desc' ? stretch.endMs : stretch.startMs, undefined);
}

function nextPiece(
  query: RangedQuery,
  stretch: Stretch,
  { from, to }: Piece['range'],
): (widthMs: number) => Piece {
  const begin = query.order === 'desc' ? from : to;
  return pieceAt(query, stretch, Date.parse(begin ?? ''), begin);
}

function pieceAt(
  { from, order }: RangedQuery,
  { endMs, startMs, to }: Stretch,
  atMs: number,
  begin: string | undefined,
): (widthMs: number) => Piece {
  return (widthMs) => {
    if (order === 'desc') {
      // Assumed: nothing in a list without a beginning is older than Unix time.
      const isLast = atMs - widthMs <= (from === undefined ? 0 : startMs);
      return { range: { from: isLast ? from : seam(atMs - widthMs), to: begin ?? to }, isLast };
    }
    const isLast = from === undefined || atMs + widthMs >= endMs;
    return { range: { from: begin ?? from, to: isLast ? to : seam(atMs + widthMs) }, isLast };
  };
}
