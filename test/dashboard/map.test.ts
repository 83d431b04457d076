import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SensorItem, TriggerItem } from '../../examples/dashboard/src/data/world.js';
import { clustered, type StationMark } from '../../examples/dashboard/src/map/clusters.js';
import { repeated } from '../../examples/dashboard/src/map/draw.js';
import { litSensors } from '../../examples/dashboard/src/map/lit.js';
import { placedNames } from '../../examples/dashboard/src/map/names.js';
import { unwound } from '../../examples/dashboard/src/map/unwound.js';
import {
  isPolar,
  moved,
  type Place,
  placementOf,
  pointIn,
  projectionOf,
  viewOf,
  zoomed,
} from '../../examples/dashboard/src/map/view.js';

const size = { width: 1_000, height: 600 };

const sensor = (id: string, status: SensorItem['status'] = 'ONLINE') =>
  ({ id, stationCode: id, status }) as SensorItem;

/** On a lattice that fills the map. */
const crowd = (count: number, isOffline: (i: number) => boolean = () => false): StationMark[] =>
  Array.from({ length: count }, (_, i) => ({
    x: (i % 100) * 10,
    y: Math.floor(i / 100) * 6,
    sensor: sensor(`S${i}`, isOffline(i) ? 'OFFLINE' : 'ONLINE'),
  }));

describe('stations that cannot be told apart', () => {
  it('are joined, and each of 10,000 is a single or counted once', () => {
    const { singles, clusters } = clustered(
      crowd(10_000, (i) => i % 10 === 0),
      [3, 5],
      new Set(),
    );
    expect(clusters.length).toBeGreaterThan(0);
    // So few that a frame has time for them.
    expect(singles.length + clusters.length).toBeLessThan(1_000);
    const sum = (values: readonly number[]) => values.reduce((one, other) => one + other, 0);
    expect(singles.length + sum(clusters.map(({ count }) => count))).toBe(10_000);
    const offline = singles.filter((mark) => mark.sensor.status === 'OFFLINE').length;
    expect(offline + sum(clusters.map((cluster) => cluster.offline))).toBe(1_000);
  });

  it('stay apart where they are few, and where they shake', () => {
    expect(clustered(crowd(400), [0, 0], new Set())).toEqual({ singles: crowd(400), clusters: [] });
    const { singles, clusters } = clustered(crowd(10_000), [0, 0], new Set(['S4711']));
    expect(singles.map((mark) => mark.sensor.id)).toContain('S4711');
    expect(singles.length + clusters.reduce((all, { count }) => all + count, 0)).toBe(10_000);
  });

  it('are in the same clusters while the map is dragged', () => {
    const counts = (right: number) =>
      clustered(
        crowd(5_000).map((mark) => ({ ...mark, x: mark.x + right })),
        [7 + right, 11],
        new Set(),
      ).clusters.map(({ count }) => count);
    expect(counts(13)).toEqual(counts(0));
  });
});

describe('stations that shake', () => {
  it('are lit while it is known that their triggers are open, and a minute longer', () => {
    const startMs = Date.parse('2026-11-30T00:00:00Z');
    const triggers = [
      { sensor: { id: 'S1' }, status: 'OPEN', startTime: new Date(startMs).toISOString() } as TriggerItem,
    ];
    const litAt = (nowMs: number, asOfMs: number) => [...litSensors(triggers, nowMs, asOfMs).keys()];
    expect(litAt(startMs + 600_000, startMs + 600_000)).toEqual(['S1']);
    expect(litAt(startMs + 600_000, startMs + 590_000)).toEqual(['S1']);
    expect(litAt(startMs + 600_000, startMs + 10_000)).toEqual([]);
  });
});

describe('the names of stations', () => {
  it('are cut off by no edge of what is seen of the canvas, and are few where few marks are seen', () => {
    const seen = { x: 895, y: 300, text: 'SEEN', radius: 6 };
    const crowd = Array.from({ length: 200 }, (_, i) => ({ x: i % 50, y: 3 * i, text: `X${i}`, radius: 6 }));
    expect(placedNames([seen, ...crowd], size, 100)).toEqual([
      { text: 'SEEN', x: expect.closeTo(857.2, 3), y: 300 },
    ]);
  });

  it('lie over no other name and no mark, whatever lies where', () => {
    const mark = fc.record({ x: fc.integer({ min: 0, max: 400 }), y: fc.integer({ min: 0, max: 300 }) });
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 60 }), (marks) => {
        const named = marks.map((one, i) => ({ ...one, text: `ST${i}`, radius: 6 }));
        const names = placedNames(named, { width: 400, height: 300 });
        const boxes = names.map(({ x, y, text }) => ({ x, y, right: x + text.length * 7.2 }));
        for (const [i, one] of boxes.entries()) {
          for (const other of boxes.slice(i + 1)) {
            const isApart = one.right <= other.x || other.right <= one.x || Math.abs(one.y - other.y) >= 14;
            expect(isApart).toBe(true);
          }
          for (const { x, y } of marks) {
            expect(x + 6 <= one.x || x - 6 >= one.right || Math.abs(y - one.y) >= 13).toBe(true);
          }
        }
      }),
    );
  });

  it('go to the other side where there is no room, the first of the list first', () => {
    const marks = [
      { x: 100, y: 100, text: 'AAAA', radius: 6 },
      { x: 130, y: 100, text: 'BBBB', radius: 6 },
    ];
    expect(placedNames(marks, size).map(({ text, x, y }) => [text, x > 100, y])).toEqual([
      ['AAAA', false, 100],
      ['BBBB', true, 100],
    ]);
  });
});

const place = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -84, max: 84, noNaN: true }),
});
const view = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -89, max: 89, noNaN: true }),
  scale: fc.double({ min: 100, max: 100_000, noNaN: true }),
});

