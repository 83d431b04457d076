import type { Timer } from '../../clock.js';
import type { Log } from '../../log.js';
import { heartbeatMs, type Place, StoreAway } from '../../store/store.js';
import { LogEntries } from './log-entries.js';
import type { ChangePublisher, PollProgress } from './publisher.js';
import { ReplicatedLog, type ReplicatedLogOptions, type Stay } from './replicated-log.js';

export interface ReplicatedPublisherOptions<Rec, Kind extends string>
  extends Omit<ReplicatedLogOptions<Rec, Kind>, 'text'> {
  readonly log: Log;
  /** When upstream was last read to the end by this instance; null when it was not. */
  readonly readAtMs: () => number | null;
  /** It is this instance's turn to poll. */
  readonly onTurn: () => void;
}

// A run can be over each time that something is to be added; then the others have trouble enough.
const mostAttempts = 3;

/**
 * Of several instances (docs/behaviour.md 8): one polls, and what it finds goes into a run that all of them read and tell from, in
 * one order. Whatever goes wrong with that, this instance goes on by itself, from what it knows; and since its detector
 * tells nothing twice, it can join the others again at any time, and hear what they have told meanwhile.
 */
export class ReplicatedPublisher<Rec, Kind extends string> implements ChangePublisher<Rec> {
  readonly #options: ReplicatedPublisherOptions<Rec, Kind>;
  readonly #text: LogEntries<Rec>;
  readonly #run: ReplicatedLog<Rec, Kind>;
  #session: Session | null = null;
  #isShared = false;
  #hasTurn = false;
  #progress: PollProgress | null = null;

  constructor(options: ReplicatedPublisherOptions<Rec, Kind>) {
    this.#options = options;
    this.#text = new LogEntries(options.subject, options.changes.time);
    this.#run = new ReplicatedLog({ ...options, text: this.#text });
  }

  get isPolling(): boolean {
    return !this.#isShared || this.#hasTurn;
  }

  get progress(): PollProgress | null {
    return this.isPolling ? null : this.#progress;
  }

  start(): void {
    if (this.#session) return;
    const { changes, clock } = this.#options;
    const { connection } = changes;
    const session = new Session();
    this.#session = session;
    session.stops.push(
      changes.onBell(() => this.#inOrder(session, () => this.#read(session))),
      connection.onChange(() => {
        if (connection.isUp) void this.#join(session);
        else this.#goAlone();
      }),
    );
    const beat = () => {
      void this.#beat(session);
      session.timer = clock.timer(heartbeatMs, beat);
    };
    session.timer = clock.timer(heartbeatMs, beat);
    // Until the first answer nobody knows whose turn it is.
    this.#isShared = connection.isUp;
    if (connection.isUp) void this.#join(session);
  }

  stop(): void {
    this.#session?.end();
    this.#session = null;
    this.#isShared = false;
    this.#hasTurn = false;
    this.#progress = null;
    this.#run.forget();
    void this.#options.changes.leave();
  }

  upTo(logged: Place | null): Promise<void> | null {
    const session = this.#session;
    if (!session || !this.#isShared) return null;
    if (session.joining) return session.joining;
    // Another instance was faster.
    const { place } = this.#run;
    const isAhead = logged !== null && logged.run === place?.run && logged.seq > place.seq;
    return isAhead ? this.#inOrder(session, () => this.#read(session)) : null;
  }

  publish(news: readonly Rec[]): Promise<void> {
    const session = this.#session;
    return session ? this.#inOrder(session, () => this.#publish(session, news)) : Promise.resolve();
  }

  /** One after the other. Never fails. */
  #inOrder(session: Session, run: () => Promise<void>): Promise<void> {
    session.last = session.last.then(async () => {
      if (session.isOver) return;
      try {
        await run();
      } catch (error) {
        if (!session.isOver) this.#fail(error);
      }
    });
    return session.last;
  }

  async #join(session: Session): Promise<void> {
    session.joining = this.#inOrder(session, () => this.#attach(session));
    await session.joining;
    session.joining = null;
    await this.#beat(session);
  }

  async #attach(session: Session): Promise<void> {
    await this.#run.attach(session);
    if (session.isOver) return;
    // It can have been lost since the answer, and then nobody says so again.
    if (!this.#options.changes.connection.isUp) throw new StoreAway();
    this.#isShared = true;
  }

  async #read(session: Session): Promise<void> {
    if (!this.#isShared) return;
    await this.#run.read(session);
    if (this.#hasTurn && !session.isOver) await this.#run.rebase();
  }

  async #publish(session: Session, news: readonly Rec[]): Promise<void> {
    const run = this.#run;
    try {
      for (let attempt = 0; attempt < mostAttempts && this.#isShared; attempt++) {
        const isAdded = await run.add(session, news);
        if (session.isOver) return;
        if (isAdded) return await run.rebase();
        await this.#attach(session);
      }
    } catch (error) {
      this.#fail(error);
    }
    if (session.isOver) return;
    for (const record of news) run.toldAlone(record);
    this.#options.detector.append(news);
  }

  async #beat(session: Session): Promise<void> {
    const { changes, detector, onTurn } = this.#options;
    if (session.isOver || !changes.connection.isUp) return;
    if (!this.#isShared && !session.joining) return this.#join(session);
    try {
      const wasPolling = this.isPolling;
      const {
        isPolling,
        last,
        pulse: progress,
      } = await changes.beat(this.#hasTurn ? this.#ownPulse() : null);
      if (session.isOver || !this.#isShared) return;
      this.#hasTurn = isPolling;
      if (progress !== null) {
        this.#progress = this.#text.pulseOf(progress);
        detector.watermark.reached(this.#progress.upstreamMs);
      }
      const { place } = this.#run;
      if (last?.run !== place?.run) await this.#inOrder(session, () => this.#attach(session));
      else if (last && place && last.seq > place.seq) await this.#inOrder(session, () => this.#read(session));
      if (session.isOver) return;
      // Redis has lost the run, or there never was one while Redis was away.
      if (this.#hasTurn && !this.#run.place && detector.hasBaseline)
        await this.#inOrder(session, () => this.#run.begin(session));
      if (!wasPolling && this.isPolling) onTurn();
    } catch (error) {
      if (!session.isOver) this.#fail(error);
    }
  }

  /** What is shared cannot be had, or cannot be read: at one of the next beats it is tried again. */
  #fail(error: unknown): void {
    const { log, subject } = this.#options;
    if (!(error instanceof StoreAway))
      log.error({ feed: subject.name, error }, 'What instances share cannot be read');
    this.#goAlone();
  }

  #goAlone(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#hasTurn = false;
    const { detector, onTurn } = this.#options;
    detector.detach();
    // Who knows something goes on at its next poll, so that not all ask at once.
    if (!detector.hasBaseline) onTurn();
  }

  #ownPulse(): string | null {
    const { readAtMs: lastRead, detector } = this.#options;
    const readAtMs = lastRead();
    return readAtMs === null ? null : this.#text.ofPulse({ readAtMs, upstreamMs: detector.watermark.ms });
  }
}

/** From the first listener to the last. */
class Session implements Stay {
  isOver = false;
  /** What is being done, or was done last. */
  last: Promise<void> = Promise.resolve();
  /** Until this instance knows what the others know. */
  joining: Promise<void> | null = null;
  timer: Timer | null = null;
  readonly stops: (() => void)[] = [];

  end(): void {
    this.isOver = true;
    this.timer?.cancel();
    for (const stop of this.stops) stop();
  }
}
