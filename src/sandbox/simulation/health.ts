import { dayMs, hourMs, minuteMs } from '../../clock.js';
import type { HealthReport, ProjectSensor } from '../project/records.js';
import { type Random, randomOf } from '../random.js';
import { textOf } from '../time.js';
import type { Station } from './network.js';
import { type Presence, presenceOf } from './presence.js';

/** State of health as a function of the sensor and the time, so that any window of the past can be served. */
export interface Health {
  readonly presence: Presence;
  /** Oldest first, after `afterMs` (exclusive) and up to `toMs` (inclusive); made one by one as they are read. */
  reports(afterMs: number, toMs: number): Iterable<HealthReport>;
  power(ms: number): NonNullable<ProjectSensor['power']>;
  connectivity(ms: number): NonNullable<ProjectSensor['connectivity']>;
  readonly firmware: string;
}

export function healthOf(station: Station, seed: number): Health {
  const presence = presenceOf(station, seed);
  const random = randomOf('health', seed, station.deviceId);
  const traits = {
    intervalMs: random.pick([60, 60, 120, 300, 600]) * 1000,
    firmware: random.pick(['4.2.1', '4.2.1', '4.1.9', '3.9.14-rc2']),
    // 'ethernet' and 'satellite' are not among the documented types (docs/interfaces.md P2).
    connection: random.pick(['wifi', 'wifi', 'cell', 'cell', 'ethernet', 'satellite']),
    source: random.pick(['solar', 'mains', 'battery', 'poe']),
    bytesPerS: random.integer(900, 30_000),
    hasGps: random.chance(0.3),
    hasThermometer: random.chance(0.8),
    tellsHeap: random.chance(0.7),
  };

  return {
    presence,
    firmware: traits.firmware,
    power,
    connectivity,
    *reports(afterMs, toMs) {
      const { intervalMs } = traits;
      let startedMs = presence.startedMs(afterMs);
      let index = Math.max(1, Math.floor((afterMs - startedMs) / intervalMs) + 1);
      while (startedMs + index * intervalMs <= toMs || startedMs + presence.periodMs <= toMs) {
        const ms = startedMs + index * intervalMs;
        if (ms >= startedMs + presence.periodMs || !presence.isUp(ms)) {
          startedMs += presence.periodMs;
          index = 1;
          continue;
        }
        if (ms <= toMs) yield report(ms);
        index++;
      }
    },
  };

  function report(ms: number): HealthReport {
    const chance = randomOf('report', seed, station.deviceId, ms);
    const uptimeS = (ms - presence.startedMs(ms)) / 1000;
    const { battery_volts, charging, source } = power(ms);
    const { type, signal_strength } = connectivity(ms);
    const delayMs = chance.chance(0.02) ? chance.integer(10_000, 90_000) : chance.integer(300, 3000);
    return {
      timestamp: textOf(ms, 0),
      received_at: textOf(ms + delayMs),
      firmware: traits.firmware,
      power_source: source,
      connection_type: type,
      signal_strength,
      uptime_s: uptimeS,
      reboot_reason: rebootReason(ms),
      clock_quality: chance.chance(0.95) ? 'locked' : chance.pick(['holdover', 'ntp', 'unlocked']),
      sync_age_s: Math.round(chance.exponential(8) * 10) / 10,
      // Weeks of data at some kB a second: beyond 2^31.
      data_tx_bytes: Math.round(uptimeS * traits.bytesPerS),
      data_rx_bytes: Math.round(uptimeS * traits.bytesPerS * 0.02),
      battery_volts,
      charging,
      temperature_c: traits.hasThermometer
        ? Math.round((daily(ms, 18, 9) + chance.gaussian()) * 10) / 10
        : null,
      free_heap_bytes: traits.tellsHeap ? chance.integer(90_000, 180_000) : null,
      buffer_usage_pct: traits.tellsHeap ? Math.round(chance.exponential(4) * 10) / 10 : null,
      gps: traits.hasGps ? gpsFix(chance) : null,
    };
  }

  function power(ms: number): NonNullable<ProjectSensor['power']> {
    const { source } = traits;
    if (source === 'mains' || source === 'poe') return { battery_volts: null, charging: null, source };
    const isDay = daily(ms, 0, 1) > 0;
    const volts = daily(ms, 12.5, source === 'solar' ? 0.6 : 0.1);
    return { battery_volts: Math.round(volts * 100) / 100, charging: source === 'solar' && isDay, source };
  }

  function connectivity(ms: number): NonNullable<ProjectSensor['connectivity']> {
    const type = presence.isUp(ms) ? traits.connection : 'none';
    if (type === 'none' || type === 'ethernet') return { type, signal_strength: null };
    const wobble = randomOf('signal', station.deviceId, Math.floor(ms / (10 * minuteMs))).gaussian();
    // docs/interfaces.md P2: dBm when negative, a percentage otherwise.
    const value = type === 'cell' || type === 'satellite' ? 62 + 9 * wobble : -64 + 5 * wobble;
    return {
      type,
      signal_strength: Math.round(type === 'wifi' ? Math.min(-20, value) : clamped(value, 0, 100)),
    };
  }

  function rebootReason(ms: number): string {
    const cycle = randomOf('reboot', station.deviceId, presence.startedMs(ms));
    return cycle.pick(['power_on', 'power_on', 'watchdog', 'firmware_update', 'brownout']);
  }

  function gpsFix(chance: Random): HealthReport['gps'] {
    const metre = 1 / 111_000;
    return {
      latitude: Math.round((station.latitude + 3 * metre * chance.gaussian()) * 1e6) / 1e6,
      longitude: Math.round((station.longitude + 3 * metre * chance.gaussian()) * 1e6) / 1e6,
      elevation_m: Math.round((station.elevationM + 4 * chance.gaussian()) * 10) / 10,
      satellites: chance.integer(5, 14),
    };
  }
}

/** A daily course with its maximum in the local afternoon (UTC − 8 h). */
function daily(ms: number, mean: number, swing: number): number {
  return mean + swing * Math.cos(((ms - 22 * hourMs) / dayMs) * 2 * Math.PI);
}

const clamped = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));
