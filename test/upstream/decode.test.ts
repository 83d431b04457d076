import { describe, expect, it } from 'vitest';
import { eventShape as catalogueEvent, sensorDetailShape } from '../../src/upstream/catalogue/wire.js';
import { MalformedValue } from '../../src/upstream/decode/fields.js';
import { eventShape, healthReportShape, sensorShape, triggerShape } from '../../src/upstream/project/wire.js';

describe('a wire record', () => {
  it('keeps what it has when upstream leaves out everything but its identity', () => {
    expect(triggerShape.parse({ id: 7, device_id: 'A', start_time: '2026-01-01T00:00:00Z' })).toMatchObject({
      id: '7',
      station: null,
      pga_horizontal_mg: null,
    });
    expect(healthReportShape.parse({ timestamp: '2026-01-01T00:00:00Z' })).toMatchObject({ charging: null });
    expect(sensorShape.parse({ device_id: 'A' })).toMatchObject({ location: null, status: null });
    expect(eventShape.parse({ id: 'e' })).toMatchObject({ origin: null, pick_stations: null });
    expect(catalogueEvent.parse({ id: 'e' })).toMatchObject({ depth_km: null });
    expect(sensorDetailShape.parse({ id: 's' })).toMatchObject({ location: null, created_at: null });
  });

  it('has an error in the place of one malformed value and the rest as sent', () => {
    const report = healthReportShape.parse({
      timestamp: '2026-01-01T00:00:00Z',
      temperature_c: 'NaN',
      battery_volts: 0,
      gps_fix: { lat: 1 },
    });
    expect(report.temperature_c).toBeInstanceOf(MalformedValue);
    expect(report.battery_volts).toBe(0);
    expect(report.gps_fix).toEqual({ lat: 1 });
  });
});
