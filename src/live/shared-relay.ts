import type { Clock, Timer } from '../clock.js';
import type { Log } from '../log.js';
import { type Attached, beatMs, type Place, type SharedChanges, StoreAway } from '../store/store.js';
import type { Subject } from './change.js';
import type { Ledger } from './ledger.js';
import { newRun } from './numbering.js';
import type { Pulse, Relay } from './relay.js';
import { SharedText } from './shared-text.js';

export interface SharedRelayOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly changes: SharedChanges;
  readonly ledger: Ledger<Rec, Kind>;
  readonly clock: Clock;
  readonly log: Log;
  /** When upstream was last read to the end by this instance; null when it was not. */
  readonly readAtMs: () => number | null;
  /** It is this instance's turn to poll. */
  readonly onTurn: () => void;
  /** What was there before is known now, from others. */
  readonly onBaseline: () => void;
}

// Enough for a day of most networks. Older ones count as known from before.
const mostInBase = 5_000;
// Whoever attaches has so much to read besides the base.
const rebaseAfter = 2_000;
// One script's worth.
const publishedAtOnce = 500;
// A run can be over each time that something is to be added; then the others have troubles enough.
const mostAttempts = 3;

/**
 * Of several instances (contract 8): one polls, and what it finds goes into a run that all of them read and tell from, in
 * one order. Whatever goes wrong with that, this instance goes on by itself, from what it knows; and since its ledger
 * tells nothing twice, it can join the others again at any time, and hear what they have told meanwhile.
 */
export class SharedRelay<Rec, Kind extends string> implements Relay<Rec> {
  readonly #options: SharedRelayOptions<Rec, Kind>;
  readonly #text: SharedText<Rec>;
  #session: Session | null = null;
  /** Told while alone: the others may not know of it. */
  readonly #unshared = new Set<string>();
  #isShared = false;
  #hasTurn = false;
  #place: Place | null = null;
  #basedAt = 0;
  #pulse: Pulse | null = null;

  constructor(options: SharedRelayOptions<Rec, Kind>) {
    this.#options = options;
    this.#text = new SharedText(options.subject, options.changes.time);
  }

  get isPolling(): boolean {
    return !this.#isShared || this.#hasTurn;
  }

  get pulse(): Pulse | null {
    return this.isPolling ? null : this.#pulse;
  }

