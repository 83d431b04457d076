import type { Waveform } from './waveform.js';

/** Minimum and maximum per span of equal length, for drawing. No extreme value of the samples is lost. */
export interface WaveformEnvelope {
  /** At most the number of samples. */
  readonly points: number;
  readonly secondsPerPoint: number;
  /** NaN for a span that lies wholly in a gap: gaps are not interpolated. */
  readonly min: readonly number[];
  readonly max: readonly number[];
}

/** Every sample is in exactly one span, and span lengths differ by at most one sample. `points` must be at least 1. */
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
      // Comparisons with NaN are false, so gaps are skipped.
      if (sample < low) low = sample;
      if (sample > high) high = sample;
    }
    min[span] = low > high ? Number.NaN : low;
    max[span] = low > high ? Number.NaN : high;
  }
  return { points: spans, secondsPerPoint: spans === 0 ? 0 : count / spans / sampleRateHz, min, max };
}
