import { type Clock, type ForwardMs, longAgo, momentAt } from '../../../clock.js';
import { CursorExpired, type GatewayError } from '../../../errors.js';
import type { ChangeLog } from '../../tracking/change-log.js';
import { expired, type Position } from '../../tracking/cursor/cursor.js';
import { cached } from '../../tracking/newest-cached.js';
import type { FeedListener } from '../feed.js';
import type { SensorStatusChange, SensorStatuses } from './status.js';
import { momentOf, type StatusCursors, statusesAt } from './status-cursors.js';

type Listener = FeedListener<SensorStatusChange>;

export interface StatusResumesOptions {
  readonly clock: Clock;
  readonly cursors: StatusCursors;
  readonly statuses: SensorStatuses;
  readonly log: ChangeLog<SensorStatusChange>;
  /** Called before changes are delivered: every later answer must show them. */
  readonly onDelivering: () => void;
  readonly begin: (listener: Listener, changes: readonly SensorStatusChange[]) => void;
  readonly expire: (listener: Listener, error: GatewayError) => void;
}

export interface StatusResume {
  readonly cursor: string;
  readonly position: Position;
}

interface Waiting extends StatusResume {
  readonly sinceMs: ForwardMs;
}

// Subscribers that resume with the same cursor, such as all tabs of a dashboard after a restart, share one replay.
const mostReplays = 16;

/**
 * Subscribers with a cursor that the log does not reach: each gets the sensors whose status differs from that in its
 * cursor, once upstream has been read later than for the cursor. An earlier read would undo what it has received.
 */
export class StatusResumes {
  readonly #options: StatusResumesOptions;
  readonly #waiting = new Map<Listener, Waiting>();
  readonly #replays = new Map<string, readonly SensorStatusChange[] | null>();
  /** The last read shows everything that had happened by then. */
  #asOfMs: ForwardMs = longAgo;

  constructor(options: StatusResumesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  wait(listener: Listener, resume: StatusResume): void {
    this.#waiting.set(listener, { ...resume, sinceMs: this.#options.clock.now() });
  }

  leave(listener: Listener): void {
    this.#waiting.delete(listener);
  }

  clear(): void {
    this.#waiting.clear();
    this.#replays.clear();
    this.#asOfMs = longAgo;
  }

  /** Begins the delivery to those for which the last read is late enough. */
  answer(asOfMs: ForwardMs = this.#asOfMs): void {
    const { clock, log, begin, expire } = this.#options;
    this.#asOfMs = asOfMs;
    for (const [listener, { cursor, position, sinceMs }] of this.#waiting) {
      // Clocks of instances need not agree, but what a subscriber has received happened before it came here.
      if (momentAt(clock, momentOf(position)) > asOfMs && sinceMs > asOfMs) continue;
      this.#waiting.delete(listener);
      const key = `${log.next} ${asOfMs} ${cursor}`;
      const replay = cached(this.#replays, mostReplays, key, () => this.#missedSince(position));
      if (replay) begin(listener, replay);
      else expire(listener, new CursorExpired(expired, { argument: 'after' }));
    }
  }

  /** Each sensor whose status has changed, once; null when the cursor does not tell which have. */
  #missedSince(position: Position): readonly SensorStatusChange[] | null {
    const { clock, cursors, statuses, onDelivering } = this.#options;
    const sensors = new Map([...statuses.readable()].map((sensor) => [sensor.number, sensor]));
    const present = new Map([...sensors].map(([number, { status }]) => [number, status]));
    const before = statusesAt(position, present);
    if (!before) return null;
    // Where none of its sensors is there the cursor is of another project, and nothing could ever differ from it.
    if (before.size > 0 && sensors.size > 0 && ![...before.keys()].some((number) => sensors.has(number)))
      return null;
    // A sensor whose record cannot be read may have changed too.
    if (!statuses.isReadable && [...before.keys()].some((number) => !sensors.has(number))) return null;
    const missed = [...sensors.values()]
      .flatMap((sensor) => {
        const previousStatus = before.get(sensor.number);
        const isChanged = previousStatus !== undefined && previousStatus !== sensor.status;
        return isChanged ? [{ ...sensor, previousStatus }] : [];
      })
      .sort((one, other) => one.observedAtMs - other.observedAtMs);
    if (missed.length > 0) onDelivering();
    const atMs = clock.wallMs();
    return missed.map((change, at) => ({
      ...change,
      cursor() {
        const reached = new Map(present);
        for (const { number, previousStatus } of missed.slice(at + 1)) reached.set(number, previousStatus);
        return cursors.encode({ statuses: reached, atMs, logged: null });
      },
    }));
  }
}
