import type { Clock } from '../../clock.js';
import type { Attached, Place, SharedChanges } from '../../store/store.js';
import type { Subject } from '../tracking/change.js';
import type { ChangeAppender } from '../tracking/change-appender.js';
import type { ChangeDetector } from '../tracking/change-detector.js';
import { newEpoch } from '../tracking/offsets.js';
import type { LogEntries } from './log-entries.js';

export interface ReplicatedLogOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly changes: SharedChanges;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly appender: ChangeAppender<Rec, Kind>;
  readonly clock: Clock;
  readonly text: LogEntries<Rec>;
  /** Called when the baseline has been taken from another instance. */
  readonly onBaseline: () => void;
}

/** The time from the first listener to the last; work that finishes after it is discarded. */
export interface Stay {
  readonly isOver: boolean;
}

// Records in a snapshot: enough for a day of most networks. Older ones count as known from before.
const mostInSnapshot = 5_000;
// Upper bound of the changes that an attaching instance reads besides the snapshot.
const rebaseAfter = 2_000;
// Changes appended with one Redis script.
const publishedAtOnce = 500;

/**
 * This instance's part in the replicated log, from which all instances deliver. Calls must not overlap, since each
 * relies on the detector as the previous one left it. Every method can throw `StoreAway`, and stops once the stay is
 * over.
 */
export class ReplicatedLog<Rec, Kind extends string> {
  readonly #options: ReplicatedLogOptions<Rec, Kind>;
  /** Ids of records appended while this instance was partitioned: other instances may not know their states. */
  readonly #unpublished = new Set<string>();
  #applied: Place | null = null;
  #snapshotSeq = 0;

  constructor(options: ReplicatedLogOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** Offset of the last change applied here; null without an epoch. */
  get place(): Place | null {
    return this.#applied;
  }

  forget(): void {
    this.#applied = null;
    this.#unpublished.clear();
  }

  /** Marks a record for publication on the next attach. */
  appendedAlone(record: Rec): void {
    this.#unpublished.add(this.#options.subject.idOf(record));
  }

  /** Resyncs with the other instances, and publishes the records that were appended while partitioned. */
  async attach(stay: Stay): Promise<void> {
    const { changes, detector, appender, text, onBaseline } = this.#options;
    const attached = await changes.attach(this.#applied);
    if (stay.isOver) return;
    if (!attached) {
      this.#applied = null;
      return;
    }
    const { run, base } = attached;
    if (base) {
      const hadNoBaseline = !detector.hasBaseline;
      this.#applied = { run, seq: base.seq };
      this.#snapshotSeq = base.seq;
      appender.adopt(text.stateOf(base.text), this.#applied);
      if (hadNoBaseline) onBaseline();
    }
    this.#apply(attached);
    const records = [...this.#unpublished].flatMap((id) => detector.snapshot.get(id)?.state.record ?? []);
    if (records.length > 0 && (await this.#add(stay, run, records, true))) this.#unpublished.clear();
  }

  /** Begins an epoch from this instance's snapshot, or attaches to one that another instance began first. */
  async begin(stay: Stay): Promise<void> {
    const { changes, appender, text } = this.#options;
    const run = newEpoch();
    const isBegun = await changes.begin(run, text.ofState(appender.exchanged(mostInSnapshot)));
    if (stay.isOver) return;
    if (!isBegun) return this.attach(stay);
    this.#applied = { run, seq: 0 };
    this.#snapshotSeq = 0;
    // The snapshot of the new epoch contains all states.
    this.#unpublished.clear();
    appender.offsets.restart(this.#applied, appender.log.next);
  }

  /** Appends changes, and applies them here after those that others appended before; false when the epoch has ended. */
  async add(stay: Stay, changed: readonly Rec[]): Promise<boolean> {
    if (!this.#applied) await this.begin(stay);
    return (
      stay.isOver || (this.#applied !== null && (await this.#add(stay, this.#applied.run, changed, false)))
    );
  }

  /** Applies the changes that others have appended. */
  async read(stay: Stay, own: (seq: number) => Rec | undefined = () => undefined): Promise<void> {
    if (!this.#applied) return;
    const found = await this.#options.changes.readAfter(this.#applied);
    if (stay.isOver) return;
    if (found === null) return this.attach(stay);
    this.#apply({ run: this.#applied.run, changes: found }, own);
  }

  /** Stores a newer snapshot, so that attaching instances need not read thousands of changes. Called by the leader. */
  async rebase(): Promise<void> {
    const { changes, appender, text } = this.#options;
    if (!this.#applied || this.#applied.seq - this.#snapshotSeq < rebaseAfter) return;
    this.#snapshotSeq = this.#applied.seq;
    await changes.rebase(this.#applied, text.ofState(appender.exchanged(mostInSnapshot)));
  }

  async #add(stay: Stay, run: number, records: readonly Rec[], isLate: boolean): Promise<boolean> {
    const { changes, clock, text } = this.#options;
    for (let at = 0; at < records.length; at += publishedAtOnce) {
      const part = records.slice(at, at + publishedAtOnce);
      const observedAtMs = clock.now();
      const texts = part.map((record) => text.ofChange({ record, observedAtMs, isLate }));
      const last = await changes.publish(run, texts);
      if (stay.isOver || last === null) return stay.isOver;
      // Read back, so that all instances deliver in the same order; own changes use the records without decoding them.
      const first = last - part.length + 1;
      await this.read(stay, (seq) => part[seq - first]);
    }
    return true;
  }

  #apply(
    { run, changes }: Pick<Attached, 'run' | 'changes'>,
    own: (seq: number) => Rec | undefined = () => undefined,
  ): void {
    const { appender, text } = this.#options;
    for (const change of changes) {
      const place = { run, seq: change.seq };
      const observed = text.changeOf(change.text);
      if (observed) appender.appendReplicated(own(change.seq) ?? observed.record, { ...observed, place });
      else appender.offsets.restart(place, appender.log.next);
      this.#applied = place;
    }
  }
}
