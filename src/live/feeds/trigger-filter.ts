import { serialKey } from '../../unify/sensor/identity.js';
import type { TriggerChange, TriggerChangeKind, TriggerTraits } from './trigger-subject.js';

export interface TriggerChangeFilter {
  readonly kinds?: readonly TriggerChangeKind[] | null | undefined;
  readonly deviceIds?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
  readonly minPgaMg?: number | null | undefined;
}

/**
 * Which changes a subscription gets. A trigger that has passed `minPgaMg`, or was at one of the stations, stays in until
 * it is closed: nobody who was told of it is left without its end. All that is given must hold.
 */
export function triggerFilter(filter: TriggerChangeFilter | null): (change: TriggerChange) => boolean {
  const { kinds, deviceIds, stationCodes, minPgaMg } = filter ?? {};
  const wantedKinds = kinds && new Set<string>(kinds);
  const devices = deviceIds && new Set(deviceIds.map((id) => serialKey(id) ?? id));
  const stations = stationCodes && new Set(stationCodes);
  return ({ kind, traits }) => {
    const { device, stations: codes, pgaMg } = traits as TriggerTraits;
    if (wantedKinds && !wantedKinds.has(kind)) return false;
    if (devices && !devices.has(device)) return false;
    if (stations && !codes.some((code) => stations.has(code))) return false;
    return minPgaMg == null || (pgaMg !== null && pgaMg >= minPgaMg);
  };
}
