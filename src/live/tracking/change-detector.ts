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
  /** Sees to it that records that are news are told: by `tell` or `hear`. */
  readonly publish: (news: readonly Rec[]) => void | Promise<void>;
  /** Told of each state of a record before a subscriber is. */
  readonly onDelivering: (record: Rec) => void;
}

/** How a change came from the others. */
export interface ReplicatedChange {
  readonly observedAtMs: number;
  readonly isLate: boolean;
  readonly place: Place;
}

/** What a change detector knows, without its log. */
export interface DetectorState<Rec> {
  readonly records: readonly { readonly record: Rec; readonly traits: unknown }[];
  readonly coveredFromMs: number;
  readonly upstreamMs: number;
}

/** What has been seen of upstream's records, and what was told of them: each change once (docs/behaviour.md 9.1). */
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
  begin(records: readonly Rec[], startedAtMs: number, coversFromMs: number): void | Promise<void> {
    const nowMs = this.#options.clock.now();
    // What started after the first listener came, and before this answer, is news to it. By whose clock? Only when no
    // record claims to be from the future do the two clocks agree well enough to say.
    const clocksAgree = records.every((record) => this.#options.subject.timeOf(record).ms <= nowMs);
    this.#coveredFromMs = clocksAgree ? startedAtMs : Number.POSITIVE_INFINITY;
    const news = this.#takeIn(records);
    this.#coveredFromMs = coversFromMs;
    this.watermark.confirm(nowMs, 0);
    this.#hasBaseline = true;
    return this.#options.publish(news);
  }

  /** All from `fromMs` up to what was covered has been read. */
  cover(fromMs: number): void {
    this.#coveredFromMs = Math.min(this.#coveredFromMs, fromMs);
  }

  /** Takes in records as they are now, in any order: nothing happens if nothing has. Over when all that is news is told. */
  observe(records: readonly Rec[]): void | Promise<void> {
    const news = this.#takeIn(records);
    if (news.length > 0) return this.#options.publish(news);
  }

  /** Tells what is still news of these records. */
  append(records: readonly Rec[]): void {
    for (const record of records) {
      const state = this.#stateOf(record);
      if (this.#isNews(state)) this.#tell(state, this.#options.clock.now());
    }
  }

  /**
   * A change of the run that instances share: told unless it was known here already. Only those that are all told, one
   * after the other, make a run that can be resumed from this log.
   * @param isLate it comes from an instance that was alone, and may be older than what is known
   */
  appendReplicated(record: Rec, { observedAtMs, isLate, place }: ReplicatedChange): void {
    const { run, seq } = place;
    const state = this.#stateOf(record);
    const isNews = this.#isNews(state) && !(isLate && this.#isOlder(state));
    const { next } = this.log;
    if (!isNews) this.offsets.restart({ run, seq }, next);
    else if (this.offsets.following({ run, seq: seq - 1 }) !== next)
      this.offsets.restart({ run, seq: seq - 1 }, next);
    if (isNews) this.#tell(state, observedAtMs);
  }

  /** Before a subscriber is told of this record, as it is known: every answer from then on has it (docs/behaviour.md 5.7). */
  delivering(record: Rec): void {
    const known = this.snapshot.get(this.#options.subject.idOf(record));
    if (!known || known.delivered === known.state) return;
    known.delivered = known.state;
    this.#options.onDelivering(known.state.record);
  }

  /** From now on the changes of this log are in no order but its own. */
  detach(): void {
    this.offsets.restart({ run: newEpoch(), seq: 0 }, this.log.next);
  }

  /** What others know: where nothing is known yet it is learnt; else what is news of it is told. */
  adopt({ records, coveredFromMs, upstreamMs }: DetectorState<Rec>, place: Place): void {
    const nowMs = this.#options.clock.now();
    for (const { record, traits } of records) {
      const state = this.#stateOf(record, traits);
      const isToBeTold =
        this.#hasBaseline && this.#isNews(state) && this.#isCovered(state) && !this.#isOlder(state);
      if (isToBeTold) this.#tell(state, nowMs);
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
    // Those of the very time of the first one taken may be missing.
    const leftOutMs = ordered[first - 1]?.state.timeMs ?? Number.NEGATIVE_INFINITY;
    return {
      records: taken.map(({ state: { record, traits } }) => ({ record, traits })),
      coveredFromMs: Math.max(this.#coveredFromMs, leftOutMs + 0.001),
      upstreamMs: this.watermark.ms,
    };
  }

  /** Records that would be told if they were observed now. */
  newsAmong(records: readonly Rec[]): Rec[] {
    return records.filter((record) => {
      const state = this.#stateOf(record);
      return this.#isNews(state) && this.#isCovered(state);
    });
  }

  /** Those that were read later than what is known of them. */
  fresherOf(records: readonly Rec[]): Rec[] {
    const { subject } = this.#options;
    return records.filter((record) => {
      const known = this.snapshot.get(subject.idOf(record));
      return !known || subject.readAtMs(record) > subject.readAtMs(known.state.record);
    });
  }

  /** A complete read from `fromMs` on did not show what is not in `seen`: an open record among it may be gone. */
  countMissing(fromMs: number, seen: ReadonlySet<string>): void {
    const { ordered } = this.snapshot;
    for (let i = this.snapshot.indexOf(fromMs); i < ordered.length; i++) {
      const known = ordered[i];
      if (known?.state.isOpen && !seen.has(known.id)) known.missing++;
    }
  }

  /** Forgets what is neither open nor of `fromMs` or later. */
  forgetBefore(fromMs: number): void {
    this.snapshot.forgetBefore(fromMs, isAwaited);
    this.#coveredFromMs = Math.max(this.#coveredFromMs, fromMs);
  }

  /** Nobody listens any more: what happens from now on is not known. */
  reset(): void {
    this.log.clear();
    this.snapshot.clear();
    this.watermark.reset();
    this.replay.clear();
    this.detach();
    this.#coveredFromMs = Number.POSITIVE_INFINITY;
    this.#hasBaseline = false;
  }

  /** Learns what is no news, and gives what is, oldest first. */
  #takeIn(records: readonly Rec[]): Rec[] {
    const nowMs = this.#options.clock.now();
    const sightings: State<Rec>[] = [];
    for (const record of records) {
      const known = this.snapshot.get(this.#options.subject.idOf(record));
      if (known) known.missing = 0;
      // Most of a window is over and done with.
      if (!known?.state.isFinal) sightings.push(this.snapshot.stateOf(record, known?.state ?? null));
    }
    sightings.sort((a, b) => a.timeMs - b.timeMs || a.number - b.number);
    const news: Rec[] = [];
    for (const state of sightings) {
      this.watermark.saw(state.timeMs, nowMs);
      const known = this.snapshot.get(this.#options.subject.idOf(state.record));
      if (this.#isNews(state) && this.#isCovered(state)) news.push(state.record);
      else if (known) this.snapshot.update(known, state);
      else this.snapshot.learn(state, nowMs);
    }
    return news;
  }

  #stateOf(record: Rec, traits?: unknown): State<Rec> {
    const known = this.snapshot.get(this.#options.subject.idOf(record));
    return this.snapshot.stateOf(record, known?.state ?? null, traits);
  }

  /** Not known in this state. */
  #isNews(state: State<Rec>): boolean {
    const known = this.snapshot.get(this.#options.subject.idOf(state.record));
    return !known || (!known.state.isFinal && known.state.fingerprint !== state.fingerprint);
  }

  /** Read earlier than what is known: the two clocks agree no better than Redis answers, so for what is final it is no matter. */
  #isOlder({ record, isFinal }: State<Rec>): boolean {
    const { subject } = this.#options;
    const known = this.snapshot.get(subject.idOf(record));
    return !isFinal && known !== undefined && subject.readAtMs(record) < subject.readAtMs(known.state.record);
  }

  #isCovered(state: State<Rec>): boolean {
    const isKnown = this.snapshot.get(this.#options.subject.idOf(state.record)) !== undefined;
    return isKnown || state.timeMs >= this.#coveredFromMs;
  }

  #tell(state: State<Rec>, observedAtMs: number): void {
    const { clock, subject } = this.#options;
    const before = this.snapshot.get(subject.idOf(state.record));
    this.watermark.saw(state.timeMs, clock.now());
    const known = before ?? this.snapshot.learn(state, clock.now());
    if (before) this.snapshot.update(before, state);
    const seq = this.log.next;
    // Whoever hears of the change must find the memory as of it.
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

/** Open, and upstream still shows it: one that has gone does not hold a window open for ever. */
export function isAwaited({ state, missing }: Known<unknown, string>): boolean {
  return state.isOpen && missing < 3;
}
