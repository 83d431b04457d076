import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateIntensity } from '../../src/unify/trigger/intensity.js';

const fromPgaPercentG = (percent: number) => estimateIntensity({ pgaMg: percent * 10, pgvMmPerS: null });
const fromPgvCmPerS = (cm: number) => estimateIntensity({ pgaMg: null, pgvMmPerS: cm * 10 });

describe('estimated intensity', () => {
  // The legend of ShakeMap 4, 'Scale based on Worden et al. (2012)': peaks at which an intensity is expected.
  it.each([
    ['IV', 2.76, 1.41],
    ['V', 6.2, 4.65],
    ['VI', 11.5, 9.64],
    ['VII', 21.5, 20],
    ['VIII', 40.1, 41.4],
    ['IX', 74.7, 85.8],
    ['X', 139, 178],
  ])('is %s at the peaks that the ShakeMap legend gives for it', (roman, pgaPercentG, pgvCmPerS) => {
    const mmi = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X'].indexOf(roman) + 1;
    expect(fromPgaPercentG(pgaPercentG)?.roman).toBe(roman);
    expect(fromPgaPercentG(pgaPercentG)?.mmi).toBeCloseTo(mmi, 1);
    expect(fromPgvCmPerS(pgvCmPerS)?.roman).toBe(roman);
    expect(fromPgvCmPerS(pgvCmPerS)?.mmi).toBeCloseTo(mmi, 1);
  });

  it('is the larger of what acceleration and velocity tell', () => {
    const both = estimateIntensity({ pgaMg: 62, pgvMmPerS: 200 });
    expect(both).toEqual(fromPgvCmPerS(20));
    expect(estimateIntensity({ pgaMg: 62, pgvMmPerS: 0 })).toEqual(fromPgaPercentG(6.2));
  });

  it('has the words and the colours of the legend', () => {
    expect(fromPgaPercentG(2.76)).toMatchObject({ shaking: 'light', color: '#80FFFF' });
    expect(fromPgaPercentG(21.5)).toMatchObject({ shaking: 'very strong', color: '#FFC800' });
  });

  it('is null without peaks, and I at a peak of nothing', () => {
    expect(estimateIntensity({ pgaMg: null, pgvMmPerS: null })).toBeNull();
    expect(estimateIntensity({ pgaMg: 0, pgvMmPerS: null })).toMatchObject({
      mmi: 1,
      roman: 'I',
      shaking: 'not felt',
    });
  });

  it('stays between 1 and 10 and grows with the peaks', () => {
    const peaks = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(peaks, peaks, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((pgaMg) =>
          estimateIntensity({ pgaMg, pgvMmPerS: null }),
        );
        expect(low?.mmi).toBeGreaterThanOrEqual(1);
        expect(high?.mmi).toBeLessThanOrEqual(10);
        expect(low?.mmi).toBeLessThanOrEqual(high?.mmi ?? 0);
      }),
    );
  });
});
