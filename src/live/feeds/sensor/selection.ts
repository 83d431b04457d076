import { type Pair, serialKey } from '../../../unify/sensor/identity.js';
import { known } from '../../../upstream/decode/fields.js';

/** The sensors that a subscriber of a feed wants. */
export interface SensorSelection {
  readonly deviceIds?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
}

/** Every given condition must hold; an empty list matches nothing. */
export function sensorFilter(selection: SensorSelection | null): (of: { readonly pair: Pair }) => boolean {
  const { deviceIds, stationCodes } = selection ?? {};
  const devices = deviceIds && new Set(deviceIds.map((id) => serialKey(id) ?? id));
  const stations = stationCodes && new Set(stationCodes.map((code) => code.trim()));
  return ({ pair: { project, catalogue } }) => {
    const device = serialKey(project ? project.value.device_id : (catalogue?.value.serial_number ?? null));
    const station = known(project ? project.value.station : catalogue?.value.station_code);
    if (devices && (device === null || !devices.has(device))) return false;
    return !stations || (station !== null && stations.has(station));
  };
}
