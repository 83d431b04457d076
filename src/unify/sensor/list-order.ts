import { known } from '../../upstream/decode/fields.js';
import { derived } from '../derived.js';
import { compareText } from '../text-order.js';
import { Instant } from '../time/instant.js';
import { firstIndex } from '../time/spans.js';
import type { Pair } from './identity.js';
import type { SortedPair } from './order.js';
import { mergedFields } from './precedence.js';

type SortedBy = 'STATION_CODE' | 'NETWORK_CODE' | 'LAST_SEEN_AT';

/** An order that a client can ask for. */
export type SensorOrder = `${SortedBy}_${'ASC' | 'DESC'}`;

const orders: Readonly<Record<SensorOrder, { readonly by: SortedBy; readonly sign: 1 | -1 }>> = {
  STATION_CODE_ASC: { by: 'STATION_CODE', sign: 1 },
  STATION_CODE_DESC: { by: 'STATION_CODE', sign: -1 },
  NETWORK_CODE_ASC: { by: 'NETWORK_CODE', sign: 1 },
  NETWORK_CODE_DESC: { by: 'NETWORK_CODE', sign: -1 },
  LAST_SEEN_AT_ASC: { by: 'LAST_SEEN_AT', sign: 1 },
  LAST_SEEN_AT_DESC: { by: 'LAST_SEEN_AT', sign: -1 },
};

export const defaultOrder: SensorOrder = 'STATION_CODE_ASC';

/** A part of a position; null where the value is not known. */
type Part = string | Instant | null;

/** Position of a sensor in an order: parts that are compared one after another. The last one is the sensor's key. */
export type ListPosition = readonly Part[];

export function sortedBy(order: SensorOrder): SortedBy {
  return orders[order].by;
}

export function positionOf(order: SensorOrder, pair: SortedPair): ListPosition {
  const { stationCode, networkCode, key } = pair.sortKey;
  switch (sortedBy(order)) {
    case 'STATION_CODE':
      return [stationCode, networkCode, key];
    case 'NETWORK_CODE':
      return [networkCode || null, stationCode, key];
    case 'LAST_SEEN_AT':
      return [lastSeenOf(pair), key];
  }
}

/** All sensors in an order. Sorting ten thousand is slow, so the result is shared until a list or a code changes. */
export function inOrder(order: SensorOrder, pairs: readonly SortedPair[]): readonly SortedPair[] {
  if (order === defaultOrder) return pairs;
  const made = ordersOf(pairs);
  const known = made.get(order);
  if (known) return known;
  const sorted = pairs
    .map((pair) => ({ pair, position: positionOf(order, pair) }))
    .sort((a, b) => comparePositions(order, a.position, b.position))
    .map(({ pair }) => pair);
  made.set(order, sorted);
  return sorted;
}

const ordersOf = derived(
  (_: readonly SortedPair[]) => new Map<SensorOrder, readonly SortedPair[]>(),
  // A list of each tenant.
  200,
);

/**
 * Index of a position in sensors of this order, or the index after it. Works as a keyset also when the sensor of the
 * position is gone or has moved to another one. A code that was learnt since may have moved it within its station.
 */
export function indexOfPosition(
  order: SensorOrder,
  pairs: readonly SortedPair[],
  position: ListPosition,
  side: 'at' | 'behind',
): number {
  const [value = null] = position;
  const key = position.at(-1);
  const own = pairs.findIndex(
    (pair) => pair.sortKey.key === key && compareParts(positionOf(order, pair)[0] ?? null, value, 1) === 0,
  );
  if (own >= 0) return side === 'at' ? own : own + 1;
  return firstIndex(pairs, (pair) => comparePositions(order, positionOf(order, pair), position) > 0);
}

/** Null where the position is not one of this order's. */
export function decodePosition(order: SensorOrder, position: unknown): ListPosition | null {
  const by = sortedBy(order);
  const length = by === 'LAST_SEEN_AT' ? 2 : 3;
  if (!Array.isArray(position) || position.length !== length) return null;
  const [first, ...others] = position as unknown[];
  if (!others.every((part) => typeof part === 'string')) return null;
  if (first === null) return by === 'STATION_CODE' ? null : [null, ...others];
  if (typeof first !== 'string') return null;
  if (by !== 'LAST_SEEN_AT') return [first, ...others];
  const lastSeen = Instant.parse(first);
  return lastSeen && [lastSeen, ...others];
}

function comparePositions(order: SensorOrder, a: ListPosition, b: ListPosition): number {
  const { sign } = orders[order];
  for (const [index, part] of a.entries()) {
    const compared = compareParts(part, b[index] ?? null, sign);
    if (compared !== 0) return compared;
  }
  return 0;
}

/** A value that is not known comes last in either direction. */
function compareParts(a: Part, b: Part, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return (
    sign * (a instanceof Instant && b instanceof Instant ? a.compare(b) : compareText(String(a), String(b)))
  );
}

/** The time that `Sensor.lastSeenAt` shows; null where that is null or an error. */
function lastSeenOf({ project, catalogue }: Pair): Instant | null {
  const text =
    known(project && mergedFields.lastSeen.project(project)) ||
    known(catalogue && mergedFields.lastSeen.catalogue(catalogue));
  return text ? Instant.parse(text) : null;
}
