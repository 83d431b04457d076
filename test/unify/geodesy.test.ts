import fc from 'fast-check';
import geodesic from 'geographiclib-geodesic';
import { describe, expect, it } from 'vitest';
import {
  type Box,
  boxAround,
  boxContains,
  distanceKm,
  normaliseLongitude,
  splitBox,
  withinRadius,
} from '../../src/unify/geo/geodesy.js';

const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const anyLongitude = fc.double({ min: -540, max: 540, noNaN: true });
const point = fc.record({ latitude, longitude });

describe('distance', () => {
  it('is the length of the geodesic on WGS 84', () => {
    // A degree of the equator and a quarter of the meridian, from the definition of the ellipsoid.
    expect(distanceKm({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 })).toBeCloseTo(
      111.319491,
      6,
    );
    expect(distanceKm({ latitude: 0, longitude: 0 }, { latitude: 90, longitude: 0 })).toBeCloseTo(
      10001.965729,
      6,
    );
    // Karney's example: JFK to LHR.
    const jfk = { latitude: 40.6, longitude: -73.8 };
    const lhr = { latitude: 51.6, longitude: -0.5 };
    expect(distanceKm(jfk, lhr)).toBeCloseTo(5551.759400319, 6);
  });

  it('is short across the antimeridian and around a pole', () => {
    const west = { latitude: 0, longitude: 179.5 };
    const east = { latitude: 0, longitude: -179.5 };
    expect(distanceKm(west, east)).toBeCloseTo(111.319491, 6);
    const near = { latitude: 89.5, longitude: 0 };
    expect(distanceKm(near, { latitude: 89.5, longitude: 180 })).toBeCloseTo(2 * 55.847, 2);
  });

  it('is 0 to itself, also written with a longitude beyond 180', () => {
    expect(distanceKm({ latitude: 0, longitude: -170 }, { latitude: 0, longitude: 190 })).toBe(0);
    expect(distanceKm({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 0 })).toBe(0);
  });
});

describe('longitude', () => {
  it('is brought between -180 and 180, its own ends kept', () => {
    expect([180, -180, 190, -190, 540, -540, 360, 0, -0.5].map(normaliseLongitude)).toEqual([
      180, -180, -170, 170, 180, -180, 0, 0, -0.5,
    ]);
  });

  it('stays the same meridian', () => {
    fc.assert(
      fc.property(anyLongitude, (value) => {
        const normal = normaliseLongitude(value);
        expect(Math.abs(normal)).toBeLessThanOrEqual(180);
        expect(Math.abs(Math.sin(((normal - value) * Math.PI) / 360))).toBeLessThan(1e-9);
      }),
    );
  });
});

