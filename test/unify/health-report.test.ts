import { describe, expect, it } from 'vitest';
import { connectionTypeOf, healthReportOf, signalStrengthOf } from '../../src/unify/health/report.js';
import { MalformedValue } from '../../src/upstream/decode/fields.js';
import { healthReportShape } from '../../src/upstream/project/wire.js';
import { forward } from '../support/moments.js';

const gpsOf = (fields: object) =>
  healthReportOf(healthReportShape.parse({ timestamp: '2026-03-08T12:00:00Z', ...fields }), forward(0))?.gps;

describe('the GPS position of a health report', () => {
  it('is what upstream has under the one name of a position, as it is', () => {
    expect(gpsOf({ gps: { latitude: 34.05, longitude: -118.25 } })).toEqual({
      latitude: 34.05,
      longitude: -118.25,
    });
    expect(gpsOf({ gps_position: [34.05, -118.25] })).toEqual([34.05, -118.25]);
    expect(gpsOf({ position: { lat: 0, lon: 0 } })).toEqual({ lat: 0, lon: 0 });
  });

  it('is several fields together under their names', () => {
    expect(gpsOf({ gps_latitude: 0, gps_longitude: -118.25, gps_elevation_m: null })).toEqual({
      gps_latitude: 0,
      gps_longitude: -118.25,
    });
    expect(gpsOf({ lat: 34.05, lon: -118.25, alt_m: 93 })).toEqual({ lat: 34.05, lon: -118.25, alt_m: 93 });
    expect(gpsOf({ gps: '34.05 -118.25' })).toEqual({ gps: '34.05 -118.25' });
  });

  it('is null where there is none, whatever else is not documented', () => {
    expect(gpsOf({})).toBeNull();
    expect(
      gpsOf({ gps: null, gps_latitude: null, humidity_pct: 40, platform: 'x', salt: 1, flag: true }),
    ).toBeNull();
  });
});

describe('the connection of a sensor', () => {
  it.each([
    ['wifi', 'WIFI'],
    ['Cell', 'CELL'],
    ['none', 'NONE'],
    ['satellite', 'UNKNOWN'],
    ['', 'UNKNOWN'],
    ['constructor', 'UNKNOWN'],
    [null, null],
  ])('is, for %j, %j', (text, type) => {
    expect(connectionTypeOf(text)).toBe(type);
  });

  it('has a signal in dBm when negative, in percent otherwise', () => {
    expect(signalStrengthOf(-0.5)).toEqual({ value: -0.5, unit: 'DBM' });
    expect(signalStrengthOf(0)).toEqual({ value: 0, unit: 'PERCENT' });
    expect(signalStrengthOf(null)).toBeNull();
    expect(signalStrengthOf(new MalformedValue('x'))).toBeInstanceOf(MalformedValue);
  });
});

describe('a health report', () => {
  it('whose time cannot be read is none', () => {
    expect(
      healthReportOf(
        { ...healthReportShape.parse({ timestamp: '2026-01-01T00:00:00Z' }), timestamp: 'noon' },
        forward(0),
      ),
    ).toBeNull();
  });

  it('shows an error in the place of a time of receipt that is none', () => {
    const wire = healthReportShape.parse({ timestamp: '2026-03-08T12:00:00Z', received_at: 'noon' });
    expect(healthReportOf(wire, forward(0))?.receivedAt).toBeInstanceOf(MalformedValue);
  });
});
