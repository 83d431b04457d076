import type { Clock, ForwardMs } from '../../clock.js';
import type { Pair } from '../../unify/sensor/identity.js';
import { offlineFromMs, type SensorStatus, type StatusTime, statusOf } from '../../unify/sensor/status.js';
import { Instant } from '../../unify/time/instant.js';
import type { SensorReading } from '../polling/sensor-readers.js';

/** A change of a sensor's status, by the 150-second rule as of the moment of the change (docs/behaviour.md 5.6). */
export interface SensorStatusChange {
  /** The sensor's records as last read. */
  readonly pair: Pair;
  readonly previousStatus: SensorStatus;
  readonly status: SensorStatus;
  readonly observedAtMs: ForwardMs;
}

interface KnownSensor {
  pair: Pair;
  status: SensorStatus;
  /** False while its record may be one of those that cannot be read: nothing is known of it then. */
  isReadable: boolean;
}

/** The last known status of every sensor. */
export class SensorStatuses {
  readonly #clock: Clock;
  readonly #sensors = new Map<string, KnownSensor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Replaces the records. Sensors that are missing from them are removed; where some cannot be read their status is kept,
   * so that a change meanwhile is delivered once they can be read again.
   */
  learn({ pairs, isReadable }: SensorReading, readAtMs: ForwardMs): void {
    for (const [key, sensor] of this.#sensors) {
      if (pairs.has(key)) continue;
      if (isReadable) this.#sensors.delete(key);
      else sensor.isReadable = false;
    }
    for (const [key, pair] of pairs) {
      const status = this.#sensors.get(key)?.status ?? statusOf(this.#timeAt(readAtMs), pair);
      this.#sensors.set(key, { pair, status, isReadable: true });
    }
  }

  /** The changes since the last call. */
  takeChanges(): SensorStatusChange[] {
    const nowMs = this.#clock.now();
    const time = this.#timeAt(nowMs);
    const changes: SensorStatusChange[] = [];
    for (const sensor of this.#sensors.values()) {
      if (!sensor.isReadable) continue;
      const status = statusOf(time, sensor.pair);
      if (status === sensor.status) continue;
      changes.push({ pair: sensor.pair, previousStatus: sensor.status, status, observedAtMs: nowMs });
      sensor.status = status;
    }
    return changes;
  }

  /** Milliseconds until the next sensor goes offline unless it reports; Infinity when none can. */
  get nextOfflineInMs(): number {
    const nowMs = this.#clock.now();
    const time = this.#timeAt(nowMs);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { pair, status, isReadable } of this.#sensors.values()) {
      if (isReadable && status !== 'OFFLINE') nextMs = Math.min(nextMs, offlineFromMs(time, pair) ?? nextMs);
    }
    return nextMs - this.#clock.wallMs(nowMs);
  }

  clear(): void {
    this.#sensors.clear();
  }

  #timeAt(atMs: ForwardMs): StatusTime {
    const wallMs = this.#clock.wallMs(atMs);
    return {
      hasPassed: (dateMs) => wallMs > dateMs,
      dateOf: (ms) => Instant.fromMs(this.#clock.wallMs(ms)),
    };
  }
}
