import { hourMs } from '../../../clock.js';
import { type EventFilter, matchesFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import type { ListOrder } from './list-order.js';

export interface ScanTarget {
  /** Position from which the catalogue is needed. */
  readonly from: number;
  /** Position that the page will reach at most; null when it is not known. */
  readonly to: number | null;
}

export interface ScanTargetOptions {
  readonly filter: EventFilter;
  readonly known: readonly LocatedEvent[];
  /** Number of events that the page still needs. */
  readonly wanted: number;
  /** Position up to which the project's events are known; null when the project is not read any more. */
  readonly projectFrontier: number | null;
  readonly catalogueFrontier: number;
}

/**
 * The part of the catalogue that a page needs, judged by the known project events. A list of project events alone needs
 * only their surroundings.
 */
export function scanTargetOf(listOrder: ListOrder, options: ScanTargetOptions): ScanTarget {
  const { filter, known, wanted, projectFrontier, catalogueFrontier } = options;
  const { lookAheadMs } = listOrder.reach;
  const last = listOrder.end + lookAheadMs + 1000;
  const isOfProject = filter.source === 'PROJECT' || Boolean(filter.issuedFrom ?? filter.issuedTo);
  // A network has an unknown share of the events, so the project's density says nothing of it.
  const isOfNetwork = typeof filter.networkId === 'string';
  if (projectFrontier === null || (isOfNetwork && !isOfProject)) {
    return { from: catalogueFrontier, to: finite(last) };
  }
  const ofProject = known.filter((event) => event.project);
  // Where all are the catalogue's, the project's events still show how densely they lie. A quarter more of them is
  // reached, since not all need be in the catalogue: a second window costs more than a longer one.
  const isShared = isOfProject || filter.source !== 'CATALOGUE';
  const values = isShared ? filter : { ...filter, source: null };
  const least = isShared ? wanted : Math.ceil(wanted * 1.25);
  const likely = ofProject
    .filter((event) => listOrder.isAhead(event) && matchesFilter(values, event))
    .map((event) => listOrder.positionOf(event));
  const reach = (likely[least - 1] ?? projectFrontier + beyond(likely, least)) + lookAheadMs + 1000;
  if (!isOfProject) return { from: catalogueFrontier, to: finite(Math.min(reach, last)) };
  // The catalogue's record can change magnitude, place and time; only the issue time is the project's alone and
  // certain.
  const { issuedFrom, issuedTo } = filter;
  const next = ofProject
    .filter((event) => matchesFilter({ issuedFrom, issuedTo }, event))
    .map((event) => listOrder.positionOf(event))
    .filter((position) => position + lookAheadMs >= catalogueFrontier);
  const from = Math.min(next[0] ?? projectFrontier, projectFrontier) - lookAheadMs;
  return {
    from: Math.max(catalogueFrontier, from),
    to: finite(Math.min(reach, last, clusterEnd(next) + lookAheadMs + 1000)),
  };
}

/**
 * How far behind the known events the page probably ends, where they are nearly as many as it needs: a window that ends
 * with them would take another request for the last few.
 */
function beyond(likely: readonly number[], wanted: number): number {
  const missing = wanted - likely.length;
  if (likely.length < 2 || missing > likely.length / 10) return 0;
  const gapMs = ((likely.at(-1) ?? 0) - (likely[0] ?? 0)) / (likely.length - 1);
  return 3 * missing * gapMs;
}

/** Last position of the first cluster of events. */
function clusterEnd(positions: readonly number[]): number {
  let end = positions[0] ?? Number.POSITIVE_INFINITY;
  for (const position of positions) {
    if (position - end > farApartMs) return end;
    end = position;
  }
  return end;
}

// With larger gaps a window would hold too many events that are not needed.
const farApartMs = hourMs;

function finite(position: number): number | null {
  return Number.isFinite(position) ? position : null;
}
