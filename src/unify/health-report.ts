import type { Bool, MalformedValue, Num, Text } from '../upstream/decode.js';
import type { WireHealthReport } from '../upstream/project/wire.js';
import { positionOf } from './health-gps.js';
import { Instant } from './time.js';
import { instantOf, type MaybeInstant } from './wire-time.js';

export type ConnectionType = 'WIFI' | 'CELL' | 'NONE' | 'UNKNOWN';

/** What a sensor said of its own health at one time (key-scoped §2, Sensor health report). */
export interface HealthReport {
  /** The sensor's own time. */
  readonly timestamp: Instant;
  readonly receivedAt: MaybeInstant;
  readonly firmwareVersion: Text;
  readonly powerSource: Text;
  readonly connectionTypeText: Text;
  readonly signalStrength: SignalStrength | null | MalformedValue;
  readonly uptimeS: Num;
  readonly rebootReason: Text;
  readonly clockQuality: Text;
  readonly syncAgeS: Num;
  readonly dataTxBytes: Num;
  readonly dataRxBytes: Num;
  readonly batteryVolts: Num;
  readonly charging: Bool;
  readonly temperatureC: Num;
  readonly freeHeapBytes: Num;
  readonly bufferUsagePct: Num;
  /** As upstream wrote it: whoever shows it asks `masking.ts` first. */
  readonly gps: unknown;
  readonly readAtMs: number;
}

export interface SignalStrength {
  readonly value: number;
  readonly unit: 'DBM' | 'PERCENT';
}

/** Null when the time cannot be read: without it a report has no place in the list. */
export function healthReportOf(record: WireHealthReport, readAtMs: number): HealthReport | null {
  const timestamp = Instant.parse(record.timestamp);
  if (!timestamp) return null;
  return {
    timestamp,
    receivedAt: instantOf(record.received_at),
    firmwareVersion: record.firmware,
    powerSource: record.power_source,
    connectionTypeText: record.connection_type,
    signalStrength: signalStrengthOf(record.signal_strength),
    uptimeS: record.uptime_s,
    rebootReason: record.reboot_reason,
    clockQuality: record.clock_quality,
    syncAgeS: record.sync_age_s,
    dataTxBytes: record.data_tx_bytes,
    dataRxBytes: record.data_rx_bytes,
    batteryVolts: record.battery_volts,
    charging: record.charging,
    temperatureC: record.temperature_c,
    freeHeapBytes: record.free_heap_bytes,
    bufferUsagePct: record.buffer_usage_pct,
    gps: positionOf(record),
    readAtMs,
  };
}

/** key-scoped §2: dBm when negative and a percentage otherwise. */
export function signalStrengthOf(value: Num): SignalStrength | null | MalformedValue {
  return typeof value === 'number' ? { value, unit: value < 0 ? 'DBM' : 'PERCENT' } : value;
}

/** key-scoped §2 shows `wifi`, `cell` and `none`; null when upstream did not say. */
export function connectionTypeOf(text: Text): ConnectionType | null {
  if (typeof text !== 'string') return text === null ? null : 'UNKNOWN';
  return knownTypes.get(text.trim().toLowerCase()) ?? 'UNKNOWN';
}

const knownTypes: ReadonlyMap<string, ConnectionType> = new Map([
  ['wifi', 'WIFI'],
  ['cell', 'CELL'],
  ['none', 'NONE'],
]);
