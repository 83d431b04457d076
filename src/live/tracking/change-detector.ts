import type { Clock } from '../../clock.js';
import type { Place } from '../../store/store.js';
import type { Change, Subject } from './change.js';
import { ChangeLog } from './change-log.js';
import { newEpoch, Offsets } from './offsets.js';
import { Replay } from './replay.js';
import { type Known, Snapshot, type State } from './snapshot.js';
import { Watermark } from './watermark.js';

export interface ChangeDetectorOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly clock: Clock;
  readonly scope: string;
  /** Has changed records appended, by `append` or `appendReplicated`. */
  readonly publish: (changed: readonly Rec[]) => void | Promise<void>;
  /** Called with each state of a record before a subscriber receives it. */
  readonly onDelivering: (record: Rec) => void;
}

/** Where and when another instance appended a change. */
export interface ReplicatedChange {
  readonly observedAtMs: number;
  readonly isLate: boolean;
  readonly place: Place;
}

/** The snapshot of a change detector as instances exchange it, without the change log. */
export interface DetectorState<Rec> {
  readonly records: readonly { readonly record: Rec; readonly traits: unknown }[];
  readonly coveredFromMs: number;
  readonly upstreamMs: number;
}

/** Compares each poll with what is known and appends every change to the log once (docs/behaviour.md 9.1). */
export class ChangeDetector<Rec, Kind extends string> {
  readonly log: ChangeLog<Change<Rec, Kind>>;
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly offsets = new Offsets({ run: newEpoch(), seq: 0 }, 1);
  readonly replay: Replay<Rec, Kind>;
  readonly watermark = new Watermark();
  readonly #options: ChangeDetectorOptions<Rec, Kind>;
  #coveredFromMs = Number.POSITIVE_INFINITY;
  #hasBaseline = false;

  constructor(options: ChangeDetectorOptions<Rec, Kind>) {
    const { subject, clock, scope } = options;
    this.#options = options;
    this.log = new ChangeLog(clock);
    this.snapshot = new Snapshot(subject);
    const { snapshot, offsets } = this;
    this.replay = new Replay({ subject, snapshot, offsets, scope, clock });
  }

  /**
   * Every record from this time on that existed before the feed is known, so one that appears there is new and is
   * appended. An older record that appears existed before the feed, and enters the snapshot without a change.
   */
  get coveredFromMs(): number {
    return this.#coveredFromMs;
  }

  get hasBaseline(): boolean {
    return this.#hasBaseline;
  }

