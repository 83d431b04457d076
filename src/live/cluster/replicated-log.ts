import type { Clock } from '../../clock.js';
import type { Attached, LogOffset, SharedChanges } from '../../store/store.js';
import type { Subject } from '../tracking/change.js';
import type { ChangeAppender } from '../tracking/change-appender.js';
import type { ChangeDetector } from '../tracking/change-detector.js';
import { newEpoch } from '../tracking/cursor/offsets.js';
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
export interface Participation {
  readonly isOver: boolean;
}

// Records in a snapshot: enough for a day of most networks. Older ones count as known from before.
const mostInSnapshot = 5_000;
// Upper bound of the changes that an attaching instance reads besides the snapshot.
const snapshotEvery = 2_000;
// Changes appended with one Redis script.
const appendedAtOnce = 500;

/**
 * This instance's part in the replicated log, from which all instances deliver. Calls must not overlap, since each
 * relies on the detector as the previous one left it. Every method can throw `StoreUnavailable`, and stops once the participation is
 * over.
 */
export class ReplicatedLog<Rec, Kind extends string> {
  readonly #options: ReplicatedLogOptions<Rec, Kind>;
  /** Ids of records appended while this instance was partitioned: other instances may not know their states. */
  readonly #unpublished = new Set<string>();
  #applied: LogOffset | null = null;
  #snapshotOffset = 0;

  constructor(options: ReplicatedLogOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** Offset of the last change applied here; null without an epoch. */
  get offset(): LogOffset | null {
    return this.#applied;
  }

  forget(): void {
    this.#applied = null;
    this.#unpublished.clear();
  }

  /** Marks a record for publication on the next attach. */
  appendedWhilePartitioned(record: Rec): void {
    this.#unpublished.add(this.#options.subject.idOf(record));
  }

  /** Resyncs with the other instances, and publishes the records that were appended while partitioned. */
  async attach(participation: Participation): Promise<void> {
    const { changes, detector, appender, text, onBaseline } = this.#options;
    const attached = await changes.attach(this.#applied);
    if (participation.isOver) return;
    if (!attached) {
      this.#applied = null;
      return;
    }
    const { epoch, snapshot } = attached;
    if (snapshot) {
      const hadNoBaseline = !detector.hasBaseline;
      this.#applied = { epoch, offset: snapshot.offset };
      this.#snapshotOffset = snapshot.offset;
      appender.adopt(text.stateOf(snapshot.text), this.#applied);
      if (hadNoBaseline) onBaseline();
    }
    this.#apply(attached);
    const records = [...this.#unpublished].flatMap((id) => detector.snapshot.get(id)?.state.record ?? []);
    if (records.length > 0 && (await this.#add(participation, epoch, records, true)))
      this.#unpublished.clear();
  }

  /** Begins an epoch from this instance's snapshot, or attaches to one that another instance began first. */
  async begin(participation: Participation): Promise<void> {
    const { changes, appender, text } = this.#options;
    const epoch = newEpoch();
    const isBegun = await changes.begin(epoch, text.ofState(appender.exchanged(mostInSnapshot)));
    if (participation.isOver) return;
    if (!isBegun) return this.attach(participation);
    this.#applied = { epoch, offset: 0 };
    this.#snapshotOffset = 0;
    // The snapshot of the new epoch contains all states.
    this.#unpublished.clear();
    appender.offsets.restart(this.#applied, appender.log.next);
  }

  /** Appends changes, and applies them here after those that others appended before; false when the epoch has ended. */
  async append(participation: Participation, changed: readonly Rec[]): Promise<boolean> {
    if (!this.#applied) await this.begin(participation);
    return (
      participation.isOver ||
      (this.#applied !== null && (await this.#add(participation, this.#applied.epoch, changed, false)))
    );
  }

  /** Applies the changes that others have appended, in an epoch that they may have begun since. */
  async read(
    participation: Participation,
    own: (offset: number) => Rec | undefined = () => undefined,
  ): Promise<void> {
    if (!this.#applied) return this.attach(participation);
    const found = await this.#options.changes.readAfter(this.#applied);
    if (participation.isOver) return;
    if (found === null) return this.attach(participation);
    this.#apply({ epoch: this.#applied.epoch, changes: found }, own);
  }

  /** Stores a newer snapshot, so that attaching instances need not read thousands of changes. Called by the leader. */
  async replaceSnapshot(): Promise<void> {
    const { changes, appender, text } = this.#options;
    if (!this.#applied || this.#applied.offset - this.#snapshotOffset < snapshotEvery) return;
    this.#snapshotOffset = this.#applied.offset;
    await changes.replaceSnapshot(this.#applied, text.ofState(appender.exchanged(mostInSnapshot)));
  }

  async #add(
    participation: Participation,
    epoch: number,
    records: readonly Rec[],
    isLate: boolean,
  ): Promise<boolean> {
    const { changes, clock, text } = this.#options;
    for (let at = 0; at < records.length; at += appendedAtOnce) {
      const part = records.slice(at, at + appendedAtOnce);
      const observedAtMs = clock.now();
      const texts = part.map((record) => text.ofChange({ record, observedAtMs, isLate }));
      const last = await changes.append(epoch, texts);
      if (participation.isOver || last === null) return participation.isOver;
      // Read back, so that all instances deliver in the same order; own changes use the records without decoding them.
      const first = last - part.length + 1;
      await this.read(participation, (offset) => part[offset - first]);
    }
    return true;
  }

  #apply(
    { epoch, changes }: Pick<Attached, 'epoch' | 'changes'>,
    own: (offset: number) => Rec | undefined = () => undefined,
  ): void {
    const { appender, text } = this.#options;
    for (const change of changes) {
      const offset = { epoch, offset: change.offset };
      const observed = text.changeOf(change.text);
      if (observed) appender.appendReplicated(own(change.offset) ?? observed.record, { ...observed, offset });
      else appender.offsets.restart(offset, appender.log.next);
      this.#applied = offset;
    }
  }
}
