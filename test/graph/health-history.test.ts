import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aHealthReport, aSensor } from '../../src/sandbox/builders.js';
import type { HealthReport } from '../../src/sandbox/project/records.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const nowMs = Date.UTC(2026, 2, 8, 12);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const device = '001A2B3C4D5E';
const soh = `/v1/sensors/${device}/soh`;
const ago = (ms: number) => new Date(nowMs - ms).toISOString();

function gatewayOf(reports: readonly Partial<HealthReport>[]): Promise<TestGateway> {
  const world = emptyWorld();
  world.project.sensors.push(aSensor({ last_seen: ago(30_000) }));
  world.project.healthReports = { [device]: reports.map((fields) => aHealthReport(fields)) };
  return startGateway({ clock: new ManualClock(nowMs), sandbox: { world } });
}

const history = (args: string, selection: string) =>
  `{ sensor(by: { deviceId: "${device}" }) { latestHealthReport { timestamp } healthHistory${args} { ${selection} } } }`;

describe('the history of a sensor', () => {
  it('is the last day in quarters of an hour, for the same request as its latest report', async () => {
    const reports = Array.from({ length: 1440 }, (_, index) => ({
      timestamp: ago(index * minuteMs),
      battery_volts: 3 + index / 1440,
    }));
    await using gw = await gatewayOf(reports);
    const { sensor } = await gw.query(
      history('', 'from to reportCount buckets { from to reportCount batteryVolts { min mean max count } }'),
    );
    const { healthHistory } = sensor;
    expect(healthHistory).toMatchObject({ from: ago(dayMs), to: ago(0), reportCount: 1440 });
    expect(healthHistory.buckets).toHaveLength(96);
    expect(healthHistory.buckets[0]).toMatchObject({ from: ago(dayMs), to: ago(dayMs - 15 * minuteMs) });
    expect(healthHistory.buckets[95]).toMatchObject({
      from: ago(15 * minuteMs),
      to: ago(0),
      reportCount: 15,
    });
    expect(healthHistory.buckets[95].batteryVolts).toMatchObject({ min: 3, max: 3 + 14 / 1440, count: 15 });
    expect(healthHistory.buckets[95].batteryVolts.mean).toBe(Number((3 + 7 / 1440).toPrecision(6)));
    expect(gw.sandbox.seen('project', soh)).toHaveLength(1);
  });

  it('shows gaps, values that were not reported, and each report in the bucket that it ends', async () => {
    await using gw = await gatewayOf([
      { timestamp: ago(4 * hourMs), temperature_c: 1 },
      { timestamp: ago(3 * hourMs), temperature_c: 2, signal_strength: -60 },
      { timestamp: ago(3 * hourMs - 1), temperature_c: null, signal_strength: 0 },
      { timestamp: ago(0), temperature_c: -5, signal_strength: 80 },
    ]);
    const { sensor } = await gw.query(
      history(
        `(from: "${ago(4 * hourMs)}", buckets: 4)`,
        `reportCount buckets { reportCount temperatureC { min mean max count }
          signalStrengthDbm { mean } signalStrengthPct { mean } freeHeapBytes { count } }`,
      ),
    );
    const bare = { temperatureC: null, signalStrengthDbm: null, signalStrengthPct: null };
    const only = (value: number) => ({ min: value, mean: value, max: value, count: 1 });
    expect(sensor.healthHistory.reportCount).toBe(3);
    expect(sensor.healthHistory.buckets).toMatchObject([
      { ...bare, reportCount: 1, temperatureC: only(2), signalStrengthDbm: { mean: -60 } },
      { ...bare, reportCount: 1, signalStrengthPct: { mean: 0 } },
      { ...bare, reportCount: 0, freeHeapBytes: null },
      { ...bare, reportCount: 1, temperatureC: only(-5), signalStrengthPct: { mean: 80 } },
    ]);
  });

  it('of 30 days is read in windows of 7', async () => {
    const reports = Array.from({ length: 30 * 24 }, (_, index) => ({ timestamp: ago(index * hourMs) }));
    await using gw = await gatewayOf(reports);
    const { sensor } = await gw.query(
      history(`(from: "${ago(30 * dayMs)}", buckets: 30)`, 'buckets { reportCount }'),
    );
    expect(sensor.healthHistory.buckets.map((bucket: { reportCount: number }) => bucket.reportCount)).toEqual(
      Array.from({ length: 30 }, () => 24),
    );
  });

  it.each([
    ['(buckets: 0)', 'buckets'],
    ['(buckets: 1001)', 'buckets'],
    [`(from: "${ago(0)}", to: "${ago(1)}")`, 'from'],
    [`(from: "${ago(-dayMs)}")`, 'from'],
  ])('refuses %s, naming `%s`', async (args, argument) => {
    await using gw = await gatewayOf([]);
    const { errors } = await gw.queryWithErrors(history(args, 'reportCount'));
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }]);
  });

  it('refuses a range that is too long before it asks upstream', async () => {
    await using gw = await gatewayOf([]);
    const { errors } = await gw.queryWithErrors(
      `{ sensor(by: { deviceId: "${device}" }) { healthHistory(from: "2025-01-01") { reportCount } } }`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX' } }]);
    expect(gw.sandbox.seen('project', soh)).toHaveLength(0);
  });

  it('has empty buckets for a sensor that never sent a report', async () => {
    await using gw = await gatewayOf([]);
    const { sensors } = await gw.query('{ sensors { nodes { stationCode healthHistory { reportCount } } } }');
    expect(sensors.nodes).toMatchObject([{ healthHistory: { reportCount: 0 } }]);
  });
});
