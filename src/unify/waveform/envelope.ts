import type { Waveform } from './waveform.js';

/** Minimum and maximum of each of equal spans, for drawing: the extremes of all samples are among them. */
export interface WaveformEnvelope {
  /** Never more than there are samples. */
  readonly points: number;
  readonly secondsPerPoint: number;
  /** NaN for a span in which there is nothing but a gap: it is not bridged. */
  readonly min: readonly number[];
  readonly max: readonly number[];
}

/** Spans differ by one sample at most, and every sample is in exactly one. `points` from 1. */
export function envelopeOf(
  { samples, sampleRateHz }: Pick<Waveform, 'samples' | 'sampleRateHz'>,
  points: number,
): WaveformEnvelope {
  const count = samples.length;
  const spans = Math.min(points, count);
  const min = new Array<number>(spans);
  const max = new Array<number>(spans);
  let index = 0;
  for (let span = 0; span < spans; span++) {
    const end = Math.floor(((span + 1) * count) / spans);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (; index < end; index++) {
      const sample = samples[index] as number;
      // NaN is neither less nor more than anything.
      if (sample < low) low = sample;
      if (sample > high) high = sample;
    }
    min[span] = low > high ? Number.NaN : low;
    max[span] = low > high ? Number.NaN : high;
  }
  return { points: spans, secondsPerPoint: spans === 0 ? 0 : count / spans / sampleRateHz, min, max };
}
