import {
  asMoment,
  type Clock,
  dayMs,
  earliest,
  type ForwardMs,
  forever,
  plus,
  type UnixMs,
} from '../../clock.js';
import type { Page, Read } from '../read/read.js';
import { allowsStaleIfError } from '../resilience/outcome.js';
import { isTooLong, mostRequests, RangeStep, RangeSteps, seam, tooWide } from './range-step.js';

/** A page of a list, ordered by time where its records have one, between two times, both included. */
export interface RangedQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface RangeReads<Query, T> {
  /** The operation key: widths learnt for one page of an operation serve its next. */
  readonly operationKey: object;
  keyOf(item: T): string;
  read(query: Query): Promise<Read<Page<T>>>;
}

// The width assumed for a list without a beginning: its first piece reaches back a quarter of this.
const openWidthMs = 28 * dayMs;
const wellFilled = 25;

/**
 * Splits pages of a list that upstream takes too long to answer: after 503 `timeout` the same request is not sent
 * again, but the page is assembled from shorter ranges and smaller pages (docs/interfaces.md P7, docs/behaviour.md
 * 5.10). Records that were read are never thrown away: where a dozen requests do not fill the page, it is returned as
 * far as it was filled, and only where they found nothing the error says that the range is too wide.
 */
export class RangeSplitting {
  readonly #clock: Clock;
  readonly #steps = new RangeSteps();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async page<Query extends RangedQuery, T>(
    query: Query,
    means: RangeReads<Query, T>,
  ): Promise<Read<Page<T>>> {
    const { from: _from, to: _to, limit, offset: _offset, ...rest } = query;
    const list = JSON.stringify(rest);
    const learnt = this.#steps.of(means.operationKey, list);
    const stretch = this.#stretchOf(query);
    if (learnt) return pageOfPieces({ query, stretch, rangeStep: learnt }, means);
    try {
      return await means.read(query);
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
    const rangeStep = new RangeStep({ widthMs: stretch.endMs - stretch.startMs, limit });
    if (!rangeStep.slower(rangeStep.step)) throw tooWide();
    this.#steps.learn(means.operationKey, list, rangeStep);
    return pageOfPieces({ query, stretch, rangeStep }, means);
  }

  #stretchOf({ from, to, order }: RangedQuery): Stretch {
    const nowMs = this.#clock.wallMs();
    const givenMs = to === undefined ? nowMs : dateOf(to);
    // Assumed: nothing is dated more than a day ahead.
    const endMs = order === 'desc' ? earliest(givenMs, plus(nowMs, dayMs)) : givenMs;
    const openMs = order === 'desc' ? plus(endMs, -openWidthMs) : endMs;
    const startMs = from === undefined ? openMs : dateOf(from);
    // An invalid time is left for upstream to refuse.
    return {
      startMs: Number.isFinite(startMs) ? earliest(startMs, endMs) : endMs,
      endMs,
      to: endMs < givenMs ? seam(endMs) : to,
    };
  }
}

/** The range to split: all of it that can hold records. */
interface Stretch {
  readonly startMs: UnixMs;
  readonly endMs: UnixMs;
  /** The end as the query wrote it; undefined for no end. */
  readonly to: string | undefined;
}

interface SplitQuery<Query> {
  readonly query: Query;
  readonly stretch: Stretch;
  readonly rangeStep: RangeStep;
}

/**
 * Reads one page of the list that the pieces form together. A record on a seam is in both of its pieces, and returned
 * once. A page that is well filled ends at an empty piece: the caller may have enough, which is not known here.
 */
