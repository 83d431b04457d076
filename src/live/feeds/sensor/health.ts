import { type ForwardMs, minuteMs, plus } from '../../../clock.js';
import type { HealthReport } from '../../../unify/health/report.js';
import type { Pair } from '../../../unify/sensor/identity.js';
import type { Instant } from '../../../unify/time/instant.js';
import { freshMs } from '../../../upstream/cache/freshness.js';
import type { DeviceId } from '../../../upstream/decode/fields.js';

/** A health report of a sensor that is later than those delivered before (docs/behaviour.md 9.10). */
export interface SensorHealthChange {
  /** The sensor's record as last read. */
  readonly pair: Pair;
  readonly report: HealthReport;
  /** Time within which the feed comes back to this sensor. */
  readonly roundMs: number;
  readonly observedAtMs: ForwardMs;
}

/** A sensor that somebody watches. */
export interface WatchedSensor {
  readonly deviceId: DeviceId;
  readonly pair: Pair;
  /** When the list says that it was last in contact; null where it does not. */
  readonly lastSeenAt: Instant | null;
}

interface KnownHealth {
  readAtMs: ForwardMs;
  /** The last contact that this read includes; null where it includes none. */
  lastSeenAt: Instant | null;
  change: SensorHealthChange | null;
}

// Assumed: a sensor is seen when it sends a report, so one without contact since its last read has nothing new.
const silentMs = 10 * minuteMs;

/** The last known report of every watched sensor, and which sensor is to be read next. */
export class SensorHealth {
  readonly #known = new Map<DeviceId, KnownHealth>();

  /** The latest change of each sensor. */
  *latest(): Generator<SensorHealthChange> {
    for (const { change } of this.#known.values()) if (change) yield change;
  }

  /** The sensor whose last read is the longest ago; null while all are recent. Forgets sensors that are not watched. */
  next(watched: readonly WatchedSensor[], nowMs: ForwardMs): WatchedSensor | null {
    const ids = new Set(watched.map(({ deviceId }) => deviceId));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    let next: WatchedSensor | null = null;
    let oldestMs: number = nowMs;
    for (const sensor of watched) {
      const dueMs = this.#dueMs(sensor);
      if (dueMs > nowMs || dueMs >= oldestMs) continue;
      next = sensor;
      oldestMs = dueMs;
    }
    return next;
  }

  /** Counts as read also when the read fails: the others must not wait for it. */
  begin({ deviceId }: WatchedSensor, nowMs: ForwardMs): void {
    const change = this.#known.get(deviceId)?.change ?? null;
    this.#known.set(deviceId, { readAtMs: nowMs, lastSeenAt: null, change });
  }

  /** Takes in what was read, null where the sensor has no report. True when it is later than the last one. */
  learn({ deviceId, pair, lastSeenAt }: WatchedSensor, change: SensorHealthChange | null): boolean {
    const known = this.#known.get(deviceId);
    if (!known) return false;
    // A cached response may be from before the contact that the list shows.
    if (!change || change.report.readAtMs >= (pair.project?.readAtMs ?? 0)) known.lastSeenAt = lastSeenAt;
    const last = known.change?.report.timestamp;
    if (!change || (last && last.compare(change.report.timestamp) >= 0)) return false;
    known.change = change;
    return true;
  }

  clear(): void {
    this.#known.clear();
  }

  #dueMs({ deviceId, lastSeenAt }: WatchedSensor): number {
    const known = this.#known.get(deviceId);
    if (!known) return Number.NEGATIVE_INFINITY;
    const isSilent = lastSeenAt !== null && known.lastSeenAt?.compare(lastSeenAt) === 0;
    return plus(known.readAtMs, isSilent ? silentMs : freshMs.health);
  }
}
