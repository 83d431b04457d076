import { type EventFilter, matchesFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';
import type { ListOrder } from './list-order.js';

export interface ScanTarget {
  /** From where on the catalogue matters. */
  readonly from: number;
  /** How far along the line the page will reach at most; null when nobody knows. */
  readonly to: number | null;
}

export interface ScanTargetOptions {
  readonly filter: EventFilter;
  readonly known: readonly LocatedEvent[];
  /** How many more events the page needs. */
  readonly wanted: number;
  /** How far the project's events are known; null where nothing more comes of it. */
  readonly projectFrontier: number | null;
  readonly catalogueFrontier: number;
}

/**
 * Which stretch of the catalogue a page needs, by what the project has on it. Where a list is of the project's events
 * alone, only what lies around them.
 */
export function scanTargetOf(line: ListOrder, options: ScanTargetOptions): ScanTarget {
  const { filter, known, wanted, projectFrontier, catalogueFrontier } = options;
  const { lookAheadMs } = line.reach;
  const last = line.end + lookAheadMs + 1000;
  const isOfProject = filter.source === 'PROJECT' || Boolean(filter.issuedFrom ?? filter.issuedTo);
  const isOfCatalogue = filter.source === 'CATALOGUE' || typeof filter.networkId === 'string';
  if (projectFrontier === null || (isOfCatalogue && !isOfProject)) {
    return { from: catalogueFrontier, to: finite(last) };
  }
  const ofProject = known.filter((event) => event.project);
  const likely = ofProject.filter((event) => line.isAhead(event) && matchesFilter(filter, event));
  const wantedth = likely[wanted - 1];
  const reach = (wantedth ? line.placeOf(wantedth) : projectFrontier) + lookAheadMs + 1000;
  if (!isOfProject) return { from: catalogueFrontier, to: finite(Math.min(reach, last)) };
  // Magnitude, place and time can be others once the catalogue's are known: only what is the project's own is certain.
  const { issuedFrom, issuedTo } = filter;
  const next = ofProject
    .filter((event) => matchesFilter({ issuedFrom, issuedTo }, event))
    .map((event) => line.placeOf(event))
    .filter((place) => place + lookAheadMs >= catalogueFrontier);
  const from = Math.min(next[0] ?? projectFrontier, projectFrontier) - lookAheadMs;
  return {
    from: Math.max(catalogueFrontier, from),
    to: finite(Math.min(reach, last, clusterEnd(next) + lookAheadMs + 1000)),
  };
}

/** Where events that follow each other closely end. */
function clusterEnd(places: readonly number[]): number {
  let end = places[0] ?? Number.POSITIVE_INFINITY;
  for (const place of places) {
    if (place - end > farApartMs) return end;
    end = place;
  }
  return end;
}

// Between events further apart than this a window would hold too much that is of no use.
const farApartMs = 3_600_000;

function finite(place: number): number | null {
  return Number.isFinite(place) ? place : null;
}