async function pageOfPieces<Query extends RangedQuery, T>(
  { query, stretch, rangeStep }: SplitQuery<Query>,
  { keyOf, read }: RangeReads<Query, T>,
): Promise<Read<Page<T>>> {
  const items = new Map<string, T>();
  const unreadable: string[] = [];
  let received = 0;
  let readAtMs: ForwardMs = forever;
  /** Records in the pieces before this one. */
  let passed = 0;
  const page = (total: number | null, goesOn: boolean): Read<Page<T>> => {
    if (received >= wellFilled) rangeStep.requestsLeft = mostRequests;
    const lost = unreadable.length > 0 && { unreadable };
    const value = { items: [...items.values()], total, received, ...lost, ...(goesOn && { goesOn }) };
    return { value, readAtMs };
  };
  const tooMuch = new Set<string>();
  let piece = firstPiece(query, stretch);
  for (let receivedBefore = 0; ; ) {
    const { step } = rangeStep;
    const { range, isLast } = piece(step.widthMs);
    const offset = Math.max(0, query.offset + received - passed);
    const asked = { ...query, ...range, offset, limit: Math.min(step.limit, query.limit - received) };
    // The rest of the page can be smaller than a step: then a smaller step makes the same request.
    const isKnown = tooMuch.has(JSON.stringify(asked));
    if (isKnown && rangeStep.slower(step)) continue;
    // A range that is no wider than one answered before does not count against the limit.
    const isSpent = rangeStep.requestsLeft <= 0 && !(isLast && passed === 0);
    if (isKnown || isSpent) {
      if (received > 0) return page(null, true);
      throw tooWide();
    }
    let part: Page<T>;
    try {
      rangeStep.requestsLeft--;
      const answer = await read(asked);
      part = answer.value;
      readAtMs = earliest(readAtMs, answer.readAtMs);
    } catch (error) {
      if (isTooLong(error)) {
        tooMuch.add(JSON.stringify(asked));
        if (rangeStep.slower(step)) continue;
      }
      if (received > 0 && allowsStaleIfError(error)) return page(null, true);
      throw isTooLong(error) ? tooWide() : error;
    }
    for (const item of part.items) if (!items.has(keyOf(item))) items.set(keyOf(item), item);
    unreadable.push(...(part.unreadable ?? []));
    received += part.received;
    const { total } = part;
    const isWhole = isLast && passed === 0 && total !== null;
    if (received >= query.limit) return page(isWhole ? total : null, false);
    // Without a total the offset into the next piece is unknown.
    if (total === null) {
      if (received > 0) return page(null, true);
      throw tooWide();
    }
    const isOver = part.received === 0 || offset + part.received >= total;
    rangeStep.faster(isOver);
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
  /** No record of the list lies behind it. */
  readonly isLast: boolean;
}

/**
 * The first piece of the range, in the order of the list. The range's own ends stay as they were given, to the last
 * digit.
 */
function firstPiece(query: RangedQuery, stretch: Stretch): (widthMs: number) => Piece {
  return pieceAt(query, stretch, query.order === 'desc' ? stretch.endMs : stretch.startMs, undefined);
}

function nextPiece(
  query: RangedQuery,
  stretch: Stretch,
  { from, to }: Piece['range'],
): (widthMs: number) => Piece {
  const begin = query.order === 'desc' ? from : to;
  return pieceAt(query, stretch, dateOf(begin ?? ''), begin);
}

function pieceAt(
  { from, order }: RangedQuery,
  { endMs, startMs, to }: Stretch,
  atMs: UnixMs,
  begin: string | undefined,
): (widthMs: number) => Piece {
  return (widthMs) => {
    if (order === 'desc') {
      // Assumed: nothing in a list without a beginning is older than Unix time.
      const isLast = atMs - widthMs <= (from === undefined ? 0 : startMs);
      return { range: { from: isLast ? from : seam(plus(atMs, -widthMs)), to: begin ?? to }, isLast };
    }
    const isLast = from === undefined || atMs + widthMs >= endMs;
    return { range: { from: begin ?? from, to: isLast ? to : seam(plus(atMs, widthMs)) }, isLast };
  };
}

const dateOf = (text: string): UnixMs => asMoment(Date.parse(text));