describe('the view of the map', () => {
  it('puts a place where the projection puts it', () => {
    fc.assert(
      fc.property(view, place, (one, at) => {
        const [x = 0, y = 0] = projectionOf(one, size)([at.longitude, at.latitude]) ?? [];
        const [quickX, quickY] = pointIn(one, size)(at);
        // On the opposite meridian either edge is right.
        fc.pre(Math.abs(Math.abs(at.longitude - one.longitude) - 180) > 1e-6);
        expect(quickX).toBeCloseTo(x, 3);
        expect(quickY).toBeCloseTo(y, 3);
      }),
    );
  });

  it.each<[string, readonly Place[]]>([
    [
      'a country',
      [
        { longitude: -120, latitude: 32 },
        { longitude: -114, latitude: 38 },
      ],
    ],
    [
      'both sides of the antimeridian',
      [
        { longitude: 178, latitude: -38 },
        { longitude: -177, latitude: -18 },
      ],
    ],
    ['the south pole', [0, 90, 180, -90].map((longitude) => ({ longitude, latitude: -86 }))],
    ['the Arctic', [-20, 40, 100, 170].map((longitude) => ({ longitude, latitude: 78 }))],
    ['a pole itself', [{ longitude: 0, latitude: 90 }]],
  ])('shows all stations of %s', (_, places) => {
    const fitting = viewOf(places, size);
    const points = places.map(pointIn(fitting, size));
    for (const [x, y] of points) {
      expect(x).toBeGreaterThan(0);
      expect(x).toBeLessThan(size.width);
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(size.height);
    }
    // And not from farther away than it takes.
    const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
    const filled = Math.max(
      spread(points.map(([x]) => x)) / size.width,
      spread(points.map(([, y]) => y)) / size.height,
    );
    if (places.length > 1) expect(filled).toBeGreaterThan(0.4);
  });

  it('is dragged to the pole without a jump, and turned about it there', () => {
    let now = { longitude: 20, latitude: 60, scale: 400 };
    for (let step = 0; step < 40; step++) {
      const before = now;
      now = moved(now, 0, 40);
      expect(now.latitude - before.latitude).toBeLessThan(12);
      expect(now.latitude).toBeGreaterThanOrEqual(before.latitude);
      expect(now.longitude).toBeCloseTo(20, 6);
    }
    expect(now.latitude).toBe(90);
    expect(isPolar(now)).toBe(true);
    expect(moved(now, 40, 0)).toMatchObject({ latitude: 90, longitude: expect.closeTo(12.2, 0) });
  });

  it('is placed anew instead of drawn again while it is moved, also over the antimeridian', () => {
    const far = fc.integer({ min: -150, max: 150 });
    const flat = fc.record({
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
      latitude: fc.double({ min: -50, max: 50, noNaN: true }),
      scale: fc.double({ min: 1_000, max: 100_000, noNaN: true }),
    });
    const factor = fc.double({ min: 0.7, max: 1.4, noNaN: true });
    fc.assert(
      fc.property(flat, far, far, factor, far, far, (before, right, down, by, x, y) => {
        const after = zoomed(moved(before, right, down), by, size, 700, 200);
        const [longitude = 0, latitude = 0] = projectionOf(before, size).invert?.([500 + x, 300 + y]) ?? [];
        const placement = placementOf(before, after);
        const [pointX, pointY] = pointIn(after, size)({ longitude, latitude });
        expect(500 + (placement?.right ?? Number.NaN) + x * (placement?.scale ?? 0)).toBeCloseTo(pointX, 3);
        expect(300 + (placement?.down ?? Number.NaN) + y * (placement?.scale ?? 0)).toBeCloseTo(pointY, 3);
      }),
    );
  });

  it('is drawn again about a pole, where a picture moved would be wrong', () => {
    const view = { longitude: 10, latitude: 40, scale: 500 };
    expect(placementOf({ ...view, latitude: 80 }, { ...view, latitude: 81 })).toBeNull();
    expect(placementOf(view, { ...view, latitude: 70 })).toBeNull();
    const polar = { ...view, latitude: 80 };
    expect(placementOf(polar, polar)).toEqual({ scale: 1, right: 0, down: 0 });
  });

  it('has a station at both sides where it goes round the Earth more than once', () => {
    const xs = (scale: number) =>
      repeated({ view: { longitude: 0, latitude: 0, scale }, size }, [{ x: 500 }, { x: 120 }]).map(({ x }) =>
        Math.round(x),
      );
    expect(xs(800 / (2 * Math.PI))).toEqual([500, 120, 920]);
    expect(xs(1_000)).toEqual([500, 120]);
  });

  it('keeps the place at the pointer where it is while zooming', () => {
    const before = { longitude: 175, latitude: -40, scale: 2_000 };
    const at = projectionOf(before, size).invert?.([800, 100]) ?? [0, 0];
    const after = zoomed(before, 2, size, 800, 100);
    const [x, y] = pointIn(after, size)({ longitude: at[0], latitude: at[1] });
    expect([x, y].map(Math.round)).toEqual([800, 100]);
  });
});

describe('a coast', () => {
  it('goes on over the antimeridian, in either direction', () => {
    const line = [
      [178, 66],
      [179.9, 67],
      [-179.5, 67],
      [-178, 66],
      [179, 65],
    ];
    expect(unwound(line).map(([longitude]) => longitude)).toEqual([178, 179.9, 180.5, 182, 179]);
  });

  it('runs along the pole where the file closes Antarctica', () => {
    const ring = [
      [-180, -84],
      [0, -70],
      [180, -84],
      [180, -90],
      [-180, -90],
      [-180, -84],
    ];
    expect(unwound(ring)).toEqual(ring);
  });
});
