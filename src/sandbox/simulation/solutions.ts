import type { CatalogueEvent } from '../catalogue/records.js';
import { displaced } from '../geodesy.js';
import type { ProjectEvent, ProjectOrigin } from '../project/records.js';
import { hashOf, randomOf } from '../random.js';
import { textOf } from '../time.js';
import { isInRegion, type Quake } from './earthquakes.js';
import { shakingAt } from './motion/shaking.js';
import { type TravelTimes, travelTimes } from './motion/travel-time.js';
import type { Station } from './network.js';

/** When the project issues its solutions of an earthquake: a quick one, a better one, for some a third. */
export function issueTimes(quake: Quake): [number, ...number[]] {
  const random = randomOf('issued', quake.originMs);
  const quick = quake.originMs + 1000 * random.between(7, 16);
  const better = quick + 1000 * random.between(35, 80);
  return random.chance(0.3) ? [quick, better, better + 1000 * random.between(120, 400)] : [quick, better];
}

/** The event with the solutions issued up to the last of `issuedMs`, oldest first. */
export function projectEvent(
  id: string,
  quake: Quake,
  issuedMs: readonly number[],
  stations: readonly Station[],
) {
  const near = nearest(quake, stations, 5 + Math.round(3 * quake.magnitude));
  const lastMs = issuedMs[issuedMs.length - 1] as number;
  const picked = near.filter(({ times }) => quake.originMs + 1000 * times.pS + 2000 < lastMs);
  const origins = issuedMs.map((ms, stage) => projectOrigin(quake, ms, stage));
  const magnitudes = origins.map((origin, stage) => magnitudeOf(quake, origin, stage));
  return {
    id,
    issued_at: textOf(lastMs),
    magnitude: magnitudes[magnitudes.length - 1]?.value ?? null,
    origin: origins[origins.length - 1] ?? null,
    station_count: picked.length,
    pick_stations: picked.map(({ station }) => station.code),
    // Assumed: the layout of all below; docs/interfaces.md P2 names only the five keys.
    origins,
    magnitudes,
    picks: picked.flatMap(({ station, times }) =>
      (['P', 'S'] as const).map((phase) => ({
        id: hashOf(`${id} ${station.deviceId} ${phase}`),
        ...{ station: station.code, network: station.network, channel: phase === 'P' ? 'HNZ' : 'HNE', phase },
        time: textOf(quake.originMs + 1000 * (phase === 'P' ? times.pS : times.sS), 6),
      })),
    ),
    amplitudes: picked.flatMap(({ station }) => {
      const shaking = shakingAt(quake, station);
      if (!shaking) return [];
      const value = Math.round(Math.max(shaking.hneMg, shaking.hnnMg) * 1000) / 1000;
      return [{ station: station.code, type: 'PGA', value, unit: 'mg' }];
    }),
    descriptions: [{ type: 'region name', text: quake.place }],
  } satisfies ProjectEvent;
}

/** When the catalogue lists the earthquake, and when an analyst has been over it: for some never. */
export function catalogueTimes(quake: Quake): { listedMs: number; reviewedMs: number } {
  const random = randomOf('listed', quake.originMs);
  const listedMs = quake.originMs + 1000 * random.between(15, 60);
  return {
    listedMs,
    reviewedMs: quake.isReviewed ? listedMs + 1000 * random.between(120, 900) : Number.POSITIVE_INFINITY,
  };
}

/** The catalogue's solution, with the arrivals at the stations that the catalogue knows. */
export function catalogueEvent(
  id: string,
  quake: Quake,
  isReviewed: boolean,
  listedMs: number,
  stations: readonly Station[],
): CatalogueEvent {
  const random = randomOf('catalogue', quake.originMs, isReviewed ? 1 : 0);
  // Under another name it is also another agency's solution: further from the project's.
  const spreadKm = id === quake.projectId ? 0.3 : 3;
  const place = displaced(
    quake,
    random.between(0, 360),
    isReviewed ? 0.4 * spreadKm : random.exponential(spreadKm),
  );
  const shiftMs = id === quake.projectId ? 0 : 1000 * random.between(-1.4, 1.4);
  const hasUncertainty = random.chance(0.9);
  const arrivals = nearest(quake, stations, 12).map(({ station, times }) => ({
    station_code: station.code,
    distance_km: round(times.distanceKm, 2),
    p_arrival: textOf(quake.originMs + 1000 * times.pS, 6),
    s_arrival: random.chance(0.9) ? textOf(quake.originMs + 1000 * times.sS, 6) : null,
  }));
  return {
    id,
    origin_time: textOf(quake.originMs + shiftMs, 6),
    latitude: round(place.latitude, 4),
    longitude: round(place.longitude, 4),
    depth_km: quake.depthKm,
    magnitude: quake.magnitude,
    magnitude_type: random.chance(0.97) ? quake.magnitudeType : null,
    location_description: quake.place,
    status: isReviewed ? 'reviewed' : random.chance(0.9) ? 'automatic' : 'preliminary',
    network_id: quake.networkId,
    depth_uncertainty_km: hasUncertainty ? round(random.between(0.3, 4), 2) : null,
    horizontal_uncertainty_km: hasUncertainty ? round(random.between(0.1, 2), 2) : null,
    magnitude_uncertainty: hasUncertainty ? round(random.between(0.05, 0.3), 2) : null,
    quality: quake.quality,
    stations: arrivals,
    created_at: textOf(listedMs),
  };
}

function projectOrigin(quake: Quake, issuedMs: number, stage: number): ProjectOrigin {
  const random = randomOf('origin', quake.originMs, stage);
  const place = displaced(quake, random.between(0, 360), random.exponential(stage === 0 ? 2 : 0.3));
  return {
    // Beyond 2^31, as a number: the type is not shown in docs/interfaces.md P2.
    id: 5_000_000_000 + hashOf(`origin ${quake.originMs} ${stage}`),
    latitude: round(place.latitude, 5),
    longitude: round(place.longitude, 5),
    depth: round(Math.max(0, quake.depthKm + (stage === 0 ? 2 : 0.4) * random.gaussian()), 2),
    origin_time: round(quake.originMs / 1000 + (stage === 0 ? 0.3 : 0.05) * random.gaussian(), 6),
    issued_at: round(issuedMs / 1000, 3),
  };
}

function magnitudeOf(quake: Quake, origin: ProjectOrigin, stage: number) {
  const error = (stage === 0 ? 0.15 : 0.04) * randomOf('magnitude', quake.originMs, stage).gaussian();
  return { origin_id: origin.id, type: quake.magnitudeType, value: round(quake.magnitude + error, 2) };
}

function nearest(quake: Quake, stations: readonly Station[], count: number) {
  if (!isInRegion(quake)) return [];
  return stations
    .map((station) => ({ station, times: travelTimes(quake, station) }))
    .filter(({ times }) => times.distanceKm < 350)
    .sort((a, b) => a.times.distanceKm - b.times.distanceKm)
    .slice(0, count) satisfies { station: Station; times: TravelTimes }[];
}

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;
