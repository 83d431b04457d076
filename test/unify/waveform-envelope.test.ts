import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { envelopeOf } from '../../src/unify/waveform/envelope.js';

const gap = Number.NaN;
// Without -0, which is neither less nor more than 0.
const samplesOf = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);

describe('the envelope of a waveform', () => {
  it('has minimum and maximum of each of equal spans, every sample in exactly one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(samplesOf, fc.constant(gap)), {
          maxLength: 300,
        }),
        fc.integer({ min: 1, max: 400 }),
        (samples, points) => {
          const envelope = envelopeOf({ samples, sampleRateHz: 100 }, points);
          const spans = Math.min(points, samples.length);
          expect(envelope.points).toBe(spans);
          expect(envelope.min).toHaveLength(spans);
          const bounds = Array.from({ length: spans + 1 }, (_, span) =>
            Math.floor((span * samples.length) / spans),
          );
          for (let span = 0; span < spans; span++) {
            const part = samples
              .slice(bounds[span], bounds[span + 1])
              .filter((sample) => !Number.isNaN(sample));
            expect(envelope.min[span]).toBe(part.length === 0 ? gap : Math.min(...part));
            expect(envelope.max[span]).toBe(part.length === 0 ? gap : Math.max(...part));
          }
        },
      ),
    );
  });

  it('never has more points than there are samples, and none without any', () => {
    expect(envelopeOf({ samples: [5], sampleRateHz: 100 }, 1000)).toEqual({
      points: 1,
      secondsPerPoint: 0.01,
      min: [5],
      max: [5],
    });
    expect(envelopeOf({ samples: [], sampleRateHz: 100 }, 1000)).toEqual({
      points: 0,
      secondsPerPoint: 0,
      min: [],
      max: [],
    });
  });

  it('tells how long a span is', () => {
    const samples = Array.from({ length: 1000 }, (_, index) => index);
    expect(envelopeOf({ samples, sampleRateHz: 200 }, 10).secondsPerPoint).toBe(0.5);
  });
});
