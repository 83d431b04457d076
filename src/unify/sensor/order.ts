import { known } from '../../upstream/decode/fields.js';
import { compareText } from '../text-order.js';
import { type CatalogueRecord, type CodeOf, type Pair, sensorKey } from './identity.js';

/** Sort key of a sensor in the order of every list that asks for no other; `key` is the tie-break. */
export interface SensorSortKey {
  readonly stationCode: string;
  /** Empty where it is unknown or there is none. */
  readonly networkCode: string;
  readonly key: string;
}

/** A sensor with its sort key. */
export interface SortedPair extends Pair {
  readonly sortKey: SensorSortKey;
}

function compareSortKeys(a: SensorSortKey, b: SensorSortKey): number {
  return (
    compareText(a.stationCode, b.stationCode) ||
    compareText(a.networkCode, b.networkCode) ||
    compareText(a.key, b.key)
  );
}

/** The merged station code: the project's where it has one; empty where neither interface has one. */
export function stationOf({ project, catalogue }: Pair): string {
  return known(project?.value.station) || known(catalogue?.value.station_code) || '';
}

/** Sensors sorted in that order. */
export function ordered(
  pairs: readonly Pair[],
  codeOf: CodeOf,
): {
  readonly pairs: readonly SortedPair[];
  /** Catalogue records at a shared station code: their network's code, not learnt yet, decides the order. */
  readonly unordered: ReadonlySet<CatalogueRecord>;
} {
  const sorted = pairs.map((pair): SortedPair => ({ ...pair, sortKey: sortKeyOf(pair, codeOf) }));
  sorted.sort((a, b) => compareSortKeys(a.sortKey, b.sortKey));
  const unordered = sorted.flatMap(({ project, catalogue, sortKey }, index) => {
    const hasOwnStation = [sorted[index - 1], sorted[index + 1]].every(
      (neighbour) => neighbour?.sortKey.stationCode !== sortKey.stationCode,
    );
    if (hasOwnStation || !catalogue || known(project?.value.network) || codeOf(catalogue) !== undefined)
      return [];
    return [catalogue];
  });
  return { pairs: sorted, unordered: new Set(unordered) };
}

function sortKeyOf(pair: Pair, codeOf: CodeOf): SensorSortKey {
  const { project, catalogue } = pair;
  const own = known(project?.value.network);
  return {
    stationCode: stationOf(pair),
    networkCode: own ?? (catalogue && codeOf(catalogue)) ?? '',
    key: sensorKey(pair),
  };
}
