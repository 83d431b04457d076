import { minuteMs } from '../../clock.js';
import type { ProjectTrigger } from '../project/records.js';
import { randomOf } from '../random.js';
import { textOf } from '../time.js';
import type { Quake } from './earthquakes.js';
import { pShare, type Shaking, shakingAt } from './motion/shaking.js';
import type { Station } from './network.js';

/** A recording from its start to its end, of which the interface shows what is known by then. */
export interface TriggerPlan {
  readonly station: Station;
  readonly startMs: number;
  readonly endMs: number;
  /** Data can be a few seconds behind (docs/interfaces.md P1), and now and then minutes. */
  readonly shownFromMs: number;
  readonly shownClosedFromMs: number;
  readonly shaking: Pick<Shaking, 'sMs' | 'peakMs' | 'hneMg' | 'hnnMg' | 'hnzMg' | 'ehzMmS' | 'peakHz'>;
}

/** The recording that the earthquake starts at this station, if it does. */
export function quakeTrigger(quake: Quake, station: Station): TriggerPlan | undefined {
  const shaking = shakingAt(quake, station);
  if (!shaking) return undefined;
  const random = randomOf('trigger', quake.originMs, station.deviceId);
  // A weak P wave goes unnoticed; the S wave then starts the recording.
  const startMs = (shaking.ehzMmS * pShare > 0.004 ? shaking.pMs : shaking.sMs) + random.between(50, 300);
  const shownFromMs =
    startMs + (random.chance(0.04) ? random.between(minuteMs, 200_000) : random.between(800, 2500));
  return {
    station,
    startMs,
    endMs: shaking.endMs,
    shownFromMs,
    shownClosedFromMs: Math.max(shownFromMs, shaking.endMs + random.between(800, 2500)),
    shaking,
  };
}

/** A lorry, a door, a blast: a short recording without an earthquake. A rare one does not end for a quarter of an hour. */
export function noiseTrigger(seed: number, index: number, startMs: number, station: Station): TriggerPlan {
  const random = randomOf('noise trigger', seed, index);
  const strong = 0.2 + random.exponential(1.5);
  const endMs = startMs + (random.chance(0.04) ? 15 * minuteMs : random.between(6000, 20_000));
  return {
    station,
    startMs,
    endMs,
    shownFromMs: startMs + 1500,
    shownClosedFromMs: endMs + 1500,
    shaking: {
      sMs: startMs,
      peakMs: startMs + random.between(300, 2000),
      hneMg: strong,
      hnnMg: strong * random.between(0.5, 1),
      hnzMg: strong * random.between(0.3, 1.4),
      ehzMmS: strong * random.between(0.02, 0.08),
      peakHz: random.between(8, 24),
    },
  };
}

/** The record as of `nowMs`: values grow with the motion, and are final once closed (docs/interfaces.md P3). */
export function triggerRecord(plan: TriggerPlan, id: number, nowMs: number): ProjectTrigger {
  const { station, shaking, startMs, endMs } = plan;
  const isClosed = nowMs >= plan.shownClosedFromMs;
  const knownMs = isClosed ? endMs : Math.min(endMs, nowMs - 800);
  const share = shareOfPeak(shaking, startMs, knownMs);
  // The peak of the resultant: below the root of the sum of squares, as the two do not peak together.
  const horizontal = 0.93 * Math.hypot(shaking.hneMg, shaking.hnnMg);
  const hasMoved = station.role === 'moved';
  return {
    id,
    device_id: station.deviceId,
    station: hasMoved ? null : station.code,
    location_name: station.siteName,
    start_time: textOf(startMs),
    end_time: isClosed ? textOf(endMs) : null,
    peak_time: textOf(Math.max(startMs, Math.min(shaking.peakMs, knownMs))),
    pga_horizontal_mg: round(horizontal * share, 3),
    pga_hne_mg: round(shaking.hneMg * share, 3),
    pga_hnn_mg: round(shaking.hnnMg * share, 3),
    pga_hnz_mg: round(shaking.hnzMg * share, 3),
    pgv_ehz_mm_s: round(shaking.ehzMmS * share, 5),
    // A geophone and digitiser of 399,650 counts per mm/s.
    peak_ehz_counts: Math.round(shaking.ehzMmS * share * 399_650),
    peak_hz: round(shaking.peakHz, 2),
    status: isClosed ? 'closed' : 'open',
  };
}

function shareOfPeak({ sMs, peakMs }: TriggerPlan['shaking'], startMs: number, knownMs: number): number {
  if (knownMs >= peakMs) return 1;
  const rise = (ms: number, fromMs: number, overMs: number) =>
    Math.min(1, Math.max(0.05, (ms - fromMs) / overMs));
  const early = pShare * rise(knownMs, startMs, 1500);
  return knownMs < sMs ? early : Math.max(early, rise(knownMs, sMs, peakMs - sMs));
}

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;
