import { randomInt } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Change, Subject } from './change.js';
import { ChangeLog } from './change-log.js';
import { type Known, Memory, type State } from './memory.js';
import { Positions } from './positions.js';
import { UpstreamTime } from './upstream-time.js';

export interface LedgerOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly clock: Clock;
  readonly scope: string;
}

/** What has been seen of upstream's records, and what was told of them: each change once (contract 9.1). */
export class Ledger<Rec, Kind extends string> {
  readonly log: ChangeLog<Change<Rec, Kind>>;
  readonly memory: Memory<Rec, Kind>;
  readonly positions: Positions<Rec, Kind>;
  readonly time = new UpstreamTime();
  readonly #options: LedgerOptions<Rec, Kind>;
  #coveredFromMs = Number.POSITIVE_INFINITY;
  #hasBaseline = false;

  constructor(options: LedgerOptions<Rec, Kind>) {
    const { subject, clock, scope } = options;
    this.#options = options;
    this.log = new ChangeLog(clock);
    this.memory = new Memory(subject);
    this.positions = new Positions({
      subject,
      memory: this.memory,
      scope,
      run: newRun(),
      clock,
    });
  }

  /**
   * Every record from this time on that was there before the feed is known. So one that appears there is news, and is
   * told; an older one that appears was there before, and is learnt in silence.
   */
  get coveredFromMs(): number {
    return this.#coveredFromMs;
  }

  get hasBaseline(): boolean {
    return this.#hasBaseline;
  }

  /**
   * Learns what was there before the feed.
   * @param startedAtMs when the first listener came
   * @param coversFromMs records of this time or later are all among `records`
   */
  begin(records: readonly Rec[], startedAtMs: number, coversFromMs: number): void {
    const nowMs = this.#options.clock.now();
    // What started after the first listener came, and before this answer, is news to it. By whose clock? Only when no
    // record claims to be from the future do the two clocks agree well enough to say.
    const clocksAgree = records.every((record) => this.#options.subject.timeOf(record).ms <= nowMs);
    this.#coveredFromMs = clocksAgree ? startedAtMs : Number.POSITIVE_INFINITY;
    this.observe(records);
    this.#coveredFromMs = coversFromMs;
    this.time.confirm(nowMs, 0);
    this.#hasBaseline = true;
  }

  /** All from `fromMs` up to what was covered has been read. */
  cover(fromMs: number): void {
    this.#coveredFromMs = Math.min(this.#coveredFromMs, fromMs);
  }

  /** Takes in records as they are now, in any order: nothing happens if nothing has. */
  observe(records: readonly Rec[]): void {
    const { clock, subject } = this.#options;
    const nowMs = clock.now();
    const sightings: State<Rec>[] = [];
    for (const record of records) {
      const known = this.memory.get(subject.idOf(record));
      if (known) known.missing = 0;
      // Most of a window is over and done with.
      if (!known?.state.isFinal) sightings.push(this.memory.stateOf(record, known?.state ?? null));
    }
    sightings.sort((a, b) => a.timeMs - b.timeMs || a.number - b.number);
    for (const state of sightings) {
      this.time.saw(state.timeMs, nowMs);
      const known = this.memory.get(subject.idOf(state.record));
      if (!known) {
        const learnt = this.memory.learn(state, nowMs);
        if (state.timeMs >= this.#coveredFromMs) this.#tell(learnt, false);
      } else if (!known.state.isFinal) {
        const isChanged = known.state.fingerprint !== state.fingerprint;
        this.memory.update(known, state);
        if (isChanged) this.#tell(known, true);
      }
    }
  }

  /** Records that would be told if they were observed now. */
  newsAmong(records: readonly Rec[]): Rec[] {
    const { subject } = this.#options;
    return records.filter((record) => {
      const known = this.memory.get(subject.idOf(record));
      if (!known) return subject.timeOf(record).ms >= this.#coveredFromMs;
      return !known.state.isFinal && known.state.fingerprint !== subject.fingerprintOf(record);
    });
  }

  /** Those that were read later than what is known of them. */
  fresherOf(records: readonly Rec[]): Rec[] {
    const { subject } = this.#options;
    return records.filter((record) => {
      const known = this.memory.get(subject.idOf(record));
      return !known || subject.readAtMs(record) > subject.readAtMs(known.state.record);
    });
  }

  /** A complete read from `fromMs` on did not show what is not in `seen`: an open record among it may be gone. */
  countMissing(fromMs: number, seen: ReadonlySet<string>): void {
    const { ordered } = this.memory;
    for (let i = this.memory.indexOf(fromMs); i < ordered.length; i++) {
      const known = ordered[i];
      if (known?.state.isOpen && !seen.has(known.id)) known.missing++;
    }
  }

  /** Forgets what is neither open nor of `fromMs` or later. */
  forgetBefore(fromMs: number): void {
    this.memory.forgetBefore(fromMs, isAwaited);
    this.#coveredFromMs = Math.max(this.#coveredFromMs, fromMs);
  }

  /** Nobody listens any more: what happens from now on is not known. */
  reset(): void {
    this.log.clear();
    this.memory.clear();
    this.time.reset();
    this.positions.renew(newRun());
    this.#coveredFromMs = Number.POSITIVE_INFINITY;
    this.#hasBaseline = false;
  }

  #tell(known: Known<Rec, Kind>, wasKnown: boolean): void {
    const { record, traits, isFinal } = known.state;
    const seq = this.log.next;
    // Whoever hears of the change must find the memory as of it.
    if (!wasKnown) known.announced = seq;
    if (isFinal) this.memory.finish(known, seq);
    const change: Change<Rec, Kind> = {
      kind: this.#options.subject.kindOf(record, wasKnown),
      record,
      traits,
      observedAtMs: this.#options.clock.now(),
      cursor: () => this.positions.cursorAt(seq, this.#coveredFromMs),
    };
    this.log.append(change, known);
  }
}

/** Open, and upstream still shows it: one that has gone does not hold a window open for ever. */
export function isAwaited({ state, missing }: Known<unknown, string>): boolean {
  return state.isOpen && missing < 3;
}

// Never 0, which stands for a position that is in no log. Not from what jitter is drawn from: two runs of a gateway must
// differ whatever that gives.
const newRun = () => randomInt(1, 2 ** 32);
