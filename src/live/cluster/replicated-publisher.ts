import type { ForwardMs, Timer } from '../../clock.js';
import type { Log } from '../../log.js';
import { heartbeatMs, StoreUnavailable } from '../../store/store.js';
import type { State } from '../tracking/snapshot.js';
import { LogEntries } from './log-entries.js';
import type { ChangePublisher, PollProgress } from './publisher.js';
import { type Participation, ReplicatedLog, type ReplicatedLogOptions } from './replicated-log.js';

export interface ReplicatedPublisherOptions<Rec, Kind extends string>
  extends Omit<ReplicatedLogOptions<Rec, Kind>, 'text'> {
  readonly log: Log;
  /** When this instance last read upstream to the end; null when it has not. */
  readonly readAtMs: () => ForwardMs | null;
  /** Called when this instance becomes the one that polls. */
  readonly onLeader: () => void;
}

// The epoch can end before each append. After so many attempts the changes are appended as while partitioned.
const mostAttempts = 3;

/**
 * Several instances (docs/behaviour.md 8): the leader polls and appends its changes to the replicated log, from which
 * all instances deliver in one order. After any failure this instance is partitioned and continues from its snapshot. Since its
 * detector appends no change twice, it can attach again at any time and apply the changes made meanwhile.
 */
export class ReplicatedPublisher<Rec, Kind extends string> implements ChangePublisher<Rec> {
  readonly #options: ReplicatedPublisherOptions<Rec, Kind>;
  readonly #text: LogEntries<Rec>;
  readonly #log: ReplicatedLog<Rec, Kind>;
  #session: Session | null = null;
  #isShared = false;
  #isLeader = false;
  #progress: PollProgress | null = null;

  constructor(options: ReplicatedPublisherOptions<Rec, Kind>) {
    this.#options = options;
    this.#text = new LogEntries(options.subject, options.changes.time);
    this.#log = new ReplicatedLog({ ...options, text: this.#text });
  }

  get isLeader(): boolean {
    return !this.#isShared || this.#isLeader;
  }

  get progress(): PollProgress | null {
    return this.isLeader ? null : this.#progress;
  }

  start(): void {
    if (this.#session) return;
    const { changes, clock } = this.#options;
    const { connection } = changes;
    const session = new Session();
    this.#session = session;
    session.stops.push(
      changes.onAppend(() => this.#inOrder(session, () => this.#read(session))),
      connection.onChange(() => {
        if (connection.isUp) void this.#resync(session);
        else this.#detach();
      }),
    );
    const heartbeat = () => {
      void this.#heartbeat(session);
      session.timer = clock.timer(heartbeatMs, heartbeat);
    };
    session.timer = clock.timer(heartbeatMs, heartbeat);
    // The leader is unknown until the first answer, so this instance does not poll before it.
    this.#isShared = connection.isUp;
    if (connection.isUp) void this.#resync(session);
  }

  stop(): void {
    this.#session?.end();
    this.#session = null;
    this.#isShared = false;
    this.#isLeader = false;
    this.#progress = null;
    this.#log.forget();
    void this.#options.changes.leave();
  }

  upToDate(): Promise<void> | null {
    const session = this.#session;
    if (!session || !this.#isShared) return null;
    session.reading ??= this.#inOrder(session, () => {
      // A subscriber that comes after the read has begun needs a read of its own: changes may be appended meanwhile.
      session.reading = null;
      return this.#read(session);
    });
    return session.reading;
  }

  append(changed: readonly State<Rec>[]): Promise<void> {
    const session = this.#session;
    return session ? this.#inOrder(session, () => this.#append(session, changed)) : Promise.resolve();
  }

  /** Runs one operation after the other. Never rejects. */
  #inOrder(session: Session, operation: () => Promise<void>): Promise<void> {
    session.last = session.last.then(async () => {
      if (session.isOver) return;
      try {
        await operation();
      } catch (error) {
        if (!session.isOver) this.#fail(error);
      }
    });
    return session.last;
  }

