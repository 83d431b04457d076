import { displaced, type Point } from '../geodesy.js';
import { randomOf } from '../random.js';
import { type Site, sites } from './sites.js';

/**
 * Lays out the sensors: most in the default project and in the catalogue, a few in only one of them, one that has left
 * the project, and a second project that masks its locations.
 */
export function layNetwork(seed: number): Station[] {
  return [
    ...sites.map((site, index) => station(seed, site, index, roleOf(index))),
    ...sites
      .filter((_, index) => index % 6 === 2)
      .map((site, index) => station(seed, site, 100 + index, 'masked')),
  ];
}

/** A sensor where it truly stands. */
export interface Station extends Point {
  readonly index: number;
  readonly deviceId: string;
  readonly code: string;
  /** FDSN network code. */
  readonly network: string;
  readonly elevationM: number;
  readonly siteName: string;
  readonly role: StationRole;
  readonly projectName: 'default' | 'masked' | null;
  /** Null for a sensor that the catalogue does not know. */
  readonly catalogueId: string | null;
  readonly networkId: string;
  readonly serialNumber: string | null;
}

/** `moved`: its triggers stay in the default project, the sensor itself is now in another project (docs/interfaces.md P2). */
type StationRole = 'both' | 'project-only' | 'catalogue-only' | 'moved' | 'masked';

/** Network ids of the catalogue; the last has no sensors, so that its code cannot be learnt. */
export const networkIds = {
  SG: 'net_socal',
  SV: 'net_hills',
  SP: 'net_partner',
  world: 'net_world',
} as const;

function roleOf(index: number): StationRole {
  if (index >= sites.length - 2) return 'catalogue-only';
  if (index === sites.length - 3) return 'moved';
  return index >= sites.length - 6 ? 'project-only' : 'both';
}

function station(
  seed: number,
  [name, code, latitude, longitude, elevationM]: Site,
  index: number,
  role: StationRole,
) {
  const random = randomOf('station', seed, index);
  const isMasked = role === 'masked';
  const network = isMasked ? 'SV' : role === 'catalogue-only' || role === 'moved' ? 'SP' : 'SG';
  const deviceId = [random.integer(2 ** 20, 2 ** 24 - 1), random.integer(2 ** 20, 2 ** 24 - 1)]
    .map((half) => half.toString(16))
    .join('')
    .toUpperCase();
  const place = displaced(
    { latitude, longitude },
    random.between(0, 360),
    random.between(0.3, isMasked ? 6 : 3),
  );
  const inCatalogue = role !== 'project-only';
  return {
    index,
    deviceId,
    // The last one shares its code with the first, in another network: never the same sensor (a station code alone).
    code: index === sites.length - 1 ? (sites[0]?.[1] ?? code) : isMasked ? `${code}2` : code,
    network,
    latitude: rounded(place.latitude),
    longitude: rounded(place.longitude),
    elevationM: elevationM + random.integer(-8, 60),
    siteName: `${name} ${random.pick(['Fire Station', 'School', 'Library', 'Water Tank', 'Airfield', 'Ranger Station'])}`,
    role,
    projectName: isMasked ? 'masked' : role === 'both' || role === 'project-only' ? 'default' : null,
    catalogueId: inCatalogue ? `sns_${random.integer(2 ** 28, 2 ** 32 - 1).toString(16)}` : null,
    networkId: networkIds[network],
    serialNumber: serialNumber(deviceId, index),
  } satisfies Station;
}

/** Usually the Device ID; for some spelled otherwise, for a few of no relation to it, once none. */
function serialNumber(deviceId: string, index: number): string | null {
  const pairs = deviceId.match(/../g) ?? [];
  switch (index % 12) {
    case 3:
      return pairs.join(':').toLowerCase();
    case 5:
      return pairs.join('-');
    case 7:
      return deviceId.toLowerCase();
    case 8:
      return `SN-${String(20_000 + index * 37)}`;
    case 10:
      return index < 12 ? null : `SN-${String(20_000 + index * 37)}`;
    default:
      return deviceId;
  }
}

const rounded = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
