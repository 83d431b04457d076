import { minuteMs } from '../../../clock.js';
import { hashOf } from '../../random.js';
import type { Quake } from '../earthquakes.js';
import type { Station } from '../network.js';
import { pShare, type Shaking, shakingAt } from './shaking.js';
import type { WaveformSource } from './waveform.js';

/** Counts per mg of the accelerometers: 24 bits over ±2 g. */
export const countsPerMg = 4194;

/**
 * Records of the stations by their catalogue id: noise, and for each earthquake that they felt P, S and coda with the
 * same arrivals and peaks as its triggers. The same station, channel and time give the same sample.
 */
export function synthesis(stations: readonly Station[], quakes: readonly Quake[]): WaveformSource {
  const byId = new Map(stations.map((station) => [station.catalogueId, station]));
  return {
    rateHz,
    samples(sensorId, channel, firstIndex, count) {
      const station = byId.get(sensorId);
      // One sensor of the catalogue is a place without an instrument.
      if (!station || station.index === 45) return undefined;
      const motion = noise(hashOf(`${station.deviceId} ${channel}`), firstIndex, count);
      const startMs = (firstIndex / rateHz) * 1000;
      const endMs = startMs + (count / rateHz) * 1000;
      for (const quake of quakes) {
        if (quake.originMs > endMs || quake.originMs < startMs - longestMs) continue;
        const shaking = shakingAt(quake, station);
        if (shaking) addMotion(motion, shaking, channel, firstIndex);
      }
      return Int32Array.from(motion, Math.round);
    },
  };
}

const rateHz = 100;

// From the origin to the end of the coda at the farthest station.
const longestMs = 5 * minuteMs;

/** The instrument's own noise, and the sea's microseism with its periods of some 6 and 4 s. */
function noise(seed: number, firstIndex: number, count: number): Float64Array {
  const motion = new Float64Array(count);
  const [slow, fast] = [seed % slowSwell.length, seed % fastSwell.length];
  for (let at = 0; at < count; at++) {
    const index = firstIndex + at;
    // 32 bits hold 16 months of samples: the rest goes in separately.
    let hash =
      Math.imul((index >>> 0) ^ seed, 0x9e3779b1) ^ Math.imul(Math.floor(index / 2 ** 32) + 1, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash ^= hash >>> 13;
    const white = ((hash & 0xffff) + (hash >>> 16)) / 0xffff - 1;
    const swell =
      (slowSwell[(index + slow) % slowSwell.length] ?? 0) +
      (fastSwell[(index + fast) % fastSwell.length] ?? 0);
    motion[at] = 60 * white + swell;
  }
  return motion;
}

const swellOf = (samples: number, counts: number) =>
  Float64Array.from({ length: samples }, (_, index) => counts * Math.sin((2 * Math.PI * index) / samples));

const slowSwell = swellOf(613, 15);
const fastSwell = swellOf(431, 9);

function addMotion(motion: Float64Array, shaking: Shaking, channel: string, firstIndex: number): void {
  const { pMs, sMs, peakMs, endMs, peakHz } = shaking;
  const peakMg = channel === 'HNZ' ? shaking.hnzMg : channel === 'HNE' ? shaking.hneMg : shaking.hnnMg;
  const peak = peakMg * countsPerMg;
  // P arrives from below: it is felt most on the vertical.
  const early = peak * (channel === 'HNZ' ? 2 * pShare : pShare);
  const overtone = channel === 'HNZ' ? 1.9 : channel === 'HNE' ? 1.7 : 1.6;
  const fadeS = (endMs - sMs) / 4000;
  const riseS = (peakMs - sMs) / 1000;
  const first = Math.max(0, Math.ceil((pMs / 1000) * rateHz) - firstIndex);
  const last = Math.min(motion.length - 1, Math.floor((endMs / 1000) * rateHz) - firstIndex);
  for (let at = first; at <= last; at++) {
    const sinceP = (firstIndex + at) / rateHz - pMs / 1000;
    const sinceS = sinceP - (sMs - pMs) / 1000;
    // In phase at the strongest moment, so that the peak of the record is the peak of the trigger.
    const turn = 2 * Math.PI * peakHz * ((firstIndex + at) / rateHz - peakMs / 1000);
    let amplitude = early * (1 - Math.exp(-sinceP / 0.1)) * Math.exp(-sinceP / fadeS);
    if (sinceS > 0) {
      const strongest = (sinceS / riseS) * Math.exp(1 - sinceS / riseS);
      const coda = 0.12 * Math.min(1, sinceS / riseS) * Math.exp(-sinceS / fadeS);
      amplitude = Math.max(amplitude, peak * Math.max(strongest, coda));
    }
    motion[at] = (motion[at] ?? 0) + amplitude * (0.85 * Math.cos(turn) + 0.15 * Math.cos(overtone * turn));
  }
}
