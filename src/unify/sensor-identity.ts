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
  /** Another sensor that only the catalogue has bears the same serial number: it cannot be told by that. */
  readonly isNamesake?: boolean | undefined;
}

export interface Pairing {
  /** By station code, network code as far as it is known, and `sensorKey`. */
  readonly pairs: readonly Pair[];
  readonly byDevice: ReadonlyMap<string, Pair>;
  readonly byCatalogueId: ReadonlyMap<string, Pair>;
  /** Catalogue-only records that share a station code with another sensor: their network's code decides on the order. */
  readonly unordered: readonly CatalogueRecord[];
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

/**
 * What tells a sensor from all others, the same whichever interface it was reached by: its Device ID, or the serial number
 * where that has the form of one; else the one identifier that it has.
 */
export function sensorKey({ project, catalogue, isNamesake }: Pair): string {
  if (project) return deviceIdOf(project.value.device_id) ?? `p:${project.value.device_id}`;
  if (isNamesake) return `c:${catalogue?.value.id ?? ''}`;
  return deviceIdOf(catalogue?.value.serial_number ?? null) ?? `c:${catalogue?.value.id ?? ''}`;
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
    const place = siteOf(sensor);
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

  const collected = collect(devices, partners, owner, others);
  return { ...collected, ...ordered(collected.pairs, codeOf), undecided, besideProject: beside };
}

function collect(
  devices: ReadonlyMap<string, ProjectRecord>,
  partners: ReadonlyMap<ProjectRecord, CatalogueRecord>,
  owner: ReadonlyMap<CatalogueRecord, ProjectRecord>,
  others: readonly CatalogueRecord[],
): Pick<Pairing, 'pairs' | 'byDevice' | 'byCatalogueId'> {
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

/** The place of a sensor in every list. */
export interface SensorPlace {
  readonly stationCode: string;
  /** Empty where it is not known, or there is none. */
  readonly networkCode: string;
  readonly key: string;
}

/** By code units, so that no locale changes the order. */
export function comparePlaces(a: SensorPlace, b: SensorPlace): number {
  return (
    compareText(a.stationCode, b.stationCode) ||
    compareText(a.networkCode, b.networkCode) ||
    compareText(a.key, b.key)
  );
}

export function placeOf(pair: Pair, codeOf: CodeOf): SensorPlace {
  const { project, catalogue } = pair;
  const own = known(project?.value.network);
  return {
    stationCode: stationOf(pair),
    networkCode: own ?? (catalogue && codeOf(catalogue)) ?? '',
    key: sensorKey(pair),
  };
}

/** The merged station code: the project's where it has one; empty where neither has. */
export function stationOf({ project, catalogue }: Pair): string {
  return known(project?.value.station) || known(catalogue?.value.station_code) || '';
}

function ordered(pairs: readonly Pair[], codeOf: CodeOf): Pick<Pairing, 'pairs' | 'unordered'> {
  const placed = pairs.map((pair) => ({ pair, place: placeOf(pair, codeOf) }));
  placed.sort((a, b) => comparePlaces(a.place, b.place));
  const unordered = placed.flatMap(({ pair: { project, catalogue }, place }, index) => {
    const isAlone = [placed[index - 1], placed[index + 1]].every(
      (neighbour) => neighbour?.place.stationCode !== place.stationCode,
    );
    if (isAlone || !catalogue || known(project?.value.network) || codeOf(catalogue) !== undefined) return [];
    return [catalogue];
  });
  return { pairs: placed.map(({ pair }) => pair), unordered };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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

function siteOf(record: ProjectRecord): string | null {
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
