import { type Clock, type ForwardMs, longAgo, plus, type Timer } from '../../clock.js';
import type { Log } from '../../log.js';
import { freshMs } from '../../upstream/cache/freshness.js';
import { newCostMeter } from '../../upstream/read/read.js';
import type { ReadSensors } from '../polling/sensor-readers.js';
import { CursorlessFeed } from './cursorless-feed.js';
import { type SensorStatusChange, SensorStatuses } from './sensor-status.js';

export interface SensorStatusFeedOptions {
  /** All sensors, by a key for each. */
  readonly readAll: ReadSensors;
  /** True while instances share a cache. */
  readonly isShared: () => boolean;
  /** Called before changes are delivered: every later answer must show them. */
  readonly onDelivering: () => void;
  /** @param requests that the last poll took */
  readonly intervalMs: (requests: number) => number;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random: () => number;
}

// An older read does not count as the present state.
const presentForMs = freshMs.sensor;
// Time for the poll that checks an expired sensor, before its status changes without it.
const graceMs = 2_000;

/**
 * Reports changes of sensor status: what a poll shows, and sensors that go offline because their last contact was 150
 * seconds ago.
 */
export class SensorStatusFeed extends CursorlessFeed<SensorStatusChange> {
  readonly #options: SensorStatusFeedOptions;
  readonly #statuses: SensorStatuses;
  #requests = 1;
  #isAlarmDue = false;
  #readAtMs: ForwardMs = longAgo;
  #alarm: Timer | null = null;

  constructor(options: SensorStatusFeedOptions) {
    super({ ...options, name: 'sensorStatusChanges' });
    this.#options = options;
    this.#statuses = new SensorStatuses(options.clock);
  }

  protected intervalMs(): number {
    return this.#options.intervalMs(this.#requests);
  }

  protected stopped(): void {
    this.#alarm?.cancel();
    this.#statuses.clear();
    this.#readAtMs = longAgo;
  }

  protected async poll(signal: AbortSignal): Promise<void> {
    const { readAll, clock } = this.#options;
    const meter = newCostMeter();
    const maxAgeMs = this.#maxAgeMs();
    const reading = await readAll({ signal, priority: 'feed', operationKey: {}, meter, maxAgeMs });
    if (signal.aborted) return;
    this.#isAlarmDue = false;
    this.#requests = Math.max(1, meter.requests + meter.cacheHits + meter.staleHits);
    this.#readAtMs = plus(clock.now(), -meter.oldestAgeS * 1000);
    this.#statuses.learn(reading, this.#readAtMs);
    this.#appendChanges();
  }

  /** Every instance polls; the first reads upstream, and the others find its answer in the shared cache. */
  #maxAgeMs(): number {
    if (!this.#options.isShared()) return 0;
    const usualMs = this.intervalMs() * (9 / 10);
    return this.#isAlarmDue ? Math.min(usualMs, presentForMs) : usualMs;
  }

  #appendChanges(): void {
    const { onDelivering } = this.#options;
    const changes = this.#statuses.takeChanges();
    if (changes.length > 0) onDelivering();
    for (const change of changes) this.log.append(change, { last: null });
    this.#setAlarm();
  }

  #setAlarm(): void {
    const { clock } = this.#options;
    this.#alarm?.cancel();
    const { nextOfflineInMs } = this.#statuses;
    if (!Number.isFinite(nextOfflineInMs)) return;
    this.#alarm = clock.timer(Math.max(0, nextOfflineInMs) + 1, () => this.#checkOffline());
  }

  /** A sensor's 150 seconds are over. It may have reported since the last poll, so an old read is repeated first. */
  #checkOffline(): void {
    const { clock } = this.#options;
    if (clock.now() - this.#readAtMs <= presentForMs) {
      this.#appendChanges();
    } else {
      this.#isAlarmDue = true;
      this.poller.wake();
      this.#alarm = clock.timer(graceMs, () => this.#appendChanges());
    }
  }
}
