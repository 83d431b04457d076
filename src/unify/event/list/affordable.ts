import { type EventFilter, matchesFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';

export interface ScanCostOptions {
  readonly filter: EventFilter;
  /** All events read so far, matching or not. */
  readonly known: readonly LocatedEvent[];
  /** Number of events that the page still needs. */
  readonly wanted: number;
  /** Upstream's count of project events in range; null when it gives none. */
  readonly total: number | null;
  /** Requests to the catalogue so far. */
  readonly spent: number;
}

/**
 * True when reading everything and filtering here would take too many requests, because few of the known events match.
 */
export function isUnaffordable({ filter, known, wanted, total, spent }: ScanCostOptions): boolean {
  if (spent >= mostWorthwhile + 2) return true;
  // Only the catalogue has the network of an event.
  const sample = typeof filter.networkId === 'string' ? known.filter((event) => event.catalogue) : known;
  if (sample.length < leastSample) return false;
  const share = sample.filter((event) => matchesFilter(filter, event)).length / sample.length;
  const needed = Math.min(
    wanted / Math.max(share, 1 / (2 * sample.length)),
    total ?? Number.POSITIVE_INFINITY,
  );
  return needed / eventsPerRequest > mostWorthwhile;
}

// With a smaller sample the share is chance.
const leastSample = 40;

const mostWorthwhile = 6;

// Events in a usual window of the catalogue.
const eventsPerRequest = 85;
