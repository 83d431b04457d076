import { type EventFilter, matchesFilter } from '../filter.js';
import type { LocatedEvent } from '../merge.js';

export interface ScanCostOptions {
  readonly filter: EventFilter;
  /** What has been read, whatever of it is on the list. */
  readonly known: readonly LocatedEvent[];
  /** How many more events the page needs. */
  readonly wanted: number;
  /** How many events the project has on the list in all; null where it does not say. */
  readonly total: number | null;
  /** Requests to the catalogue so far. */
  readonly spent: number;
}

/**
 * Whether a page would take too many requests when everything is read and sorted out here: few of the events known so far
 * are on the list, so that very many would have to be read to find those that are.
 */
export function isUnaffordable({ filter, known, wanted, total, spent }: ScanCostOptions): boolean {
  if (spent >= mostWorthwhile + 2) return true;
  // Which network an event is of, the catalogue alone can tell.
  const sample = typeof filter.networkId === 'string' ? known.filter((event) => event.catalogue) : known;
  if (sample.length < leastSample) return false;
  const share = sample.filter((event) => matchesFilter(filter, event)).length / sample.length;
  const needed = Math.min(
    wanted / Math.max(share, 1 / (2 * sample.length)),
    total ?? Number.POSITIVE_INFINITY,
  );
  return needed / eventsPerRequest > mostWorthwhile;
}

// A share of fewer is no more than chance.
const leastSample = 40;

const mostWorthwhile = 6;

// What a window of the catalogue usually brings.
const eventsPerRequest = 85;
