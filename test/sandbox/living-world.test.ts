import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { distanceKm } from '../../src/sandbox/geodesy.js';
import type { ProjectTrigger } from '../../src/sandbox/project/records.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { livingWorld } from '../../src/sandbox/simulation/living-world.js';
import { travelTimes } from '../../src/sandbox/simulation/motion/travel-time.js';
import { realQuakes } from '../../src/sandbox/simulation/quakes-data.js';
import { instantOf } from '../../src/sandbox/time.js';
import { ask } from './ask.js';

const startMs = Date.UTC(2026, 0, 1);

const worldOf = (seed = 1) => livingWorld({ seed, startMs });

/** For tests that only look. */
const asItStarts = worldOf();

const msOf = (text: string | null | undefined) => instantOf(text ?? '') ?? Number.NaN;

/** The records of a world, without what makes them. */
function recordsOf(world: ReturnType<typeof worldOf>) {
  const { project, maskedProject, catalogue } = world;
  const parts = [project, maskedProject].map(({ sensors, events, triggers }) => ({
    sensors,
    events,
    triggers,
  }));
  return structuredClone({
    parts,
    sensors: catalogue.sensors,
    events: catalogue.events,
    networks: catalogue.networks,
  });
}

describe('a living world', () => {
  it('is the same for the same seed, in one step or in many, and another for another', () => {
    const [once, often, other] = [worldOf(), worldOf(), worldOf(2)];
    const untilMs = startMs + 900_000;
    once.advance(untilMs);
    for (let nowMs = startMs; nowMs <= untilMs; nowMs += 700) often.advance(nowMs);
    often.advance(untilMs);
    other.advance(untilMs);
    expect(recordsOf(often)).toEqual(recordsOf(once));
    expect(recordsOf(other)).not.toEqual(recordsOf(once));
  });

  it('holds at least 500 real earthquakes, the newest 7 minutes old', () => {
    const { catalogue, project } = asItStarts;
    const ids = new Set([...catalogue.events, ...project.events].map((event) => event.id));
    const served = realQuakes.filter(
      ([, , , , , , , , , , id]) => ids.has(id) || ids.has(`eq-${id.slice(2)}`),
    );
    expect(served.length).toBe(realQuakes.length);
    expect(served.length).toBeGreaterThanOrEqual(500);
    const newest = catalogue.events.find((event) => event.id === served[0]?.[10]);
    expect(Math.abs(msOf(newest?.origin_time) - (startMs - 420_000))).toBeLessThan(2000);
  });

  it('has sensors in both interfaces, in one alone, moved away, and a masked project', () => {
    const { project, maskedProject, catalogue } = asItStarts;
    expect(project.sensors.length).toBeGreaterThanOrEqual(40);
    const same = (text: string | null) => (text ?? '').replace(/[^0-9a-z]/gi, '').toUpperCase();
    const bySerial = new Set(catalogue.sensors.map((sensor) => same(sensor.serial_number)));
    const byCode = new Set(
      catalogue.sensors.map((sensor) => `${sensor.network_code} ${sensor.station_code}`),
    );
    const serial = project.sensors.filter((sensor) => bySerial.has(sensor.device_id));
    const codesOnly = project.sensors.filter(
      (sensor) => !serial.includes(sensor) && byCode.has(`${sensor.network} ${sensor.station}`),
    );
    expect(serial.length).toBeGreaterThan(30);
    expect(codesOnly.length).toBeGreaterThan(2);
    expect(project.sensors.length - serial.length - codesOnly.length).toBe(3);
    expect(
      serial.some((sensor) => !catalogue.sensors.some((known) => known.serial_number === sensor.device_id)),
    ).toBe(true);
    const devices = new Set([...project.sensors, ...maskedProject.sensors].map((sensor) => sensor.device_id));
    expect(
      catalogue.sensors.filter((sensor) => !devices.has(same(sensor.serial_number))).length,
    ).toBeGreaterThan(3);
    const codes = catalogue.sensors.map((sensor) => sensor.station_code);
    expect(codes.length - new Set(codes).size).toBe(1);
    const moved = project.triggers.filter((trigger) => trigger.station === null);
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.every((trigger) => !devices.has(trigger.device_id))).toBe(true);
    expect(maskedProject.project.location_masked).toBe(true);
    for (const sensor of maskedProject.sensors) {
      expect(catalogue.sensors.map((known) => known.station_code)).toContain(sensor.station);
    }
  });

  it('has numbers over 2^31 and values that no document names', async () => {
    const world = worldOf();
    expect(Math.min(...world.project.triggers.map((trigger) => trigger.id))).toBeGreaterThan(2 ** 31);
    const reports = world.project.healthReports;
    if (typeof reports !== 'function') throw new Error('reports are made on demand');
    const day = world.project.sensors.flatMap((sensor) => [
      ...reports(sensor.device_id, startMs - 86_400_000, startMs),
    ]);
    expect(Math.max(...day.map((report) => report.data_tx_bytes ?? 0))).toBeGreaterThan(2 ** 31);
    expect(day.some((report) => report.gps === null)).toBe(true);
    expect(day.some((report) => report.gps !== null)).toBe(true);
    const statuses = new Set<string>();
    const types = new Set<string | null | undefined>();
    for (let minute = 0; minute < 60; minute++) {
      world.advance(startMs + minute * 60_000);
      for (const sensor of world.project.sensors) {
        statuses.add(sensor.status);
        types.add(sensor.connectivity?.type);
      }
    }
    expect([...statuses]).toEqual(
      expect.arrayContaining(['online', 'offline', 'maintenance', 'provisioning']),
    );
    expect([...types]).toEqual(expect.arrayContaining(['wifi', 'cell', 'none', 'satellite']));
  });

  it('calls a sensor online exactly while it reported within the last 150 seconds', () => {
    const world = worldOf();
    for (let minute = 0; minute < 120; minute++) {
      const nowMs = startMs + minute * 60_000;
      world.advance(nowMs);
      for (const { status, last_seen } of world.project.sensors) {
        expect(status === 'online').toBe(last_seen !== null && nowMs - msOf(last_seen) <= 150_000);
      }
    }
  });

  it('serves the same health reports whatever range they are asked for', () => {
    const { project } = asItStarts;
    const reports = project.healthReports;
    if (typeof reports !== 'function') throw new Error('reports are made on demand');
    for (const { device_id } of project.sensors) {
      const whole = [...reports(device_id, startMs - 3 * 3_600_000, startMs)];
      const parts = [2, 1, 0].flatMap((hour) => [
        ...reports(device_id, startMs - (hour + 1) * 3_600_000, startMs - hour * 3_600_000),
      ]);
      expect(parts).toEqual(whole);
      const times = whole.map((report) => msOf(report.timestamp));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(new Set(times).size).toBe(times.length);
    }
  });

  it('opens triggers, lets their values grow and closes them for good', async () => {
    const clock = new ManualClock(startMs);
    await using sandbox = await startSandbox({ clock, rateLimits: false });
    const histories = new Map<number, ProjectTrigger[]>();
    for (let second = 0; second < 300; second++) {
      await clock.advance(1000);
      const { body } = await ask(sandbox, 'project', '/v1/triggers?limit=100');
      for (const trigger of body.data as ProjectTrigger[]) {
        if (msOf(trigger.start_time) < startMs) continue;
        histories.set(trigger.id, [...(histories.get(trigger.id) ?? []), trigger]);
      }
    }
    const whole = [...histories.values()].filter((history) => history[0]?.status === 'open');
    expect(whole.length).toBeGreaterThan(10);
    expect(whole.some((history) => history.at(-1)?.status === 'closed')).toBe(true);
    let grown = 0;
    for (const history of whole) {
      const peaks = history.map((trigger) => trigger.pga_horizontal_mg ?? 0);
      expect(peaks).toEqual(peaks.toSorted((a, b) => a - b));
      if ((peaks.at(-1) ?? 0) > (peaks[0] ?? 0)) grown++;
      const statuses = history.map((trigger) => trigger.status);
      expect(statuses).toEqual(statuses.toSorted().toReversed());
      for (const trigger of history) expect(trigger.end_time === null).toBe(trigger.status === 'open');
      const closed = history.filter((trigger) => trigger.status === 'closed');
      for (const trigger of closed) expect(trigger).toEqual(closed[0]);
    }
    expect(grown).toBeGreaterThan(whole.length / 2);
  });

  it('has a trigger open within ten seconds of the start, whatever the seed', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const world = worldOf(seed);
      world.advance(startMs + 10_000);
      expect([seed, world.project.triggers.some((trigger) => trigger.status === 'open')]).toEqual([
        seed,
        true,
      ]);
    }
  });

  it('starts triggers when the waves of an earthquake arrive', () => {
    const { project, catalogue } = asItStarts;
    const bySensor = new Map(project.sensors.map((sensor) => [sensor.device_id, sensor]));
    let explained = 0;
    const origins = catalogue.events.map((event) => ({
      ...{ latitude: event.latitude, longitude: event.longitude, depthKm: event.depth_km ?? 0 },
      originMs: msOf(event.origin_time),
    }));
    const recorded = project.triggers.filter((trigger) => bySensor.get(trigger.device_id)?.location);
    for (const trigger of recorded) {
      const location = bySensor.get(trigger.device_id)?.location;
      const triggerMs = msOf(trigger.start_time);
      const isExplained = origins.some((origin) => {
        const afterS = (triggerMs - origin.originMs) / 1000;
        if (!location || afterS < -3 || afterS > 200) return false;
        const { pS, sS } = travelTimes(origin, location);
        return Math.min(Math.abs(afterS - pS), Math.abs(afterS - sS)) < 3;
      });
      if (isExplained) explained++;
    }
    expect(recorded.length).toBeGreaterThan(300);
    expect(explained / recorded.length).toBeGreaterThan(0.7);
    expect(explained).toBeLessThan(recorded.length);
  });

  it('tells of an earthquake in both interfaces alike, under one id or two, or in one alone', () => {
    const { project, catalogue } = asItStarts;
    const catalogued = new Map(catalogue.events.map((event) => [event.id, event]));
    const shared = project.events.filter((event) => catalogued.has(event.id));
    const twin = (event: (typeof project.events)[number]) =>
      catalogue.events.find((other) => {
        if (!event.origin || Math.abs(msOf(other.origin_time) - event.origin.origin_time * 1000) > 16_000)
          return false;
        return distanceKm(other, event.origin) < 100;
      });
    const alone = project.events.filter((event) => !catalogued.has(event.id));
    expect(shared.length).toBeGreaterThan(50);
    expect(shared.every((event) => twin(event) !== undefined)).toBe(true);
    const twinned = alone.filter((event) => twin(event) !== undefined);
    expect(twinned.length / alone.length).toBeGreaterThan(0.5);
    expect(alone.length - twinned.length).toBeGreaterThan(20);
    expect(project.events.some((event) => event.origins.length > 1)).toBe(true);
  });

  it('issues better solutions of an event as time goes on', () => {
    const world = worldOf();
    const issued = new Map<string, Set<string>>();
    for (let second = 0; second < 600; second += 5) {
      world.advance(startMs + second * 1000);
      for (const event of world.project.events) {
        issued.set(event.id, (issued.get(event.id) ?? new Set()).add(event.issued_at));
        expect(msOf(event.issued_at)).toBeLessThanOrEqual(startMs + second * 1000);
      }
    }
    expect([...issued.values()].filter((times) => times.size > 1).length).toBeGreaterThan(5);
  });

  it('stands still when told to, and moves no clock of its own', async () => {
    const clock = new ManualClock(startMs);
    await using sandbox = await startSandbox({ clock, rateLimits: false, live: false });
    const before = recordsOf(sandbox.world);
    await clock.advance(600_000);
    await ask(sandbox, 'project', '/v1/triggers');
    expect(recordsOf(sandbox.world)).toEqual(before);
    expect(clock.pendingTimers).toBe(0);
  });

  it('forgets what it invented more than a day and a half ago, and keeps the real earthquakes', {
    timeout: 60_000,
  }, () => {
    const world = worldOf();
    world.advance(startMs + 20 * 3_600_000);
    world.advance(startMs + 40 * 3_600_000);
    const ages = (texts: string[]) => texts.map((text) => startMs + 40 * 3_600_000 - msOf(text));
    const invented = world.project.triggers.filter(
      (trigger) => msOf(trigger.start_time) > startMs - 5_400_000,
    );
    const oldestMs = Math.max(...ages(invented.map((trigger) => trigger.start_time)));
    expect(oldestMs).toBeGreaterThan(35 * 3_600_000);
    expect(oldestMs).toBeLessThan(38 * 3_600_000);
    const ids = new Set(world.catalogue.events.map((event) => event.id));
    expect(realQuakes.filter(([, , , , , , , , , , id]) => ids.has(id)).length).toBeGreaterThan(500);
  });
});
