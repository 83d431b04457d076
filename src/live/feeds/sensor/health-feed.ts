import { type ForwardMs, longAgo } from '../../../clock.js';
import { type Tenant, UnifyContext } from '../../../unify/context.js';
import { latestHealthReport } from '../../../unify/health/list/list.js';
import { Instant } from '../../../unify/time/instant.js';
import { instantOf } from '../../../unify/time/wire-time.js';
import { freshMs } from '../../../upstream/cache/freshness.js';
import { newCostMeter } from '../../../upstream/read/read.js';
import type { ReadSensors } from '../../polling/sensor-readers.js';
import type { Feed, FeedListener } from '../feed.js';
import { SensorHealth, type SensorHealthChange, type WatchedSensor } from './health.js';
import { type SensorSelection, sensorFilter } from './selection.js';
import { SensorFeed } from './sensor-feed.js';

export interface SensorHealthFeedOptions {
  readonly tenant: Tenant;
  /** All sensors of the project. */
  readonly readAll: ReadSensors;
  /** Between two reads of one sensor each. */
  readonly intervalMs: () => number;
  /** False while queries and other feeds need the budget. */
  readonly hasSpare: () => boolean;
  /** From 0 to 1. */
  readonly random: () => number;
}

type Listener = FeedListener<SensorHealthChange>;

interface Selected {
  readonly key: string;
  readonly filter: ReturnType<typeof sensorFilter>;
}

/**
 * Reads the state of health of the sensors that somebody watches, one after the other and the longest unread first, from
 * the budget that queries and other feeds leave (docs/behaviour.md 9.10). It has no cursors: a new subscriber gets the
 * latest report of each of its sensors.
 */
export class SensorHealthFeed extends SensorFeed<SensorHealthChange> {
  readonly #options: SensorHealthFeedOptions;
  readonly #health = new SensorHealth();
  readonly #selections = new Map<string, Feed<SensorHealthChange>>();
  readonly #selected = new Map<Listener, Selected>();
  #watched: readonly WatchedSensor[] = [];
  /** When they were last taken from the list; `longAgo` once the selections have changed. */
  #watchedAtMs: ForwardMs = longAgo;

  constructor(options: SensorHealthFeedOptions) {
    const { tenant, random } = options;
    super({ name: 'sensorHealthChanges', clock: tenant.clock, log: tenant.log, random });
    this.#options = options;
  }

  /** The feed as the subscribers of one selection of sensors see it; the same object for equal selections. */
  of(selection: SensorSelection | null): Feed<SensorHealthChange> {
    const key = JSON.stringify([selection?.deviceIds ?? null, selection?.stationCodes ?? null]);
    const known = this.#selections.get(key);
    if (known) return known;
    const selected = { key, filter: sensorFilter(selection) };
    const feed: Feed<SensorHealthChange> = {
      log: this.log,
      recordsPerCursor: this.recordsPerCursor,
      isFolded: () => this.isFolded(),
      check: (after) => this.check(after),
      subscribe: (after, listener) => {
        this.#selections.set(key, feed);
        this.#selected.set(listener, selected);
        this.#watchedAtMs = longAgo;
        return this.subscribe(after, listener);
      },
      status: () => this.status(),
      close: (error) => this.close(error),
    };
    this.#selections.set(key, feed);
    return feed;
  }

  protected intervalMs(): number {
    return this.#options.intervalMs();
  }

  /** A page that is loaded again finds the reports that are known. */
  protected override lingerMs(): number {
    return freshMs.health;
  }

  protected override mayPoll(): boolean {
    return this.#options.hasSpare();
  }

  protected override roundMs(): number {
    return Math.max(freshMs.health, this.#watched.length * this.intervalMs());
  }

  protected override left(listener: Listener): void {
    const left = this.#selected.get(listener);
    this.#selected.delete(listener);
    this.#watchedAtMs = longAgo;
    const isUsed = [...this.#selected.values()].some(({ key }) => key === left?.key);
    if (left && !isUsed) this.#selections.delete(left.key);
  }

  protected begin(listener: Listener): void {
    const selected = this.#selected.get(listener);
    this.beginWith(listener, selected ? [...this.#health.latest()].filter(selected.filter) : []);
  }

  protected stopped(): void {
    this.#selected.clear();
    this.#selections.clear();
    this.#health.clear();
    this.#watched = [];
    this.#watchedAtMs = longAgo;
  }

  protected async poll(signal: AbortSignal): Promise<void> {
    const { tenant } = this.#options;
    const { clock } = tenant;
    if (clock.now() - this.#watchedAtMs > freshMs.sensor) await this.#readWatched(signal);
    if (signal.aborted) return;
    const sensor = this.#health.next(this.#watched, clock.now());
    if (!sensor) return;
    this.#health.begin(sensor, clock.now());
    const { deviceId, pair, lastSeenAt } = sensor;
    // Younger than a round, or the next round would find its own response.
    const scope = { ...scopeOf(signal), maxAgeMs: freshMs.health / 2 };
    const report = await latestHealthReport(new UnifyContext(tenant, scope), deviceId, lastSeenAt);
    if (signal.aborted) return;
    const change = report && { pair, report, roundMs: this.roundMs(), observedAtMs: clock.now() };
    if (this.#health.learn(sensor, change) && change) this.log.append(change, { last: null });
  }

  async #readWatched(signal: AbortSignal): Promise<void> {
    const { readAll, tenant } = this.#options;
    const startedAtMs = tenant.clock.now();
    const selections = [...new Map([...this.#selected.values()].map((one) => [one.key, one])).values()];
    this.#watchedAtMs = startedAtMs;
    // Read at the priority of a feed, the list would hold a share of the budget back from queries.
    const { pairs } = await readAll({ ...scopeOf(signal), maxAgeMs: freshMs.health });
    if (signal.aborted) return;
    const watched: WatchedSensor[] = [];
    for (const pair of pairs.values()) {
      if (!pair.project || !selections.some(({ filter }) => filter({ pair }))) continue;
      const { device_id: deviceId, last_seen } = pair.project.value;
      const lastSeenAt = instantOf(last_seen);
      watched.push({ deviceId, pair, lastSeenAt: lastSeenAt instanceof Instant ? lastSeenAt : null });
    }
    this.#watched = watched;
  }
}

function scopeOf(signal: AbortSignal) {
  return { signal, priority: 'background', operationKey: {}, meter: newCostMeter() } as const;
}
