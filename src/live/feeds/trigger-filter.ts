import { serialKey } from '../../unify/sensor/identity.js';
import type { TriggerChange, TriggerChangeKind, TriggerTraits } from './trigger-subject.js';

export interface TriggerChangeFilter {
  readonly kinds?: readonly TriggerChangeKind[] | null | undefined;
  readonly deviceIds?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
  readonly minPgaMg?: number | null | undefined;
}

/**
 * Selects the changes of a subscription; every given condition must hold. A trigger that has once exceeded `minPgaMg`,
 * or was at one of the stations, keeps matching until it closes, so that no subscriber misses the end of a trigger.
 */
export function triggerFilter(filter: TriggerChangeFilter | null): (change: TriggerChange) => boolean {
  const { kinds, deviceIds, stationCodes, minPgaMg } = filter ?? {};
  const wantedKinds = kinds && new Set<string>(kinds);
  const devices = deviceIds && new Set(deviceIds.map((id) => serialKey(id) ?? id));
  const stations = stationCodes && new Set(stationCodes.map((code) => code.trim()));
  return ({ kind, traits }) => {
    const { device, stations: codes, pgaMg } = traits as TriggerTraits;
    if (wantedKinds && !wantedKinds.has(kind)) return false;
    if (devices && !devices.has(device)) return false;
    if (stations && !codes.some((code) => stations.has(code))) return false;
    return minPgaMg == null || (pgaMg !== null && pgaMg >= minPgaMg);
  };
}
