import { dayMs, minuteMs } from '../../clock.js';
import { randomOf } from '../random.js';
import type { Station } from './network.js';

/** When a sensor was started and last heard of, as a function of time: nothing of it needs to be stored. */
export interface Presence {
  /** Start of the cycle (power on, then silence) that contains `ms`. */
  startedMs(ms: number): number;
  /** The last heartbeat at or before `ms`. */
  lastHeardMs(ms: number): number;
  /** True while the sensor has power and a link. */
  isUp(ms: number): boolean;
  /** Length of a cycle. */
  readonly periodMs: number;
}

export function presenceOf(station: Station, seed: number): Presence {
  const random = randomOf('presence', seed, station.deviceId);
  const [periodMs, downMs] = cycleOf(station.index, random);
  const phaseMs = Math.floor(random.next() * periodMs);
  const reportEveryMs = random.integer(18, 44) * 1000;
  const startedMs = (ms: number) => Math.floor((ms - phaseMs) / periodMs) * periodMs + phaseMs;
  return {
    periodMs,
    startedMs,
    isUp: (ms) => ms - startedMs(ms) < periodMs - downMs,
    lastHeardMs: (ms) => {
      const elapsedMs = Math.min(ms - startedMs(ms), periodMs - downMs);
      return startedMs(ms) + Math.floor(elapsedMs / reportEveryMs) * reportEveryMs;
    },
  };
}

function cycleOf(index: number, random: ReturnType<typeof randomOf>): [periodMs: number, downMs: number] {
  // One in eight comes and goes within the hour; one in twenty has been silent for weeks; the rest restarts now and then.
  if (index % 8 === 1) return [random.integer(12, 40) * minuteMs, random.integer(4, 8) * minuteMs];
  if (index % 20 === 19) return [200 * dayMs, 199 * dayMs];
  return [random.integer(3 * 24, 60 * 24) * 60 * minuteMs, random.integer(40, 100) * 1000];
}
