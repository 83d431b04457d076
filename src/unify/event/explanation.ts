import { plus, type UnixMs } from '../../clock.js';
import { distanceKm, type Point } from '../geo/geodesy.js';
import { travelTimes } from '../geo/travel-time.js';
import type { Instant } from '../time/instant.js';
import type { Span } from '../time/spans.js';

/** The values of an earthquake that decide if it explains a trigger. */
export interface Quake extends Point {
  readonly originTime: Instant;
  readonly depthKm: number | null;
  readonly magnitude: number | null;
  /** Codes of stations where the project picked a phase of the event. */
  readonly pickStations: readonly string[] | null;
}

/** The station of a trigger at its public position, which masking moves by up to 1 km. */
export interface TriggeredStation {
  readonly position: Point;
  readonly stationCode: string | null;
  readonly startTime: Instant;
}

export interface Explanation {
  readonly distanceKm: number;
  /** Expected arrivals of P and S, in seconds after the origin. */
  readonly pS: number;
  readonly sS: number;
  /**
   * Distance in time of the trigger from P or S, in units of the standard error of the model; smaller is more likely.
   */
  readonly misfit: number;
}

// Assumed: an epicentre is known to 10 km, a masked station to 1 km, an origin time and the start of a trigger to 5 s,
// and the model is within 1 % of the true travel time.
const locationErrorKm = 11;
const timeErrorS = 5;
const modelError = 0.01;
// The slowest P and the slowest surface waves: seconds that a kilometre of location error adds at either end of the
// window.
const pSlownessSPerKm = 1 / 5.8;
const surfaceSlownessSPerKm = 1 / 2.5;
const earliestErrorS = timeErrorS + locationErrorKm * pSlownessSPerKm;

/**
 * How an earthquake explains a trigger (docs/behaviour.md 6.7). Null when the trigger does not start between P and the
 * surface waves at its distance, with tolerance for errors of location and time.
 */
export function explain(quake: Quake, station: TriggeredStation): Explanation | null {
  const afterOriginS = (station.startTime.ms - quake.originTime.ms) / 1000;
  // Most pairs are ruled out by time alone, without a geodesic.
  if (afterOriginS < -earliestErrorS || afterOriginS > longestWindowS(quake)) return null;
  const km = distanceKm(quake, station.position);
  if (km > farthestKm(quake.magnitude)) return null;
  const { pS, sS, surfaceS } = travelTimes(km, quake.depthKm);
  const earliestS = pS * (1 - modelError) - earliestErrorS;
  const latestS = surfaceS * (1 + modelError) + timeErrorS + locationErrorKm * surfaceSlownessSPerKm;
  if (afterOriginS < earliestS || afterOriginS > latestS) return null;
  const residualS = Math.min(Math.abs(afterOriginS - pS), Math.abs(afterOriginS - sS));
  const picked = station.stationCode !== null && quake.pickStations?.includes(station.stationCode) === true;
  return {
    distanceKm: km,
    pS,
    sS,
    misfit: residualS / (timeErrorS + sS * modelError) + (picked ? 0 : unpicked),
  };
}

// A pick at the station is worth as much as two standard errors of time.
const unpicked = 2;

/** The best explanation of the trigger; of two equally good ones, the earlier earthquake. */
export function bestExplanation<Q extends Quake>(
  quakes: readonly Q[],
  station: TriggeredStation,
): { readonly quake: Q; readonly explanation: Explanation } | null {
  let best: { quake: Q; explanation: Explanation } | null = null;
  for (const quake of quakes) {
    const explanation = explain(quake, station);
    if (!explanation) continue;
    const order = best
      ? explanation.misfit - best.explanation.misfit || quake.originTime.compare(best.quake.originTime)
      : -1;
    if (order < 0) best = { quake, explanation };
  }
  return best;
}

/** Half the circumference of the Earth, in kilometres. */
const antipodeKm = 20_040;

/**
 * Assumed: an earthquake opens no trigger farther away than twice the distance at which a small geophone tells it from
 * noise: magnitude 1 within 60 km, 2 within 200 km, 4 within 2,000 km. Without a bound, every small earthquake would
 * explain noise on the other side of the Earth. An unknown magnitude has no bound.
 */
function farthestKm(magnitude: number | null): number {
  return magnitude === null ? antipodeKm : Math.min(antipodeKm, 10 ** (0.5 * magnitude + 1.3));
}

/** Longest time, in seconds after the origin, at which the earthquake can explain a trigger at any distance. */
export function longestWindowS({ magnitude }: Pick<Quake, 'magnitude'>): number {
  const km = farthestKm(magnitude) + locationErrorKm;
  return km * surfaceSlownessSPerKm * (1 + modelError) + timeErrorS + slowestFromBelowS;
}

/** Origin times, in Unix milliseconds, of all earthquakes that could explain a trigger that started then. */
export function originsThatMayExplain(startMs: UnixMs): Span {
  return {
    fromMs: plus(startMs, -longestWindowS({ magnitude: null }) * 1000),
    toMs: plus(startMs, earliestErrorS * 1000),
  };
}

/** Start times, in Unix milliseconds, of all triggers that an earthquake could explain. */
export function startsThatMayBeExplained(quake: Quake): Span {
  const originMs = quake.originTime.ms;
  return {
    fromMs: plus(originMs, -earliestErrorS * 1000),
    toMs: plus(originMs, longestWindowS(quake) * 1000),
  };
}

// S from a depth of 700 km directly below arrives later than the surface waves of a shallow source nearby.
const slowestFromBelowS = 150;
