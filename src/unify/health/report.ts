import type { Bool, MalformedValue, Num, Text } from '../../upstream/decode/fields.js';
import type { WireHealthReport } from '../../upstream/project/wire.js';
import { Instant } from '../time/instant.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';
import { positionOf } from './gps.js';

export type ConnectionType = 'WIFI' | 'CELL' | 'NONE' | 'UNKNOWN';

/**
 * What a sensor said of its own health at one time (docs/interfaces.md P2, Sensor health report). A page holds thousands of them,
 * of which a field or two is asked for: nothing but the time is made of a record before.
 */
export class HealthReport {
  /** The sensor's own time. */
  readonly timestamp: Instant;
  readonly readAtMs: number;
  readonly #record: WireHealthReport;

  constructor(timestamp: Instant, record: WireHealthReport, readAtMs: number) {
    this.timestamp = timestamp;
    this.#record = record;
    this.readAtMs = readAtMs;
  }

  get receivedAt(): MaybeInstant {
    return instantOf(this.#record.received_at);
  }

  get firmwareVersion(): Text {
    return this.#record.firmware;
  }

  get powerSource(): Text {
    return this.#record.power_source;
  }

  get connectionTypeText(): Text {
    return this.#record.connection_type;
  }

  get signalStrength(): SignalStrength | null | MalformedValue {
    return signalStrengthOf(this.#record.signal_strength);
  }

  get uptimeS(): Num {
    return this.#record.uptime_s;
  }

  get rebootReason(): Text {
    return this.#record.reboot_reason;
  }

  get clockQuality(): Text {
    return this.#record.clock_quality;
  }

  get syncAgeS(): Num {
    return this.#record.sync_age_s;
  }

  get dataTxBytes(): Num {
    return this.#record.data_tx_bytes;
  }

  get dataRxBytes(): Num {
    return this.#record.data_rx_bytes;
  }

  get batteryVolts(): Num {
    return this.#record.battery_volts;
  }

  get charging(): Bool {
    return this.#record.charging;
  }

  get temperatureC(): Num {
    return this.#record.temperature_c;
  }

  get freeHeapBytes(): Num {
    return this.#record.free_heap_bytes;
  }

  get bufferUsagePct(): Num {
    return this.#record.buffer_usage_pct;
  }

  /** As upstream wrote it: whoever shows it asks `masking.ts` first. */
  get gps(): unknown {
    return positionOf(this.#record);
  }
}

export interface SignalStrength {
  readonly value: number;
  readonly unit: 'DBM' | 'PERCENT';
}

/** Null when the time cannot be read: without it a report has no place in the list. */
export function healthReportOf(record: WireHealthReport, readAtMs: number): HealthReport | null {
  const timestamp = Instant.parse(record.timestamp);
  return timestamp && new HealthReport(timestamp, record, readAtMs);
}

/** docs/interfaces.md P2: dBm when negative and a percentage otherwise. */
export function signalStrengthOf(value: Num): SignalStrength | null | MalformedValue {
  return typeof value === 'number' ? { value, unit: value < 0 ? 'DBM' : 'PERCENT' } : value;
}

/** docs/interfaces.md P2 shows `wifi`, `cell` and `none`; null when upstream did not say. */
export function connectionTypeOf(text: Text): ConnectionType | null {
  if (typeof text !== 'string') return text === null ? null : 'UNKNOWN';
  return knownTypes.get(text.trim().toLowerCase()) ?? 'UNKNOWN';
}

const knownTypes: ReadonlyMap<string, ConnectionType> = new Map([
  ['wifi', 'WIFI'],
  ['cell', 'CELL'],
  ['none', 'NONE'],
]);