  /**
   * Takes the baseline: the records that existed before the feed.
   * @param startedAtMs when the first subscriber joined
   * @param coversFromMs `records` contains every record of this time or later
   */
  begin(records: readonly Rec[], startedAtMs: number, coversFromMs: number): void | Promise<void> {
    const nowMs = this.#options.clock.now();
    // Records that started after the first subscriber joined, and before this answer, are new to it. That compares
    // upstream's times with the gateway's clock, which agree well enough only when no record lies in the future.
    const clocksAgree = records.every((record) => this.#options.subject.timeOf(record).ms <= nowMs);
    this.#coveredFromMs = clocksAgree ? startedAtMs : Number.POSITIVE_INFINITY;
    const changed = this.#takeIn(records);
    this.#coveredFromMs = coversFromMs;
    this.watermark.confirm(nowMs, 0);
    this.#hasBaseline = true;
    return this.#options.publish(changed);
  }

  /** Everything from `fromMs` up to the range covered so far has been read. */
  cover(fromMs: number): void {
    this.#coveredFromMs = Math.min(this.#coveredFromMs, fromMs);
  }

  /** Compares records, in any order, with the snapshot. A promise resolves when every change has been appended. */
  observe(records: readonly Rec[]): void | Promise<void> {
    const changed = this.#takeIn(records);
    if (changed.length > 0) return this.#options.publish(changed);
  }

  /** Appends those of these records that still differ from the snapshot. */
  append(records: readonly Rec[]): void {
    for (const record of records) {
      const state = this.#stateOf(record);
      if (this.#isChange(state)) this.#append(state, this.#options.clock.now());
    }
  }

  /**
   * Appends a change of the replicated log unless it is known here already. The offsets restart at each skipped change,
   * since only an unbroken sequence can be resumed from this log.
   * @param isLate it comes from an instance that was partitioned, and may be older than what is known
   */
  appendReplicated(record: Rec, { observedAtMs, isLate, place }: ReplicatedChange): void {
    const { run, seq } = place;
    const state = this.#stateOf(record);
    const isChange = this.#isChange(state) && !(isLate && this.#isOlder(state));
    const { next } = this.log;
    if (!isChange) this.offsets.restart({ run, seq }, next);
    else if (this.offsets.following({ run, seq: seq - 1 }) !== next)
      this.offsets.restart({ run, seq: seq - 1 }, next);
    if (isChange) this.#append(state, observedAtMs);
  }

  /** Call before a subscriber receives this record: every later answer must show the state (docs/behaviour.md 5.7). */
  delivering(record: Rec): void {
    const known = this.snapshot.get(this.#options.subject.idOf(record));
    if (!known || known.delivered === known.state) return;
    known.delivered = known.state;
    this.#options.onDelivering(known.state.record);
  }

  /** Starts an epoch of this instance alone: later changes are not part of the replicated log. */
  detach(): void {
    this.offsets.restart({ run: newEpoch(), seq: 0 }, this.log.next);
  }

  /** Takes over a snapshot of another instance: appends what is new to a detector with a baseline, learns the rest. */
  adopt({ records, coveredFromMs, upstreamMs }: DetectorState<Rec>, place: Place): void {
    const nowMs = this.#options.clock.now();
    for (const { record, traits } of records) {
      const state = this.#stateOf(record, traits);
      const isToBeAppended =
        this.#hasBaseline && this.#isChange(state) && this.#isCovered(state) && !this.#isOlder(state);
      if (isToBeAppended) this.#append(state, nowMs);
      else if (!this.snapshot.get(this.#options.subject.idOf(record))) this.snapshot.learn(state, nowMs);
    }
    this.#coveredFromMs = Math.min(this.#coveredFromMs, coveredFromMs);
    this.watermark.reached(upstreamMs);
    this.#hasBaseline = true;
    this.offsets.restart(place, this.log.next);
  }

  /** The newest `most` records and all that are not final. */
  state(most: number): DetectorState<Rec> {
    const { ordered } = this.snapshot;
    const first = Math.max(0, ordered.length - most);
    const taken = ordered.filter(({ state }, at) => at >= first || !state.isFinal);
    // Records with the same time as the first one taken may be missing.
    const leftOutMs = ordered[first - 1]?.state.timeMs ?? Number.NEGATIVE_INFINITY;
    return {
      records: taken.map(({ state: { record, traits } }) => ({ record, traits })),
      coveredFromMs: Math.max(this.#coveredFromMs, leftOutMs + 0.001),
      upstreamMs: this.watermark.ms,
    };
  }

  /** The records that would be appended if they were observed now. */
  newsAmong(records: readonly Rec[]): Rec[] {
    return records.filter((record) => {
      const state = this.#stateOf(record);
      return this.#isChange(state) && this.#isCovered(state);
    });
  }

  /** The records that were read later than their state in the snapshot. */
  fresherOf(records: readonly Rec[]): Rec[] {
    const { subject } = this.#options;
    return records.filter((record) => {
      const known = this.snapshot.get(subject.idOf(record));
      return !known || subject.readAtMs(record) > subject.readAtMs(known.state.record);
    });
  }

  /** A complete read from `fromMs` on showed the ids in `seen`: any other open record there may be gone. */
  countMissing(fromMs: number, seen: ReadonlySet<string>): void {
    const { ordered } = this.snapshot;
    for (let i = this.snapshot.indexOf(fromMs); i < ordered.length; i++) {
      const known = ordered[i];
      if (known?.state.isOpen && !seen.has(known.id)) known.missing++;
    }
  }

  /** Removes the records before `fromMs` that are not open. */
  forgetBefore(fromMs: number): void {
    this.snapshot.forgetBefore(fromMs, isAwaited);
    this.#coveredFromMs = Math.max(this.#coveredFromMs, fromMs);
  }

  /** The last subscriber has left: without polls the snapshot would miss changes. */
  reset(): void {
    this.log.clear();
    this.snapshot.clear();
    this.watermark.reset();
    this.replay.clear();
    this.detach();
    this.#coveredFromMs = Number.POSITIVE_INFINITY;
    this.#hasBaseline = false;
  }

  /** Updates the snapshot with records that are not changes, and returns those that are, oldest first. */
  #takeIn(records: readonly Rec[]): Rec[] {
    const nowMs = this.#options.clock.now();
    const sightings: State<Rec>[] = [];
    for (const record of records) {
      const known = this.snapshot.get(this.#options.subject.idOf(record));
      if (known) known.missing = 0;
      // Most records of a window are final: skipping them here saves their fingerprints.
      if (!known?.state.isFinal) sightings.push(this.snapshot.stateOf(record, known?.state ?? null));
    }
    sightings.sort((a, b) => a.timeMs - b.timeMs || a.number - b.number);
    const changed: Rec[] = [];
    for (const state of sightings) {
      this.watermark.saw(state.timeMs, nowMs);
      const known = this.snapshot.get(this.#options.subject.idOf(state.record));
      if (this.#isChange(state) && this.#isCovered(state)) changed.push(state.record);
      else if (known) this.snapshot.update(known, state);
      else this.snapshot.learn(state, nowMs);
    }
    return changed;
  }

  #stateOf(record: Rec, traits?: unknown): State<Rec> {
    const known = this.snapshot.get(this.#options.subject.idOf(record));
    return this.snapshot.stateOf(record, known?.state ?? null, traits);
  }

  /** True when the snapshot does not hold the record in this state. */
  #isChange(state: State<Rec>): boolean {
    const known = this.snapshot.get(this.#options.subject.idOf(state.record));
    return !known || (!known.state.isFinal && known.state.fingerprint !== state.fingerprint);
  }

  /**
   * True when the record was read earlier than the known state. The clocks of two instances agree no better than the
   * round trip to Redis, so a final state counts whenever it was read.
   */
  #isOlder({ record, isFinal }: State<Rec>): boolean {
    const { subject } = this.#options;
    const known = this.snapshot.get(subject.idOf(record));
    return !isFinal && known !== undefined && subject.readAtMs(record) < subject.readAtMs(known.state.record);
  }

  #isCovered(state: State<Rec>): boolean {
    const isKnown = this.snapshot.get(this.#options.subject.idOf(state.record)) !== undefined;
    return isKnown || state.timeMs >= this.#coveredFromMs;
  }

  #append(state: State<Rec>, observedAtMs: number): void {
    const { clock, subject } = this.#options;
    const before = this.snapshot.get(subject.idOf(state.record));
    this.watermark.saw(state.timeMs, clock.now());
    const known = before ?? this.snapshot.learn(state, clock.now());
    if (before) this.snapshot.update(before, state);
    const seq = this.log.next;
    // Update the snapshot before subscribers run: their reads must see this change.
    if (!before) known.announced = seq;
    if (state.isFinal) this.snapshot.finish(known, seq);
    const change: Change<Rec, Kind> = {
      kind: subject.kindOf(state.record, before !== undefined),
      record: state.record,
      traits: state.traits,
      observedAtMs,
      cursor: () => this.replay.cursorAt(seq, this.#coveredFromMs),
    };
    this.delivering(state.record);
    this.log.append(change, known);
  }
}

/** Open and still listed upstream: a record that has disappeared must not stretch the look-back window for ever. */
export function isAwaited({ state, missing }: Known<unknown, string>): boolean {
  return state.isOpen && missing < 3;
}
