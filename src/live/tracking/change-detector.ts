import { type Clock, earliest, type ForwardMs, forever, latest, type UnixMs } from '../../clock.js';
import type { Subject } from './change.js';
import { type Known, Snapshot, type State } from './snapshot.js';
import { Watermark } from './watermark.js';

/**
 * Compares each read with the snapshot of what is known: what differs is to be appended to the change log, the rest
 * enters the snapshot at once (docs/behaviour.md 9.1).
 */
export class ChangeDetector<Rec, Kind extends string> {
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly watermark = new Watermark();
  readonly #subject: Subject<Rec, Kind>;
  readonly #clock: Clock;
  #completeFromMs: UnixMs = forever;
  #hasBaseline = false;

  constructor(subject: Subject<Rec, Kind>, clock: Clock) {
    this.#subject = subject;
    this.#clock = clock;
    this.snapshot = new Snapshot(subject);
  }

  /**
   * Every record from this time on that existed before the feed is known, so one that appears there is new and is a
   * change. An older record that appears existed before the feed, and enters the snapshot without a change.
   */
  get completeFromMs(): UnixMs {
    return this.#completeFromMs;
  }

  get hasBaseline(): boolean {
    return this.#hasBaseline;
  }

  /**
   * Takes the baseline, the records that existed before the feed, and returns the changes among them.
   * @param startedAtMs when the first subscriber joined
   * @param completeFromMs `records` contains every record of this time or later
   */
  begin(records: readonly Rec[], startedAtMs: ForwardMs, completeFromMs: UnixMs): readonly State<Rec>[] {
    const nowMs = this.#clock.now();
    const wallMs = this.#clock.wallMs(nowMs);
    // Records that started after the first subscriber joined, and before this answer, are new to it. That compares
    // upstream's times with the gateway's clock, which agree well enough only when no record lies in the future.
    const clocksAgree = records.every((record) => this.#subject.timeOf(record).ms <= wallMs);
    this.#completeFromMs = clocksAgree ? this.#clock.wallMs(startedAtMs) : forever;
    const changed = this.detect(records);
    this.#completeFromMs = completeFromMs;
    this.watermark.confirm(nowMs, wallMs);
    this.#hasBaseline = true;
    return changed;
  }

  /** The snapshot of another instance is the baseline, as far as it reaches. */
  beginWith(completeFromMs: UnixMs): void {
    this.extendTo(completeFromMs);
    this.#hasBaseline = true;
  }

  /** Everything from `fromMs` up to the complete range has been read. */
  extendTo(fromMs: UnixMs): void {
    this.#completeFromMs = earliest(this.#completeFromMs, fromMs);
  }

  /** Compares records, in any order, with the snapshot, and returns the changes, oldest first. */
  detect(records: readonly Rec[]): readonly State<Rec>[] {
    const nowMs = this.#clock.now();
    const wallMs = this.#clock.wallMs(nowMs);
    const states: State<Rec>[] = [];
    for (const record of records) {
      const known = this.snapshot.get(this.#subject.idOf(record));
      if (known) known.missing = 0;
      // Most records of a window are final: skipping them here saves their fingerprints.
      if (!known?.state.isFinal) states.push(this.snapshot.stateOf(record, known?.state ?? null));
    }
    states.sort((a, b) => a.timeMs - b.timeMs || a.number - b.number);
    return states.filter((state) => {
      this.watermark.saw(state.timeMs, wallMs);
      if (this.isChange(state) && this.isComparable(state)) return true;
      const known = this.#knownOf(state);
      if (known) this.snapshot.update(known, state);
      else this.snapshot.learn(state, nowMs);
      return false;
    });
  }

  /** The records that `detect` would return now. */
  changesAmong(records: readonly Rec[]): Rec[] {
    return records.filter((record) => {
      const state = this.stateOf(record);
      return this.isChange(state) && this.isComparable(state);
    });
  }

  /** The records that were read later than their state in the snapshot. */
  fresherOf(records: readonly Rec[]): Rec[] {
    return records.filter((record) => {
      const known = this.snapshot.get(this.#subject.idOf(record));
      return !known || this.#subject.readAtMs(record) > this.#subject.readAtMs(known.state.record);
    });
  }

  /** A complete read from `fromMs` on listed the ids in `seen`: any other open record there may be gone. */
  countMissing(fromMs: UnixMs, seen: ReadonlySet<string>): void {
    const { ordered } = this.snapshot;
    for (let i = this.snapshot.indexOf(fromMs); i < ordered.length; i++) {
      const known = ordered[i];
      if (known?.state.isOpen && !seen.has(known.id)) known.missing++;
    }
  }

  /** Removes the records before `fromMs` that are not open. */
  forgetBefore(fromMs: UnixMs): void {
    this.snapshot.forgetBefore(fromMs, isAwaited);
    this.#completeFromMs = latest(this.#completeFromMs, fromMs);
  }

  /** The last subscriber has left: without polls the snapshot would miss changes. */
  reset(): void {
    this.snapshot.clear();
    this.watermark.reset();
    this.#completeFromMs = forever;
    this.#hasBaseline = false;
  }

  stateOf(record: Rec, traits?: unknown): State<Rec> {
    const known = this.snapshot.get(this.#subject.idOf(record));
    return this.snapshot.stateOf(record, known?.state ?? null, traits);
  }

  /** True when the snapshot does not hold the record in this state. */
  isChange(state: State<Rec>): boolean {
    const known = this.#knownOf(state);
    return !known || (!known.state.isFinal && known.state.fingerprint !== state.fingerprint);
  }

  /**
   * True when the record was read earlier than the known state. The clocks of two instances agree no better than the
   * round trip to Redis, so a final state counts whenever it was read.
   */
  isOlder(state: State<Rec>): boolean {
    const known = this.#knownOf(state);
    const readAtMs = (of: State<Rec>) => this.#subject.readAtMs(of.record);
    return !state.isFinal && known !== undefined && readAtMs(state) < readAtMs(known.state);
  }

  /** True for a known record, and for one in the range in which an unknown one is new. */
  isComparable(state: State<Rec>): boolean {
    return state.timeMs >= this.#completeFromMs || this.#knownOf(state) !== undefined;
  }

  #knownOf(state: State<Rec>): Known<Rec, Kind> | undefined {
    return this.snapshot.get(this.#subject.idOf(state.record));
  }
}

/** Open and still listed upstream: a record that has disappeared must not stretch the look-back window for ever. */
export function isAwaited({ state, missing }: Known<unknown, string>): boolean {
  return state.isOpen && missing < 3;
}