describe('box', () => {
  const box = fc
    .record({ a: latitude, b: latitude, minLongitude: anyLongitude, maxLongitude: anyLongitude })
    .map(
      ({ a, b, ...edges }): Box => ({ minLatitude: Math.min(a, b), maxLatitude: Math.max(a, b), ...edges }),
    );

  it('contains both sides of the antimeridian when it crosses it, and not the rest of the world', () => {
    const pacific = { minLongitude: 175, maxLongitude: -175, minLatitude: -30, maxLatitude: 30 };
    const inside = [179.5, -179.5, 180, -180, 175, -175].map((value) => ({ latitude: 0, longitude: value }));
    expect(inside.every((place) => boxContains(pacific, place))).toBe(true);
    expect(boxContains(pacific, { latitude: 0, longitude: 0 })).toBe(false);
    expect(boxContains(pacific, { latitude: 31, longitude: 179.5 })).toBe(false);
  });

  it('holds places at 0, on its edges and of no extent', () => {
    const origin = { minLongitude: 0, maxLongitude: 0, minLatitude: 0, maxLatitude: 0 };
    expect(boxContains(origin, { latitude: 0, longitude: 0 })).toBe(true);
    expect(boxContains(origin, { latitude: 0, longitude: 0.001 })).toBe(false);
  });

  it('is the same box whether its edges are written beyond 180 or not', () => {
    const there = { minLongitude: 170, maxLongitude: 190, minLatitude: -10, maxLatitude: 10 };
    expect(boxContains(there, { latitude: 0, longitude: -175 })).toBe(true);
    expect(boxContains(there, { latitude: 0, longitude: 169 })).toBe(false);
    expect(
      boxContains({ ...there, minLongitude: -180, maxLongitude: 180 }, { latitude: 0, longitude: 12 }),
    ).toBe(true);
  });

  it('contains what lies east of its western edge by no more than its width', () => {
    const eastOf = (from: number, to: number) => (((to - from) % 360) + 360) % 360;
    // Whole degrees, so that this arithmetic is exact on the edges too.
    const edge = fc.integer({ min: -540, max: 540 });
    const place = fc.integer({ min: -180, max: 180 });
    fc.assert(
      fc.property(edge, edge, place, (minLongitude, maxLongitude, value) => {
        const width = maxLongitude - minLongitude >= 360 ? 360 : eastOf(minLongitude, maxLongitude);
        const region = { minLongitude, maxLongitude, minLatitude: -1, maxLatitude: 1 };
        const isInside = boxContains(region, { latitude: 0, longitude: value });
        expect(isInside).toBe(eastOf(minLongitude, value) <= width);
      }),
      { numRuns: 1000 },
    );
  });

  it('is split into boxes that hold the same places and do not cross the antimeridian', () => {
    fc.assert(
      fc.property(box, point, (region, place) => {
        const parts = splitBox(region);
        expect(parts.length).toBeLessThanOrEqual(2);
        for (const part of parts) {
          expect(part.minLongitude).toBeLessThanOrEqual(part.maxLongitude);
          expect(part.minLongitude).toBeGreaterThanOrEqual(-180);
          expect(part.maxLongitude).toBeLessThanOrEqual(180);
        }
        expect(parts.some((part) => boxContains(part, place))).toBe(boxContains(region, place));
      }),
    );
  });
});

describe('radius', () => {
  it('may contain a pole', () => {
    const arctic = { latitude: 89, longitude: 10, radiusKm: 300 };
    expect(withinRadius(arctic, { latitude: 89, longitude: -170 })).toBe(true);
    expect(withinRadius(arctic, { latitude: 87, longitude: -170 })).toBe(false);
  });

  it('contains exactly the places that are no farther away', () => {
    // Also circles whose edge runs close by the place.
    const share = fc.oneof(
      fc.double({ min: 0.98, max: 1.02, noNaN: true }),
      fc.double({ min: 0, max: 3, noNaN: true }),
    );
    fc.assert(
      fc.property(point, point, share, (centre, place, ofDistance) => {
        const distance = distanceKm(centre, place);
        const radiusKm = distance * ofDistance;
        // Less than a micrometre is lost in the arithmetic of either.
        fc.pre(radiusKm > 1e-9);
        expect(withinRadius({ ...centre, radiusKm }, place)).toBe(distance <= radiusKm);
      }),
      { numRuns: 3000 },
    );
  });

  it('lies inside the box around it', () => {
    const radius = fc.oneof(
      fc.double({ min: 0.01, max: 500, noNaN: true }),
      fc.double({ min: 500, max: 20_000, noNaN: true }),
    );
    const azimuth = fc.double({ min: 0, max: 360, noNaN: true });
    fc.assert(
      fc.property(point, radius, azimuth, (centre, radiusKm, degrees) => {
        const onCircle = geodesic.Geodesic.WGS84.Direct(
          centre.latitude,
          centre.longitude,
          degrees,
          radiusKm * 1000,
        );
        const place = { latitude: onCircle.lat2 ?? 0, longitude: onCircle.lon2 ?? 0 };
        expect(boxContains(boxAround({ ...centre, radiusKm }), place)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('has a box around it that is not much larger', () => {
    const around = boxAround({ latitude: 34, longitude: -118, radiusKm: 100 });
    expect(around.maxLatitude - around.minLatitude).toBeLessThan(1.9);
    expect(around.maxLongitude - around.minLongitude).toBeLessThan(2.3);
  });
});