  start(): void {
    if (this.#session) return;
    const { changes, clock } = this.#options;
    const session = new Session();
    this.#session = session;
    session.stops.push(
      changes.onBell(() => this.#inOrder(session, () => this.#read(session))),
      changes.connection.onChange(() => {
        if (changes.connection.isUp) void this.#join(session);
        else this.#goAlone();
      }),
    );
    const beat = () => {
      void this.#beat(session);
      session.timer = clock.timer(beatMs, beat);
    };
    session.timer = clock.timer(beatMs, beat);
    // Until the first answer nobody knows whose turn it is.
    this.#isShared = changes.connection.isUp;
    if (changes.connection.isUp) void this.#join(session);
  }

  stop(): void {
    this.#session?.end();
    this.#session = null;
    this.#isShared = false;
    this.#hasTurn = false;
    this.#place = null;
    this.#pulse = null;
    this.#unshared.clear();
    void this.#options.changes.leave();
  }

  upTo(logged: Place | null): Promise<void> | null {
    const session = this.#session;
    if (!session || !this.#isShared) return null;
    if (session.joining) return session.joining;
    // Another instance was faster.
    const isAhead = logged !== null && logged.run === this.#place?.run && logged.seq > this.#place.seq;
    return isAhead ? this.#inOrder(session, () => this.#read(session)) : null;
  }

  publish(news: readonly Rec[]): Promise<void> {
    const session = this.#session;
    return session ? this.#inOrder(session, () => this.#publish(session, news)) : Promise.resolve();
  }

  /** One after the other: each finds the ledger as the one before has left it. Never fails. */
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
    const { changes, ledger, onBaseline } = this.#options;
    const attached = await changes.attach(this.#place);
    if (session.isOver) return;
    this.#isShared = true;
    if (!attached) {
      this.#place = null;
      return;
    }
    const { run, base } = attached;
    if (base) {
      const knewNothing = !ledger.hasBaseline;
      this.#place = { run, seq: base.seq };
      this.#basedAt = base.seq;
      ledger.adopt(this.#text.stateOf(base.text), this.#place);
      if (knewNothing) onBaseline();
    }
    this.#hear(attached);
    await this.#shareTheRest(session, run);
  }

  /** What was told while this instance was alone: the others may have missed it. */
  async #shareTheRest(session: Session, run: number): Promise<void> {
    const { ledger } = this.#options;
    const records = [...this.#unshared].flatMap((id) => ledger.memory.get(id)?.state.record ?? []);
    if (records.length > 0 && (await this.#add(session, run, records))) this.#unshared.clear();
  }

  async #publish(session: Session, news: readonly Rec[]): Promise<void> {
    const { ledger } = this.#options;
    try {
      for (let attempt = 0; attempt < mostAttempts && this.#isShared; attempt++) {
        if (!this.#place) await this.#begin(session);
        if (session.isOver) return;
        if (this.#place && (await this.#add(session, this.#place.run, news))) return;
        if (session.isOver) return;
        await this.#attach(session);
      }
    } catch (error) {
      this.#fail(error);
    }
    if (session.isOver) return;
    for (const record of news) this.#unshared.add(this.#options.subject.idOf(record));
    ledger.tell(news);
  }

  async #begin(session: Session): Promise<void> {
    const { changes, ledger } = this.#options;
    const run = newRun();
    const isBegun = await changes.begin(run, this.#text.ofState(ledger.state(mostInBase)));
    if (session.isOver) return;
    if (!isBegun) return this.#attach(session);
    this.#place = { run, seq: 0 };
    this.#basedAt = 0;
    // All that is known is in the base.
    this.#unshared.clear();
    ledger.numbering.restart(this.#place, ledger.log.next);
  }

  /** False when the run is over; then nothing was added. */
  async #add(session: Session, run: number, records: readonly Rec[]): Promise<boolean> {
    const { changes } = this.#options;
    for (let at = 0; at < records.length; at += publishedAtOnce) {
      const part = records.slice(at, at + publishedAtOnce);
      const nowMs = this.#options.clock.now();
      const texts = part.map((record) => this.#text.ofChange({ record, observedAtMs: nowMs }));
      const last = await changes.publish(run, texts);
      if (session.isOver || last === null) return session.isOver;
      // Read back, so that all instances tell in the same order; but told from the records themselves.
      const first = last - part.length + 1;
      await this.#read(session, (seq) => part[seq - first]);
    }
    return true;
  }

  async #read(session: Session, own: (seq: number) => Rec | undefined = () => undefined): Promise<void> {
    const { changes } = this.#options;
    if (!this.#isShared || !this.#place) return;
    const found = await changes.readAfter(this.#place);
    if (session.isOver) return;
    if (found === null) return this.#attach(session);
    this.#hear({ run: this.#place.run, changes: found }, own);
    if (!this.#hasTurn || this.#place.seq - this.#basedAt < rebaseAfter) return;
    this.#basedAt = this.#place.seq;
    await changes.rebase(this.#place, this.#text.ofState(this.#options.ledger.state(mostInBase)));
  }

  #hear(
    { run, changes }: Pick<Attached, 'run' | 'changes'>,
    own: (seq: number) => Rec | undefined = () => undefined,
  ): void {
    const { ledger, clock } = this.#options;
    for (const { seq, text } of changes) {
      const told = this.#text.changeOf(text);
      const record = own(seq) ?? told?.record;
      if (record) ledger.hear(record, told?.observedAtMs ?? clock.now(), { run, seq });
      else ledger.numbering.restart({ run, seq }, ledger.log.next);
      this.#place = { run, seq };
    }
  }

  async #beat(session: Session): Promise<void> {
    const { changes, ledger, onTurn } = this.#options;
    if (session.isOver || !changes.connection.isUp) return;
    if (!this.#isShared && !session.joining) return this.#join(session);
    try {
      const wasPolling = this.isPolling;
      const { isPolling, last, pulse } = await changes.beat(this.#hasTurn ? this.#ownPulse() : null);
      if (session.isOver || !this.#isShared) return;
      this.#hasTurn = isPolling;
      if (pulse !== null) {
        this.#pulse = this.#text.pulseOf(pulse);
        ledger.time.reached(this.#pulse.upstreamMs);
      }
      if (last?.run !== this.#place?.run) await this.#inOrder(session, () => this.#attach(session));
      else if (last && this.#place && last.seq > this.#place.seq)
        await this.#inOrder(session, () => this.#read(session));
      if (session.isOver) return;
      // Redis has lost the run, or there never was one while Redis was away.
      if (this.#hasTurn && !this.#place && ledger.hasBaseline)
        await this.#inOrder(session, () => this.#begin(session));
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
    const { ledger, onTurn } = this.#options;
    ledger.goAlone();
    // Who knows something goes on at its next poll, so that not all ask at once.
    if (!ledger.hasBaseline) onTurn();
  }

  #ownPulse(): string | null {
    const { readAtMs: lastRead, ledger } = this.#options;
    const readAtMs = lastRead();
    return readAtMs === null ? null : this.#text.ofPulse({ readAtMs, upstreamMs: ledger.time.ms });
  }
}

/** From the first listener to the last. */
class Session {
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
