import type { WireSensor as CatalogueSensor } from '../upstream/catalogue/wire.js';
import { known, type Text } from '../upstream/decode.js';
import type { WireSensor as ProjectSensor } from '../upstream/project/wire.js';
import type { Read } from '../upstream/read.js';
import { Instant } from './time.js';

export type ProjectRecord = Read<ProjectSensor>;
export type CatalogueRecord = Read<CatalogueSensor>;

/** One sensor: what each interface says of it. At least one of the two is there. */
export interface Pair {
  readonly project: ProjectRecord | null;
  readonly catalogue: CatalogueRecord | null;
}

export interface Pairing {
  readonly pairs: readonly Pair[];
  readonly byDevice: ReadonlyMap<string, Pair>;
  readonly byCatalogueId: ReadonlyMap<string, Pair>;
  /** Catalogue records that would be a sensor of the project if their network's code, not learnt yet, were the same. */
  readonly undecided: readonly CatalogueRecord[];
  /**
   * Catalogue-only records at a station of the project: same station code, and the network code is the same or not
   * known. Their position may be that of a project's sensor, so that masking covers it too.
   */
  readonly besideProject: ReadonlySet<CatalogueRecord>;
}

/** `undefined` while the code has not been learnt; null when the network is known to have none. */
export type CodeOf = (record: CatalogueRecord) => string | null | undefined;

/** 12 upper-case hexadecimal characters, or null when the text is no Device ID. Case and separators do not matter. */
export function deviceIdOf(text: Text): string | null {
  const key = serialKey(text);
  return key !== null && /^[0-9A-F]{12}$/.test(key) ? key : null;
}

/** A serial number or Device ID as it is compared: upper case, without separators (contract 6.1). */
export function serialKey(text: Text): string | null {
  const value = known(text);
  if (value === null) return null;
  const key = value.replace(/[\s:._\-/]/g, '').toUpperCase();
  return key === '' ? null : key;
}

/** What a project's sensor is known by here. Device IDs of another shape than the documented one are kept apart too. */
export function deviceKey(record: ProjectRecord): string {
  return serialKey(record.value.device_id) ?? record.value.device_id;
}

/**
 * Which records are the same sensor (contract 6.1): serial number equal to Device ID, or else station code and network
 * code both equal. One to one, serial numbers first; never by the station code alone. The same input in any order gives
 * the same pairs.
 */
export function pairSensors(
  project: Iterable<ProjectRecord>,
  catalogue: Iterable<CatalogueRecord>,
  codeOf: CodeOf,
): Pairing {
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
    // Two catalogue records of one serial number are one sensor: the one that fits best speaks for it.
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
      if (code) push(candidates, placeKey(station, code), record);
    }
  }
  const free = new Map<string, ProjectRecord[]>();
  for (const [, sensor] of [...devices].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = placeOf(sensor);
    if (place && !partners.has(sensor)) push(free, place, sensor);
  }
  for (const [place, records] of candidates) {
    records.sort((a, b) => (isBetter(a, b, null) ? -1 : 1));
    for (const [index, sensor] of (free.get(place) ?? []).entries()) {
      const record = records[index];
      if (!record) break;
      partners.set(sensor, record);
      owner.set(record, sensor);
      beside.delete(record);
    }
  }

  return collect(devices, partners, owner, others, { undecided, besideProject: beside });
}

function collect(
  devices: ReadonlyMap<string, ProjectRecord>,
  partners: ReadonlyMap<ProjectRecord, CatalogueRecord>,
  owner: ReadonlyMap<CatalogueRecord, ProjectRecord>,
  others: readonly CatalogueRecord[],
  open: Pick<Pairing, 'undecided' | 'besideProject'>,
): Pairing {
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
  for (const record of others) {
    if (owner.has(record)) continue;
    const pair = { project: null, catalogue: record };
    byCatalogueId.set(record.value.id, pair);
    pairs.push(pair);
  }
  return { pairs, byDevice, byCatalogueId, ...open };
}

/** At the project's station, then heard of last, then a fixed order. */
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

// A network code that upstream left out may be any.
const sameNetwork = (mine: string | null, theirs: string | null) => !mine || !theirs || mine === theirs;

function placeOf(record: ProjectRecord): string | null {
  const station = known(record.value.station);
  const network = known(record.value.network);
  return station && network ? placeKey(station, network) : null;
}

const placeKey = (station: string, network: string) => JSON.stringify([station, network]);

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
