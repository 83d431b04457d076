import { known } from '../../upstream/decode/fields.js';
import { type DeviceKey, deviceKeyOf } from '../sensor/identity.js';
import { type DeviceFilter, filtersByDevice } from '../sensor/selection.js';
import type { Trigger, TriggerStatus } from './record.js';

/**
 * The conditions that the list of triggers and their feed have in common; all given ones must hold. An empty list matches
 * nothing.
 */
export interface TriggerConditions extends DeviceFilter {
  /** Compared without regard to case and separators. */
  readonly deviceIds?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
  readonly status?: TriggerStatus | null | undefined;
  /** Least horizontal PGA, in thousandths of standard gravity (mg). */
  readonly minPgaMg?: number | null | undefined;
}

/** The values that the conditions test, gathered over all observed states of a trigger. */
export interface TriggerTraits {
  readonly device: DeviceKey;
  /** Its present and earlier station codes: a trigger reported under a station code stays under it until it closes. */
  readonly stations: readonly string[];
  /** The largest so far; null without any. */
  readonly pgaMg: number | null;
}

export function traitsOf(trigger: Trigger, before: TriggerTraits | null): TriggerTraits {
  const station = known(trigger.stationCode);
  const earlier = before?.stations ?? [];
  const pgaMg = known(trigger.pgaHorizontalMg);
  return {
    device: deviceKeyOf(trigger.deviceId),
    stations: station === null || earlier.includes(station) ? earlier : [...earlier, station],
    pgaMg: pgaMg === null ? (before?.pgaMg ?? null) : Math.max(pgaMg, before?.pgaMg ?? pgaMg),
  };
}

/**
 * Tests the conditions. Networks and areas are conditions on the sensor, so they arrive as the sensors that meet them.
 * @param selected keys of these sensors at present; null where there is no such condition
 */
export function triggerMatcher(
  { deviceIds, stationCodes, status, minPgaMg }: TriggerConditions,
  selected: () => ReadonlySet<string> | null,
): (trigger: Pick<Trigger, 'status'>, traits: TriggerTraits) => boolean {
  const devices = deviceIds && new Set(deviceIds.map(deviceKeyOf));
  const stations = stationCodes && new Set(stationCodes.map((code) => code.trim()));
  return (trigger, { device, stations: codes, pgaMg }) => {
    if (status != null && trigger.status !== status) return false;
    if (devices && !devices.has(device)) return false;
    if (stations && !codes.some((code) => stations.has(code))) return false;
    if (minPgaMg != null && (pgaMg === null || pgaMg < minPgaMg)) return false;
    return selected()?.has(device) !== false;
  };
}

/** True where upstream's list has to be searched, since it can be filtered by time and one sensor alone. */
export function isSearch(conditions: TriggerConditions): boolean {
  return (
    (conditions.deviceIds?.length ?? 0) > 1 || filtersByDevice(conditions) || filtersByTrigger(conditions)
  );
}

/** True where a condition is on the trigger itself, besides its sensor. */
export function filtersByTrigger({ stationCodes, status, minPgaMg }: TriggerConditions): boolean {
  return stationCodes != null || status != null || minPgaMg != null;
}

export function matchesNothing({ deviceIds, stationCodes, networkCodes }: TriggerConditions): boolean {
  return [deviceIds, stationCodes, networkCodes].some((list) => list?.length === 0);
}
