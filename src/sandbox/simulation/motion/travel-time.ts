import { distanceKm, type Point } from '../../geodesy.js';

/** Arrival of P and S at a station, seconds after the origin. */
export interface TravelTimes {
  readonly distanceKm: number;
  readonly hypocentralKm: number;
  readonly pS: number;
  readonly sS: number;
}

/**
 * First arrivals in a crust of 6.1 and 3.5 km/s over a mantle of 8.0 and 4.55 km/s: the direct wave near the source,
 * the head wave from the Moho beyond some 180 km.
 */
export function travelTimes(source: Point & { depthKm: number }, station: Point): TravelTimes {
  const alongKm = distanceKm(source, station);
  const depthKm = Math.max(0, source.depthKm);
  const hypocentralKm = Math.hypot(alongKm, depthKm);
  return {
    distanceKm: alongKm,
    hypocentralKm,
    pS: Math.min(hypocentralKm / 6.1, alongKm / 8 + 7.1 - Math.min(35, depthKm) * 0.1),
    sS: Math.min(hypocentralKm / 3.5, alongKm / 4.55 + 12.3 - Math.min(35, depthKm) * 0.18),
  };
}