  async #resync(session: Session): Promise<void> {
    session.isResyncing = true;
    await this.#inOrder(session, () => this.#attach(session));
    session.isResyncing = false;
    await this.#heartbeat(session);
  }

  async #attach(session: Session): Promise<void> {
    await this.#log.attach(session);
    if (session.isOver) return;
    // The connection can have dropped since the answer; its change event has then already passed.
    if (!this.#options.changes.connection.isUp) throw new StoreUnavailable();
    this.#isShared = true;
  }

  async #read(session: Session): Promise<void> {
    if (!this.#isShared) return;
    await this.#log.read(session);
    if (this.#isLeader && !session.isOver) await this.#log.replaceSnapshot();
  }

  async #append(session: Session, changed: readonly State<Rec>[]): Promise<void> {
    const log = this.#log;
    const records = changed.map(({ record }) => record);
    try {
      for (let attempt = 0; attempt < mostAttempts && this.#isShared; attempt++) {
        const isAdded = await log.append(session, records);
        if (session.isOver) return;
        if (isAdded) return await log.replaceSnapshot();
        await this.#attach(session);
      }
    } catch (error) {
      this.#fail(error);
    }
    if (session.isOver) return;
    for (const record of records) log.appendedWhilePartitioned(record);
    // Other instances' changes may have been applied since these were detected.
    const { appender, detector } = this.#options;
    appender.append(records.map((record) => detector.stateOf(record)));
  }

  async #heartbeat(session: Session): Promise<void> {
    const { changes, detector, onLeader } = this.#options;
    if (session.isOver || !changes.connection.isUp) return;
    if (!this.#isShared && !session.isResyncing) return this.#resync(session);
    try {
      const wasPolling = this.isLeader;
      const {
        isLeader: isPolling,
        last,
        progress,
      } = await changes.heartbeat(this.#isLeader ? this.#ownProgress() : null);
      if (session.isOver || !this.#isShared) return;
      this.#isLeader = isPolling;
      if (progress !== null) {
        this.#progress = this.#text.progressOf(progress);
        detector.watermark.reached(this.#progress.upstreamMs);
      }
      const { offset } = this.#log;
      if (last?.epoch !== offset?.epoch) await this.#inOrder(session, () => this.#attach(session));
      else if (last && offset && last.offset > offset.offset)
        await this.#inOrder(session, () => this.#read(session));
      if (session.isOver) return;
      // Redis has lost the epoch, or was unreachable when it should have begun.
      if (this.#isLeader && !this.#log.offset && detector.hasBaseline)
        await this.#inOrder(session, () => this.#log.begin(session));
      if (!wasPolling && this.isLeader) onLeader();
    } catch (error) {
      if (!session.isOver) this.#fail(error);
    }
  }

  /** The replicated log cannot be reached or read: this instance is partitioned, and attaches again with a later heartbeat. */
  #fail(error: unknown): void {
    const { log, subject } = this.#options;
    if (!(error instanceof StoreUnavailable))
      log.error(
        { feed: subject.name, error },
        'The replicated log cannot be read; this instance is partitioned until it can',
      );
    this.#detach();
  }

  #detach(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#isLeader = false;
    const { detector, appender, onLeader } = this.#options;
    appender.detach();
    // With a baseline, wait for the next poll as usual, so that not all instances read upstream at once.
    if (!detector.hasBaseline) onLeader();
  }

  #ownProgress(): string | null {
    const { readAtMs: lastRead, detector } = this.#options;
    const readAtMs = lastRead();
    return readAtMs === null ? null : this.#text.ofProgress({ readAtMs, upstreamMs: detector.watermark.ms });
  }
}

/** The time from the first listener to the last. */
class Session implements Participation {
  isOver = false;
  /** Settles with the last operation in order. */
  last: Promise<void> = Promise.resolve();
  isResyncing = false;
  /** A read of the replicated log that has not begun yet; null without one. */
  reading: Promise<void> | null = null;
  timer: Timer | null = null;
  readonly stops: (() => void)[] = [];

  end(): void {
    this.isOver = true;
    this.timer?.cancel();
    for (const stop of this.stops) stop();
  }
}
