import { depthsKm, distancesDeg, pTimesS, sTimesS } from './travel-time-table.js';

/** Arrival times of an earthquake's waves at a point, in seconds after the origin. */
export interface TravelTimes {
  readonly pS: number;
  readonly sS: number;
  /** End of the surface waves, at `slowestKmPerS`; never before S. */
  readonly surfaceS: number;
}

// Assumed: surface waves slower than this do not open a trigger. Group velocities of crustal Rayleigh waves at periods
// up to some tens of seconds lie between 2.5 and 4 km/s.
const slowestKmPerS = 2.5;

/** Length of one degree of arc on a sphere of the Earth's mean radius, 6371 km. */
const kmPerDegree = 111.195;

/**
 * First P and S in the Earth model AK135, by epicentral distance and depth. Depths are clamped to 0–700 km, the depth
 * range of earthquakes; null counts as 10 km, the depth that catalogues assign when it is unknown.
 */
export function travelTimes(distanceKm: number, depthKm: number | null): TravelTimes {
  const degrees = distanceKm / kmPerDegree;
  const depth = Math.min(700, Math.max(0, depthKm ?? 10));
  const pS = timeAt(pTimesS, degrees, depth);
  const sS = timeAt(sTimesS, degrees, depth);
  return { pS, sS, surfaceS: Math.max(sS, distanceKm / slowestKmPerS) };
}

function timeAt(table: readonly (readonly number[])[], degrees: number, depthKm: number): number {
  const column = intervalOf(depthsKm, depthKm);
  const row = intervalOf(distancesDeg, degrees);
  const [near, far] = [table[row.index], table[row.index + 1]].map((times) => {
    const [shallow = 0, deep = 0] = times?.slice(column.index) ?? [];
    return shallow + (deep - shallow) * column.fraction;
  });
  return between(near ?? 0, far ?? 0, row);
}

interface Interval {
  readonly index: number;
  /** 0 at the start of the interval, 1 at its end; greater than 1 beyond the last knot. */
  readonly fraction: number;
}

function between(near: number, far: number, { index, fraction }: Interval): number {
  // Near the epicentre, travel time against distance is a hyperbola: the ray is the hypotenuse of depth and distance.
  if (index === 0) return Math.sqrt(near ** 2 + (far ** 2 - near ** 2) * fraction ** 2);
  return near + (far - near) * fraction;
}

function intervalOf(knots: readonly number[], value: number): Interval {
  const above = knots.findIndex((knot) => knot > value);
  const index = above === -1 ? knots.length - 2 : Math.max(0, above - 1);
  const [start = 0, end = 1] = knots.slice(index);
  return { index, fraction: (value - start) / (end - start) };
}
