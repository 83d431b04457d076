import { randomOf } from '../../random.js';
import type { Quake } from '../earthquakes.js';
import type { Station } from '../network.js';
import { groundMotion } from './ground-motion.js';
import { type TravelTimes, travelTimes } from './travel-time.js';

/** Shaking of an earthquake at a station: the one source of triggers, arrivals and waveforms, so that they agree. */
export interface Shaking extends TravelTimes {
  readonly pMs: number;
  readonly sMs: number;
  /** When the strongest motion passes. */
  readonly peakMs: number;
  /** Until the coda is lost in the noise. */
  readonly endMs: number;
  readonly hneMg: number;
  readonly hnnMg: number;
  readonly hnzMg: number;
  readonly ehzMmS: number;
  readonly peakHz: number;
}

/** Undefined where the motion is too weak for the sensor to notice. */
export function shakingAt(quake: Quake, station: Station): Shaking | undefined {
  // Beyond this nothing the network can feel: saves the arithmetic for most of the world's earthquakes.
  if (Math.abs(quake.latitude - station.latitude) > 5) return undefined;
  const times = travelTimes(quake, station);
  const median = groundMotion(quake.magnitude, times.hypocentralKm);
  // Three and a half times the scatter: whatever comes of it below, this is too weak.
  if (median.pgvMmS * 6 < weakestMmS) return undefined;
  const random = randomOf('shaking', quake.originMs, station.deviceId);
  // Atkinson (2015): scatter within an event of 0.28 in log10 for acceleration.
  const site = 10 ** (0.28 * random.gaussian());
  const ehzMmS = median.pgvMmS * site * 0.6;
  if (ehzMmS < weakestMmS) return undefined;
  const strong = median.pgaMg * site;
  const weak = strong * random.between(0.6, 0.95);
  const isEastStronger = random.chance(0.5);
  const sMs = quake.originMs + times.sS * 1000;
  return {
    ...times,
    pMs: quake.originMs + times.pS * 1000,
    sMs,
    peakMs: sMs + 400 + 60 * times.sS,
    endMs: sMs + 1000 * (8 + 5 * quake.magnitude + 0.08 * times.distanceKm),
    hneMg: isEastStronger ? strong : weak,
    hnnMg: isEastStronger ? weak : strong,
    hnzMg: strong * random.between(0.4, 0.7),
    ehzMmS,
    peakHz: Math.max(1, random.between(7, 14) - 1.4 * quake.magnitude - 0.01 * times.distanceKm),
  };
}

/** Share of the S peak that the P wave reaches. */
export const pShare = 0.25;

// Mm/s on the vertical geophone: about ten times a quiet site's noise.
const weakestMmS = 0.004;
