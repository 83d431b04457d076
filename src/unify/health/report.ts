import type { ForwardMs } from '../../clock.js';
import type { Bool, MalformedValue, Num, Text } from '../../upstream/decode/fields.js';
import type { WireHealthReport } from '../../upstream/project/wire.js';
import { Instant } from '../time/instant.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';
import { positionOf } from './gps.js';

export type ConnectionType = 'WIFI' | 'CELL' | 'NONE' | 'UNKNOWN';

/**
 * A health report of a sensor (docs/interfaces.md P2, Sensor health report). A page holds thousands, of which few
 * fields are selected, so only the time is decoded in advance.
 */
export class HealthReport {
  /** Time by the clock of the sensor. */
  readonly timestamp: Instant;
  readonly readAtMs: ForwardMs;
  readonly #record: WireHealthReport;

  constructor(timestamp: Instant, record: WireHealthReport, readAtMs: ForwardMs) {
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

  /** Unmasked, as upstream wrote it: show it only through `masking.ts`. */
  get gps(): unknown {
    return positionOf(this.#record);
  }
}

export interface SignalStrength {
  readonly value: number;
  readonly unit: 'DBM' | 'PERCENT';
}

/** Null when the time cannot be read: the report could not be listed without it. */
export function healthReportOf(record: WireHealthReport, readAtMs: ForwardMs): HealthReport | null {
  const timestamp = Instant.parse(record.timestamp);
  return timestamp && new HealthReport(timestamp, record, readAtMs);
}

/** docs/interfaces.md P2: dBm when negative and a percentage otherwise. */
export function signalStrengthOf(value: Num): SignalStrength | null | MalformedValue {
  return typeof value === 'number' ? { value, unit: value < 0 ? 'DBM' : 'PERCENT' } : value;
}

/** docs/interfaces.md P2 gives `wifi`, `cell` and `none`; other texts are UNKNOWN. Null when upstream sent none. */
export function connectionTypeOf(text: Text): ConnectionType | null {
  if (typeof text !== 'string') return text === null ? null : 'UNKNOWN';
  return knownTypes.get(text.trim().toLowerCase()) ?? 'UNKNOWN';
}

const knownTypes: ReadonlyMap<string, ConnectionType> = new Map([
  ['wifi', 'WIFI'],
  ['cell', 'CELL'],
  ['none', 'NONE'],
]);
