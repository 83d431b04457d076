import type { Clock, ForwardMs } from '../../../clock.js';
import type { Pair } from '../../../unify/sensor/identity.js';
import { offlineFromMs, type SensorStatus, type StatusTime, statusOf } from '../../../unify/sensor/status.js';
import { Instant } from '../../../unify/time/instant.js';
import type { SensorReading } from '../../polling/sensor-readers.js';
import { idNumber } from '../../tracking/cursor/cursor.js';

/** A change of a sensor's status, by the 150-second rule as of the moment of the change (docs/behaviour.md 5.6). */
export interface SensorStatusChange extends ObservedStatus {
  /** Resumes after this change. Encoded on demand. */
  cursor(): string;
}

export interface ObservedStatus {
  /** `idNumber` of the sensor's key. */
  readonly number: number;
  /** The sensor's records as last read. */
  readonly pair: Pair;
  readonly previousStatus: SensorStatus;
  readonly status: SensorStatus;
  readonly observedAtMs: ForwardMs;
}

export interface KnownSensor {
  readonly number: number;
  pair: Pair;
  status: SensorStatus;
  /** When its status was first observed here. */
  observedAtMs: ForwardMs;
  /** False while its record may be one of those that cannot be read: nothing is known of it then. */
  isReadable: boolean;
}

/** The last known status of every sensor. */
export class SensorStatuses {
  readonly #clock: Clock;
  readonly #sensors = new Map<string, KnownSensor>();
  #isReadable = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sensors.size;
  }

  /** The sensors whose status is known. */
  *readable(): Generator<KnownSensor> {
    for (const sensor of this.#sensors.values()) if (sensor.isReadable) yield sensor;
  }

  /** False where records cannot be read, so that sensors which are there may be missing. */
  get isReadable(): boolean {
    return this.#isReadable;
  }

  /** The statuses as they were before `changes`, the latest first, by `idNumber` of the sensors' keys. */
  before(changes: Iterable<ObservedStatus>): Map<number, SensorStatus> {
    const statuses = new Map<number, SensorStatus>();
    for (const { number, status } of this.#sensors.values()) statuses.set(number, status);
    for (const { number, previousStatus } of changes) statuses.set(number, previousStatus);
    return statuses;
  }

  /**
   * Replaces the records. Sensors that are missing from them are removed; where some cannot be read their status is kept,
   * so that a change meanwhile is delivered once they can be read again.
   */
  learn({ pairs, isReadable }: SensorReading, readAtMs: ForwardMs): void {
    this.#isReadable = isReadable;
    for (const [key, sensor] of this.#sensors) {
      if (pairs.has(key)) continue;
      if (isReadable) this.#sensors.delete(key);
      else sensor.isReadable = false;
    }
    const time = statusTimeAt(this.#clock, readAtMs);
    for (const [key, pair] of pairs) {
      const known = this.#sensors.get(key);
      if (known) Object.assign(known, { pair, isReadable: true });
      else
        this.#sensors.set(key, {
          number: idNumber(key),
          pair,
          status: statusOf(time, pair),
          observedAtMs: readAtMs,
          isReadable: true,
        });
    }
  }

  /** The changes since the last call. */
  takeChanges(): ObservedStatus[] {
    const nowMs = this.#clock.now();
    const time = statusTimeAt(this.#clock, nowMs);
    const changes: ObservedStatus[] = [];
    for (const sensor of this.readable()) {
      const { number, pair, status: previousStatus } = sensor;
      const status = statusOf(time, pair);
      if (status === previousStatus) continue;
      changes.push({ number, pair, previousStatus, status, observedAtMs: nowMs });
      sensor.status = status;
      sensor.observedAtMs = nowMs;
    }
    return changes;
  }

  /** Milliseconds until the next sensor goes offline unless it reports; Infinity when none can. */
  get nextOfflineInMs(): number {
    const nowMs = this.#clock.now();
    const time = statusTimeAt(this.#clock, nowMs);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { pair, status } of this.readable()) {
      if (status !== 'OFFLINE') nextMs = Math.min(nextMs, offlineFromMs(time, pair) ?? nextMs);
    }
    return nextMs - this.#clock.wallMs(nowMs);
  }

  clear(): void {
    this.#sensors.clear();
    this.#isReadable = true;
  }
}

/** For the statuses as of a moment of the forward clock. */
export function statusTimeAt(clock: Clock, atMs: ForwardMs): StatusTime {
  const wallMs = clock.wallMs(atMs);
  return {
    hasPassed: (dateMs) => wallMs > dateMs,
    dateOf: (ms) => Instant.fromMs(clock.wallMs(ms)),
  };
}
