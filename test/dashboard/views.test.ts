import { describe, expect, it } from 'vitest';
import type { SensorItem } from '../../examples/dashboard/src/data/world.js';
import { sectionStations, sectionWindow } from '../../examples/dashboard/src/earthquake/section-stations.js';
import { sorted } from '../../examples/dashboard/src/fleet/order.js';
import { closer, shifted, whole } from '../../examples/dashboard/src/sensor/span.js';
import { samplesIn } from '../../examples/dashboard/src/sensor/trace.js';
import { routeOf } from '../../examples/dashboard/src/shell/route.js';

const station = (id: string, distanceKm: number) => ({
  id,
  name: id,
  distanceKm,
  pArrival: '2026-11-28T12:00:10Z',
  sArrival: new Date(Date.parse('2026-11-28T12:00:00Z') + distanceKm * 280).toISOString(),
});

describe('the record section', () => {
  it('takes eight stations, the nearest among them, none over another', () => {
    const all = Array.from({ length: 100 }, (_, i) => station(`S${i}`, 300 - i * 2.9));
    const chosen = sectionStations(all);
    expect(chosen).toHaveLength(8);
    expect(chosen[0]?.id).toBe('S99');
    for (const [i, { distanceKm }] of chosen.entries()) {
      expect(distanceKm - (chosen[i - 1]?.distanceKm ?? -100)).toBeGreaterThan(30);
    }
  });

  it('has a station once, however many triggers it had', () => {
    expect(sectionStations([station('A', 10), station('A', 10), station('B', 90)])).toHaveLength(2);
    expect(sectionStations([station('A', 0), station('A', 0)])).toHaveLength(1);
  });

  it('begins before the origin, ends behind the last S wave, and has five minutes at most', () => {
    const originTime = '2026-11-28T12:00:00.750Z';
    const lengthS = (window: ReturnType<typeof sectionWindow>) =>
      window && (Date.parse(window.end) - Date.parse(window.start)) / 1_000;
    const near = sectionWindow(originTime, [station('A', 100)]);
    expect(near).toEqual({ start: '2026-11-28T11:59:55.000Z', end: '2026-11-28T12:00:53.000Z' });
    expect(lengthS(sectionWindow(originTime, [station('A', 5_000)]))).toBe(300);
    expect(sectionWindow(originTime, [])).toBeNull();
  });
});

describe('the part of a waveform that is shown', () => {
  const samples = Array.from({ length: 6_000 }, (_, i) => (i === 3_210 ? 999 : i === 100 ? null : i % 7));

  it('keeps every peak, and has single samples where they are few', () => {
    const overview = samplesIn(samples, { from: 0.01, to: 1 });
    expect(overview.points).toBeNull();
    expect(Math.max(...overview.max.map(Number))).toBe(999);
    const close = samplesIn(samples, { from: 3_200 / 6_000, to: 3_220 / 6_000 });
    expect(close.points).toEqual(samples.slice(3_200, 3_220));
    expect(close.first).toBe(3_200);
    expect(samplesIn(samples, { from: 95 / 6_000, to: 105 / 6_000 }).points).toContain(null);
  });

  it('stays within the window, and is never shorter than some samples', () => {
    expect(closer(whole, 0.5)).toEqual({ from: 0.25, to: 0.75 });
    expect(shifted(closer(whole, 0.5), 9)).toEqual({ from: 0.5, to: 1 });
    expect(closer({ from: 0.9, to: 1 }, 100)).toEqual(whole);
    let span = whole;
    for (let i = 0; i < 50; i++) span = closer(span, 0.5);
    expect(samplesIn(samples, span).points?.length).toBeGreaterThan(1);
  });
});

describe('the fleet', () => {
  const sensor = (
    stationCode: string,
    signalStrength: NonNullable<SensorItem['connectivity']>['signalStrength'],
    status: SensorItem['status'] = 'ONLINE',
  ) =>
    ({ stationCode, status, lastSeenAt: null, power: null, connectivity: { signalStrength } }) as SensorItem;
  const codes = (all: readonly SensorItem[]) => all.map(({ stationCode }) => stationCode);
  const all = [
    sensor('STRONG', { value: -60, unit: 'DBM' }),
    sensor('HALF', { value: 50, unit: 'PERCENT' }),
    sensor('FAINT', { value: -108, unit: 'DBM' }),
    sensor('NONE', null),
    sensor('SILENT', null, 'OFFLINE'),
    sensor('FULL', { value: 100, unit: 'PERCENT' }),
  ];

  it('sorts decibels and percent each by itself, those without the value last', () => {
    expect(codes(sorted(all, 'dbm', false)).slice(0, 2)).toEqual(['FAINT', 'STRONG']);
    expect(codes(sorted(all, 'dbm', true)).slice(0, 2)).toEqual(['STRONG', 'FAINT']);
    expect(codes(sorted(all, 'pct', true)).slice(0, 2)).toEqual(['FULL', 'HALF']);
  });

  it('has the worst first: what is silent, then what will not last', () => {
    expect(codes(sorted(all, 'worst', false)).slice(0, 2)).toEqual(['SILENT', 'FAINT']);
  });
});

describe('an address', () => {
  it.each([
    ['', 'live'],
    ['#/', 'live'],
    ['#/?map=1,2,3', 'live'],
    ['#/stations?order=dbm', 'stations'],
    ['#/sensors/abc', 'sensors'],
    ['#/earthquakes/abc', 'earthquakes'],
    ['#/sensors', 'nowhere'],
    ['#/stations/x', 'sensors'],
    ['#/stations/a/b', 'nowhere'],
    ['#/volcanoes', 'nowhere'],
    ['#/sensors/a/b', 'nowhere'],
  ])('%s is the view %s', (hash, page) => {
    expect(routeOf(hash).page).toBe(page);
  });
});
