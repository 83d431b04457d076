import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { travelTimes } from '../../src/unify/geo/travel-time.js';

const kmPerDegree = 111.195;

describe('travel times', () => {
  // Values of the AK135 tables (Kennett 2005) that are not among the rows and columns kept here.
  it.each([
    [5, 0, 76.27, 134.76],
    [5, 250, 75.74, 136.12],
    [9, 150, 126.66, 226.52],
    [15, 35, 209.32, 374.24],
    [24, 350, 284.23, 514.95],
    [45, 0, 497.1, 896.6],
    [65, 550, 586.03, 1065.22],
    [85, 50, 750.01, 1375.23],
    [110, 0, 871.5, 1606.26],
  ])(
    'at %i° from a source %i km deep are within two seconds of the published ones',
    (degrees, depthKm, p, s) => {
      const times = travelTimes(degrees * kmPerDegree, depthKm);
      expect(Math.abs(times.pS - p)).toBeLessThan(2);
      expect(Math.abs(times.sS - s)).toBeLessThan(2);
    },
  );

  it('are those of the upper crust near a shallow source: 5.8 and 3.46 km/s', () => {
    const { pS, sS } = travelTimes(20, 0);
    expect(pS).toBeCloseTo(20 / 5.8, 1);
    expect(sS).toBeCloseTo(20 / 3.46, 1);
  });

  it('bring P before S before the slow end of the surface waves, later with distance', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 20_000, noNaN: true }),
        fc.double({ min: -5, max: 800, noNaN: true }),
        (km, depthKm) => {
          const here = travelTimes(km, depthKm);
          const there = travelTimes(km + 50, depthKm);
          expect(here.pS).toBeLessThanOrEqual(here.sS);
          expect(here.sS).toBeLessThanOrEqual(here.surfaceS);
          expect(there.pS).toBeGreaterThanOrEqual(here.pS);
          expect(there.sS).toBeGreaterThanOrEqual(here.sS);
        },
      ),
    );
  });
});
