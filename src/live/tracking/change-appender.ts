import { type Clock, type ForwardMs, latest, longAgo, plus, type UnixMs } from '../../clock.js';
import type { LogOffset } from '../../store/store.js';
import type { Change, Subject } from './change.js';
import type { ChangeDetector } from './change-detector.js';
import { ChangeLog } from './change-log.js';
import type { Cursors } from './cursor/cursor.js';
import { newEpoch, Offsets } from './cursor/offsets.js';
import { Replay } from './replay/replay.js';
import type { State } from './snapshot.js';

export interface ChangeAppenderOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** Called with each state of a record before a subscriber receives it. */
  readonly onDelivering: (record: Rec) => void;
}

/** Where and when another instance appended a change. */
export interface ReplicatedChange {
  readonly observedAtMs: ForwardMs;
  readonly isLate: boolean;
  readonly offset: LogOffset;
}

/** The snapshot of a feed as instances exchange it, without the change log. */
export interface ExchangedSnapshot<Rec> {
  readonly records: readonly { readonly record: Rec; readonly traits: unknown }[];
  readonly completeFromMs: UnixMs;
  readonly upstreamMs: UnixMs;
}

/** Appends every change to the log of this instance once, from its own reads and from other instances. */
export class ChangeAppender<Rec, Kind extends string> {
  readonly log: ChangeLog<Change<Rec, Kind>>;
  readonly offsets = new Offsets({ epoch: newEpoch(), offset: 0 }, 1);
  readonly replay: Replay<Rec, Kind>;
  readonly #options: ChangeAppenderOptions<Rec, Kind>;

  constructor(options: ChangeAppenderOptions<Rec, Kind>) {
    const { subject, clock, cursors, detector } = options;
    this.#options = options;
    this.log = new ChangeLog(clock);
    this.replay = new Replay({ subject, snapshot: detector.snapshot, offsets: this.offsets, cursors, clock });
  }

  /** Appends those of the detected changes that the snapshot does not hold yet. */
  append(changed: readonly State<Rec>[]): void {
    const { detector, clock } = this.#options;
    for (const state of changed) if (detector.isChange(state)) this.#append(state, clock.now());
  }

  /**
   * Appends a change of the replicated log unless it is known here already. The offsets restart at each skipped change,
   * since only an unbroken sequence can be resumed from this log.
   * @param isLate it comes from an instance that was partitioned, and may be older than what is known
   */
  appendReplicated(record: Rec, { observedAtMs, isLate, offset: at }: ReplicatedChange): void {
    const { epoch, offset } = at;
    const { detector } = this.#options;
    const state = detector.stateOf(record);
    const isChange = detector.isChange(state) && !(isLate && detector.isOlder(state));
    const { next } = this.log;
    if (!isChange) this.offsets.restart({ epoch, offset }, next);
    else if (this.offsets.following({ epoch, offset: offset - 1 }) !== next)
      this.offsets.restart({ epoch, offset: offset - 1 }, next);
    if (isChange) this.#append(state, observedAtMs);
  }

  /** Call before a subscriber receives this record: every later answer must show the state (docs/behaviour.md 5.7). */
  delivering(record: Rec): void {
    const { detector, subject, onDelivering } = this.#options;
    const known = detector.snapshot.get(subject.idOf(record));
    if (!known || known.delivered === known.state) return;
    known.delivered = known.state;
    onDelivering(known.state.record);
  }

  /** Starts an epoch of this instance, which is partitioned: later changes are not part of the replicated log. */
  detach(): void {
    this.offsets.restart({ epoch: newEpoch(), offset: 0 }, this.log.next);
  }

  /** Takes over a snapshot of another instance: appends what is new to a feed with a baseline, learns the rest. */
  adopt({ records, completeFromMs, upstreamMs }: ExchangedSnapshot<Rec>, at: LogOffset): void {
    const { detector, clock, subject } = this.#options;
    const { snapshot } = detector;
    const nowMs = clock.now();
    for (const { record, traits } of records) {
      const state = detector.stateOf(record, traits);
      const isNew = detector.isChange(state) && detector.isComparable(state) && !detector.isOlder(state);
      if (detector.hasBaseline && isNew) this.#append(state, nowMs);
      else if (!snapshot.get(subject.idOf(record))) snapshot.learn(state, nowMs);
    }
    detector.beginWith(completeFromMs);
    detector.watermark.reached(upstreamMs);
    this.offsets.restart(at, this.log.next);
  }

  /** The newest `most` records and all that are not final, for other instances. */
  exchanged(most: number): ExchangedSnapshot<Rec> {
    const { snapshot, completeFromMs, watermark } = this.#options.detector;
    const { ordered } = snapshot;
    const first = Math.max(0, ordered.length - most);
    const taken = ordered.filter(({ state }, at) => at >= first || !state.isFinal);
    // Records with the same time as the first one taken may be missing.
    const leftOutMs = ordered[first - 1]?.state.timeMs ?? longAgo;
    return {
      records: taken.map(({ state: { record, traits } }) => ({ record, traits })),
      completeFromMs: latest(completeFromMs, plus(leftOutMs, 0.001)),
      upstreamMs: watermark.ms,
    };
  }

  /** The last subscriber has left. */
  reset(): void {
    this.log.clear();
    this.replay.clear();
    this.detach();
  }

  #append(state: State<Rec>, observedAtMs: ForwardMs): void {
    const { detector, clock, subject } = this.#options;
    const { snapshot, watermark } = detector;
    const before = snapshot.get(subject.idOf(state.record));
    watermark.saw(state.timeMs, clock.wallMs());
    const known = before ?? snapshot.learn(state, clock.now());
    const wasShown = before !== undefined && subject.wasShown(before.state.traits);
    const continued = snapshot.get(subject.continues(state.record) ?? '');
    const wasShownAsOther = continued !== undefined && subject.wasShown(continued.state.traits);
    if (before) snapshot.update(before, state);
    const seq = this.log.next;
    // Update the snapshot before subscribers run: their reads must see this change.
    if (!wasShown) known.announced = subject.wasShown(state.traits) ? seq : Number.POSITIVE_INFINITY;
    if (state.isFinal) snapshot.finish(known, seq);
    const change: Change<Rec, Kind> = {
      kind: subject.kindOf(state.record, wasShown || wasShownAsOther),
      record: state.record,
      traits: state.traits,
      observedAtMs,
      cursor: () => this.replay.cursorAt(seq, detector.completeFromMs),
    };
    this.delivering(state.record);
    this.log.append(change, known);
  }
}
