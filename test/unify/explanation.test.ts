import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestExplanation, explain, longestWindowS, type Quake } from '../../src/unify/event/explanation.js';
import { travelTimes } from '../../src/unify/geo/travel-time.js';
import { Instant } from '../../src/unify/time/instant.js';
import { date } from '../support/moments.js';

const originMs = Date.UTC(2026, 2, 8, 10);

function quake(fields: Partial<Quake> = {}): Quake {
  return {
    originTime: Instant.fromMs(date(originMs)),
    latitude: 34,
    longitude: -118,
    depthKm: 8,
    magnitude: 4,
    pickStations: [],
    ...fields,
  };
}

/** A station so many degrees north of 34° N, 118° W, which triggers so many seconds after 10:00. */
function station(degreesNorth: number, afterS: number) {
  return {
    position: { latitude: 34 + degreesNorth, longitude: -118 },
    stationCode: 'TEST',
    startTime: Instant.fromMs(date(originMs + afterS * 1000)),
  };
}

describe('an earthquake', () => {
  it('explains a trigger at P, at S and in the surface waves, and none before or after', () => {
    const { pS, sS, surfaceS } = travelTimes(111, 8);
    for (const afterS of [pS, sS, surfaceS]) expect(explain(quake(), station(1, afterS))).not.toBeNull();
    expect(explain(quake(), station(1, pS - 10))).toBeNull();
    expect(explain(quake(), station(1, surfaceS + 30))).toBeNull();
    expect(explain(quake(), station(3, pS))).toBeNull();
  });

  it('tells the distance and when P and S were due', () => {
    const explanation = explain(quake(), station(1, 19));
    expect(explanation?.distanceKm).toBeCloseTo(110.9, 0);
    expect(explanation?.pS).toBeCloseTo(19.1, 0);
    expect(explanation?.sS).toBeCloseTo(32, 0);
  });

  it('is found whatever its error of location, up to ten kilometres', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 20, noNaN: true }),
        fc.double({ min: -0.09, max: 0.09, noNaN: true }),
        fc.double({ min: 0, max: 600, noNaN: true }),
        (degrees, errorDegrees, depthKm) => {
          const { pS } = travelTimes(degrees * 111, depthKm);
          const seen = quake({ latitude: 34 + errorDegrees, depthKm, magnitude: null });
          expect(explain(seen, station(degrees, pS))).not.toBeNull();
        },
      ),
    );
  });

  it('does not explain what happens on the other side of the Earth when it is small', () => {
    const { pS } = travelTimes(50 * 111, 8);
    expect(explain(quake({ magnitude: 2.5 }), station(50, pS))).toBeNull();
    expect(explain(quake({ magnitude: 7 }), station(50, pS))).not.toBeNull();
  });

  it('explains nothing after its longest window', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 90, noNaN: true }),
        fc.double({ min: 0, max: 700, noNaN: true }),
        fc.option(fc.double({ min: -1, max: 9, noNaN: true })),
        (degrees, depthKm, magnitude) => {
          const seen = quake({ depthKm, magnitude });
          const late = longestWindowS(seen) + 0.1;
          expect(explain(seen, station(degrees, late))).toBeNull();
          const { sS } = travelTimes(degrees * 111, depthKm);
          if (explain(seen, station(degrees, sS))) expect(sS).toBeLessThan(late);
        },
      ),
    );
  });
});

describe('of several earthquakes', () => {
  it('the one whose P or S fits best explains a trigger', () => {
    const near = quake({ originTime: Instant.fromMs(date(originMs)) });
    const far = quake({ latitude: 24, magnitude: 6.5, originTime: Instant.fromMs(date(originMs - 180_000)) });
    const { pS } = travelTimes(111, 8);
    expect(bestExplanation([far, near], station(1, pS))?.quake).toBe(near);
    expect(bestExplanation([near, far], station(1, pS))?.quake).toBe(near);
  });

  it('the one that was picked at the station goes before one that fits a little better', () => {
    const fits = quake();
    const picked = quake({
      originTime: Instant.fromMs(date(originMs - 4000)),
      pickStations: ['OTHER', 'TEST'],
    });
    const { pS } = travelTimes(111, 8);
    expect(bestExplanation([fits, picked], station(1, pS))?.quake).toBe(picked);
  });

  it('none explains what fits none', () => {
    expect(bestExplanation([quake()], station(1, 3600))).toBeNull();
    expect(bestExplanation([], station(1, 19))).toBeNull();
  });
});
