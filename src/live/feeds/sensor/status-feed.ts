import { type Clock, type ForwardMs, longAgo, plus, type Timer } from '../../../clock.js';
import type { Log } from '../../../log.js';
import { statusOf } from '../../../unify/sensor/status.js';
import { freshMs } from '../../../upstream/cache/freshness.js';
import { newCostMeter } from '../../../upstream/read/read.js';
import { longestReadMs } from '../../polling/list-reader.js';
import type { ReadSensors, SensorLists, SensorReading } from '../../polling/sensor-readers.js';
import { idNumber } from '../../tracking/cursor/cursor.js';
import { newEpoch, Offsets } from '../../tracking/cursor/offsets.js';
import { cached } from '../../tracking/newest-cached.js';
import type { FeedListener } from '../feed.js';
import { SensorFeed } from './sensor-feed.js';
import { type SensorStatusChange, SensorStatuses, statusTimeAt } from './status.js';
import { StatusCursors } from './status-cursors.js';
import { StatusResumes } from './status-resumes.js';

export interface SensorStatusFeedOptions {
  /** The interface that is polled, and the key: cursors of another are rejected. */
  readonly scope: string;
  /** All sensors, by a key for each. */
  readonly readAll: ReadSensors;
  /** The same sensors in lists that a query has read. */
  readonly listed: (lists: SensorLists) => SensorReading;
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
const mostCursors = 256;

/**
 * Reports changes of sensor status: what a poll shows, and sensors that go offline because their last contact was 150
 * seconds ago. A cursor holds the status of every sensor, so that any instance can compare it with the present ones.
 */
export class SensorStatusFeed extends SensorFeed<SensorStatusChange> {
  readonly #cursors: StatusCursors;
  readonly #options: SensorStatusFeedOptions;
  readonly #statuses: SensorStatuses;
  readonly #offsets = new Offsets({ epoch: newEpoch(), offset: 0 }, 1);
  readonly #resumes: StatusResumes;
  readonly #changeCursors = new Map<number, string>();
  #requests = 1;
  #isAlarmDue = false;
  #readAtMs: ForwardMs = longAgo;
  #alarm: Timer | null = null;
  #hurry: Timer | null = null;

  constructor(options: SensorStatusFeedOptions) {
    super({ ...options, name });
    this.#options = options;
    const { clock } = options;
    this.#cursors = new StatusCursors(`${name} ${options.scope}`);
    this.#statuses = new SensorStatuses(clock);
    this.#resumes = new StatusResumes({
      clock,
      cursors: this.#cursors,
      statuses: this.#statuses,
      log: this.log,
      onDelivering: options.onDelivering,
      begin: (listener, changes) => this.beginWith(listener, changes),
      expire: (listener, error) => this.dismiss(listener, error),
    });
  }

  override get recordsPerCursor(): number {
    return this.#statuses.size;
  }

  override check(after: string): void {
    this.#cursors.decode(after);
  }

  /**
   * The cursor after a list that was made from `lists` at `atMs`: behind the statuses that it shows.
   * @throws where the list of the interface that is polled is incomplete
   */
  cursorBeside(lists: SensorLists, atMs: ForwardMs): string {
    const { clock, listed } = this.#options;
    const { pairs } = listed(lists);
    const time = statusTimeAt(clock, atMs);
    return this.#cursors.encode({
      statuses: new Map([...pairs].map(([key, pair]) => [idNumber(key), statusOf(time, pair)])),
      atMs: clock.wallMs(atMs),
      logged: null,
    });
  }

  protected begin(listener: FeedListener<SensorStatusChange>, after: string | null): void {
    if (after === null) {
      this.beginWith(listener, []);
      return;
    }
    const position = this.#cursors.decode(after);
    const { first, next } = this.log;
    const following = position.logged && this.#offsets.following(position.logged);
    if (following !== null && following >= first && following <= next) {
      listener.begin({ replay: [], from: following, liveFrom: next });
      return;
    }
    this.#resumes.wait(listener, { cursor: after, position });
    this.#resumes.answer();
    this.#readSoon();
  }

  protected override left(listener: FeedListener<SensorStatusChange>): void {
    this.#resumes.leave(listener);
  }

  protected intervalMs(): number {
    return this.#options.intervalMs(this.#requests);
  }

  protected stopped(): void {
    this.#alarm?.cancel();
    this.#hurry?.cancel();
    this.#hurry = null;
    this.#statuses.clear();
    this.#resumes.clear();
    this.#changeCursors.clear();
    this.#offsets.restart({ epoch: newEpoch(), offset: 0 }, this.log.next);
    this.#readAtMs = longAgo;
  }

  protected async poll(signal: AbortSignal): Promise<void> {
    const { readAll, clock } = this.#options;
    const meter = newCostMeter();
    const startedAtMs = clock.now();
    // A subscriber may have come from an instance that has read upstream later than this one.
    const demand = this.#resumes.size > 0 ? { maxAgeMs: 0, atMs: startedAtMs } : undefined;
    const maxAgeMs = demand ? 0 : this.#maxAgeMs();
    const reading = await readAll({ signal, priority: 'feed', operationKey: {}, meter, maxAgeMs, demand });
    if (signal.aborted) return;
    this.#isAlarmDue = false;
    this.#requests = Math.max(1, meter.requests + meter.cacheHits + meter.staleHits);
    this.#readAtMs = plus(clock.now(), -meter.oldestAgeS * 1000);
    this.#statuses.learn(reading, this.#readAtMs);
    this.#appendChanges();
    this.#resumes.answer(demand ? startedAtMs : plus(this.#readAtMs, -longestReadMs));
    this.#readSoon();
  }

  /** Every instance polls; the first reads upstream, and the others find its answer in the shared cache. */
  #maxAgeMs(): number {
    if (!this.#options.isShared()) return 0;
    const usualMs = this.intervalMs() * (9 / 10);
    return this.#isAlarmDue ? Math.min(usualMs, presentForMs) : usualMs;
  }

  /** Reads for the subscribers that wait to resume; not more often than a list of sensors grows stale. */
  #readSoon(): void {
    const { clock } = this.#options;
    if (this.#hurry || this.#resumes.size === 0) return;
    const inMs = Math.max(0, Math.min(presentForMs, this.#readAtMs + presentForMs - clock.now()));
    this.#hurry = clock.timer(inMs, () => {
      this.#hurry = null;
      this.poller.wake();
    });
  }

  #appendChanges(): void {
    const { onDelivering } = this.#options;
    const changes = this.#statuses.takeChanges();
    if (changes.length > 0) onDelivering();
    for (const change of changes) {
      const seq = this.log.next;
      this.log.append({ ...change, cursor: () => this.#cursorAt(seq, change.observedAtMs) }, { last: null });
    }
    this.#setAlarm();
  }

  #cursorAt(seq: number, observedAtMs: ForwardMs): string {
    return cached(this.#changeCursors, mostCursors, seq, () =>
      this.#cursors.encode({
        statuses: this.#statuses.before(this.#changesBackTo(seq)),
        atMs: this.#options.clock.wallMs(observedAtMs),
        logged: this.#offsets.offsetOf(seq),
      }),
    );
  }

  /** The changes after `seq`, the latest first. */
  *#changesBackTo(seq: number): Generator<SensorStatusChange> {
    for (let at = this.log.next - 1; at > seq; at--) {
      const entry = this.log.at(at);
      if (entry) yield entry.change;
    }
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

const name = 'sensorStatusChanges';
