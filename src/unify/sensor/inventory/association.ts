import { known } from '../../../upstream/decode/fields.js';
import { compareText } from '../../text-order.js';
import { Instant } from '../../time/instant.js';
import {
  type CatalogueRecord,
  type CodeOf,
  deviceIdOf,
  deviceKey,
  type Pair,
  type ProjectRecord,
  serialKey,
} from '../identity.js';
import { ordered, type SortedPair } from '../order.js';

export interface SensorAssociation {
  /** Sorted by station code, network code as far as it is known, and `sensorKey`. */
  readonly pairs: readonly SortedPair[];
  readonly byDevice: ReadonlyMap<string, Pair>;
  readonly byCatalogueId: ReadonlyMap<string, Pair>;
  /** Catalogue-only records that share a station code with another sensor: their network's code decides the order. */
  readonly unordered: ReadonlySet<CatalogueRecord>;
  /**
   * Catalogue records at a project sensor's station: their network's code, not learnt yet, decides on the association.
   */
  readonly undecided: readonly CatalogueRecord[];
  /**
   * Catalogue-only records at a station of the project: same station code, and the network code is the same or unknown.
   * Their position may be that of a project sensor, so masking applies to them too.
   */
  readonly besideProject: ReadonlySet<CatalogueRecord>;
}

/**
 * Finds the records that are the same sensor (docs/behaviour.md 6.1): serial number equal to Device ID, or else station
 * code and network code both equal. One to one, serial numbers first; never by the station code alone. The result does
 * not depend on the order of the input.
 */
export function associateSensors(
  project: Iterable<ProjectRecord>,
  catalogue: Iterable<CatalogueRecord>,
  codeOf: CodeOf,
): SensorAssociation {
  const devices = new Map<string, ProjectRecord>();
  for (const record of project) devices.set(deviceKey(record), record);
  const partners = new Map<ProjectRecord, CatalogueRecord>();
  const owner = new Map<CatalogueRecord, ProjectRecord>();
  const others: CatalogueRecord[] = [];

  for (const record of catalogue) {
    const device = devices.get(serialKey(record.value.serial_number) ?? '');
    if (!device) {
      others.push(record);
      continue;
    }
    // Assumed: catalogue records with the same serial number are one sensor; the best match is its catalogue side.
    owner.set(record, device);
    const rival = partners.get(device);
    if (!rival || isBetter(record, rival, known(device.value.station))) partners.set(device, record);
  }

  const stations = byStation(devices.values());
  const undecided: CatalogueRecord[] = [];
  const beside = new Set<CatalogueRecord>();
  const candidates = new Map<string, CatalogueRecord[]>();
  for (const record of others) {
    const station = known(record.value.station_code);
    const there = station ? stations.get(station) : undefined;
    if (!station || !there) continue;
    const code = codeOf(record);
    if (code === undefined) {
      if (there.some((sensor) => !partners.has(sensor))) undecided.push(record);
      beside.add(record);
    } else if (there.some((sensor) => sameNetwork(known(sensor.value.network), code))) {
      beside.add(record);
      if (code) push(candidates, siteKey(station, code), record);
    }
  }
  const free = new Map<string, ProjectRecord[]>();
  for (const [, sensor] of [...devices].sort(([a], [b]) => compareText(a, b))) {
    const site = siteOf(sensor);
    if (site && !partners.has(sensor)) push(free, site, sensor);
  }
  for (const [site, records] of candidates) {
    records.sort((a, b) => (isBetter(a, b, null) ? -1 : 1));
    for (const [index, sensor] of (free.get(site) ?? []).entries()) {
      const record = records[index];
      if (!record) break;
      partners.set(sensor, record);
      owner.set(record, sensor);
      beside.delete(record);
    }
  }

  const collected = collect(devices, partners, owner, others);
  return { ...collected, ...ordered(collected.pairs, codeOf), undecided, besideProject: beside };
}

function collect(
  devices: ReadonlyMap<string, ProjectRecord>,
  partners: ReadonlyMap<ProjectRecord, CatalogueRecord>,
  owner: ReadonlyMap<CatalogueRecord, ProjectRecord>,
  others: readonly CatalogueRecord[],
): Pick<SensorAssociation, 'byDevice' | 'byCatalogueId'> & { readonly pairs: readonly Pair[] } {
  const byDevice = new Map<string, Pair>();
  const byCatalogueId = new Map<string, Pair>();
  const pairs: Pair[] = [];
  for (const [key, sensor] of devices) {
    const pair = { project: sensor, catalogue: partners.get(sensor) ?? null };
    byDevice.set(key, pair);
    pairs.push(pair);
  }
  for (const [record, sensor] of owner) {
    const pair = byDevice.get(deviceKey(sensor));
    if (pair) byCatalogueId.set(record.value.id, pair);
  }
  const serials = new Set<string>();
  for (const record of [...others].sort((a, b) => (a.value.id < b.value.id ? -1 : 1))) {
    if (owner.has(record)) continue;
    const serial = deviceIdOf(record.value.serial_number);
    const pair = { project: null, catalogue: record, isNamesake: serial !== null && serials.has(serial) };
    if (serial !== null) serials.add(serial);
    byCatalogueId.set(record.value.id, pair);
    pairs.push(pair);
  }
  return { pairs, byDevice, byCatalogueId };
}

/** Prefers the record at the project's station, then the later `last_seen`, then the lower id as a tie-break. */
function isBetter(a: CatalogueRecord, b: CatalogueRecord, station: string | null): boolean {
  const [here, there] = [a, b].map((record) => station !== null && record.value.station_code === station);
  if (here !== there) return here === true;
  const [mine, theirs] = [a, b].map((record) => Instant.parse(known(record.value.last_seen) ?? ''));
  if (mine && theirs) {
    const order = mine.compare(theirs);
    if (order !== 0) return order > 0;
  } else if (mine || theirs) {
    return Boolean(mine);
  }
  return a.value.id < b.value.id;
}

function byStation(records: Iterable<ProjectRecord>): ReadonlyMap<string, readonly ProjectRecord[]> {
  const stations = new Map<string, ProjectRecord[]>();
  for (const record of records) {
    const station = known(record.value.station);
    if (station) push(stations, station, record);
  }
  return stations;
}

// A missing network code may be any code.
const sameNetwork = (mine: string | null, theirs: string | null) => !mine || !theirs || mine === theirs;

function siteOf(record: ProjectRecord): string | null {
  const station = known(record.value.station);
  const network = known(record.value.network);
  return station && network ? siteKey(station, network) : null;
}

const siteKey = (station: string, network: string) => JSON.stringify([station, network]);

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
