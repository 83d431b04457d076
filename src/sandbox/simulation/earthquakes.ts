import { minuteMs } from '../../clock.js';
import { displaced, distanceKm, type Point } from '../geodesy.js';
import { type Random, randomOf } from '../random.js';
import { networkIds } from './network.js';
import { type QuakeRow, realQuakes } from './quakes-data.js';
import { sites } from './sites.js';

/** An earthquake as it truly was; the two interfaces tell of it with their own errors. */
export interface Quake extends Point {
  readonly originMs: number;
  readonly depthKm: number;
  readonly magnitude: number;
  readonly magnitudeType: string;
  readonly place: string;
  /** Null where an interface never hears of it. */
  readonly projectId: string | null;
  readonly catalogueId: string | null;
  readonly networkId: string | null;
  readonly isReviewed: boolean;
  readonly quality: {
    stations_used: number | null;
    azimuthal_gap: number | null;
    rms_residual: number | null;
  };
}

/** The real earthquakes, with the newest 7 minutes before `startMs`. */
export function pastQuakes(seed: number, startMs: number): Quake[] {
  return realQuakes.map((row) => pastQuake(row, seed, startMs - 7 * minuteMs));
}

/**
 * Invented earthquakes, in the order of their time, from `fromMs` on without end: by Gutenberg and Richter in
 * magnitude, near real epicentres in place, some 25 seconds apart. `surely` is the time of one that many will feel.
 */
export function* comingQuakes(seed: number, fromMs: number, surelyMs: number): Generator<Quake, never> {
  let originMs = fromMs;
  for (let index = 0; ; index++) {
    const random = randomOf('quake', seed, index);
    // Never nearer than the 16 s within which two readers would take them for one earthquake.
    const nextMs = originMs + 1000 * (17 + random.exponential(8));
    const isSure = originMs < surelyMs - 17_000 && nextMs >= surelyMs - 17_000;
    originMs = isSure ? surelyMs : nextMs;
    const strength = 1.7 + random.exponential(0.48);
    const magnitude = isSure ? random.between(3.2, 3.6) : Math.min(5.4, strength);
    yield comingQuake(random, `s${seed}${(10_000_000 + index).toString()}`, originMs, round(magnitude, 2));
  }
}

/** True within the region in which the project's sensors can see an earthquake. */
export function isInRegion({ latitude, longitude }: Point): boolean {
  return longitude >= -120.5 && longitude <= -115 && latitude >= 32 && latitude <= 37;
}

function pastQuake(row: QuakeRow, seed: number, newestMs: number): Quake {
  const [ageS, latitude, longitude, depthKm, magnitude, magnitudeType, reviewed, used, gap, rms, id, place] =
    row;
  const random = randomOf('past', seed, id);
  const isRegional = isInRegion({ latitude, longitude });
  return {
    originMs: newestMs - ageS * 1000,
    ...{ latitude, longitude, depthKm, magnitude, magnitudeType, place },
    ...knownAs(random, id, isRegional && magnitude >= 0.9),
    networkId: isRegional ? networkIds.SG : random.chance(0.95) ? networkIds.world : null,
    isReviewed: reviewed === 1,
    quality: { stations_used: used, azimuthal_gap: gap, rms_residual: rms },
  };
}

function comingQuake(random: Random, id: string, originMs: number, magnitude: number): Quake {
  const centre = random.chance(0.6) ? random.pick(regionalEpicentres) : random.pick(townCentres);
  const place = displaced(centre, random.between(0, 360), random.exponential(5));
  const networkId = random.chance(0.85) ? networkIds.SG : networkIds.SP;
  return {
    originMs,
    latitude: round(place.latitude, 4),
    longitude: round(place.longitude, 4),
    depthKm: round(random.between(1.5, 16), 2),
    magnitude,
    magnitudeType: magnitude > 3.8 ? 'mw' : random.pick(['ml', 'ml', 'md', 'mlr']),
    place: placeName(place),
    ...knownAs(random, id, true),
    networkId,
    isReviewed: random.chance(0.8),
    quality: {
      stations_used: random.integer(6, 60),
      azimuthal_gap: random.integer(30, 200),
      rms_residual: round(random.between(0.05, 0.4), 2),
    },
  };
}

/** Most are in both interfaces, of these a third under two names; some in one alone. */
function knownAs(
  random: Random,
  id: string,
  isSeenByProject: boolean,
): Pick<Quake, 'projectId' | 'catalogueId'> {
  if (!isSeenByProject) return { projectId: null, catalogueId: id };
  const draw = random.next();
  if (draw < 0.5) return { projectId: id, catalogueId: id };
  if (draw < 0.75) return { projectId: `eq-${id.slice(2)}`, catalogueId: id };
  return draw < 0.87
    ? { projectId: null, catalogueId: id }
    : { projectId: `eq-${id.slice(2)}`, catalogueId: null };
}

const townCentres: readonly Point[] = sites.map(([, , latitude, longitude]) => ({ latitude, longitude }));

const regionalEpicentres: readonly Point[] = realQuakes
  .map(([, latitude, longitude]) => ({ latitude, longitude }))
  .filter(isInRegion);

function placeName(point: Point): string {
  const nearest = sites
    .map(([name, , latitude, longitude]) => ({
      name,
      latitude,
      longitude,
      km: distanceKm(point, { latitude, longitude }),
    }))
    .reduce((a, b) => (b.km < a.km ? b : a));
  const east = (point.longitude - nearest.longitude) * Math.cos((point.latitude * Math.PI) / 180);
  const bearing = (Math.atan2(east, point.latitude - nearest.latitude) / Math.PI) * 180;
  const direction = compass[Math.round((bearing + 360) / 45) % 8];
  return `${Math.round(nearest.km)}km ${direction} of ${nearest.name}, CA`;
}

const compass = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;
