import type { Clock } from '../../clock.js';
import type { Attached, Place, SharedChanges } from '../../store/store.js';
import type { Subject } from '../tracking/change.js';
import type { ChangeDetector } from '../tracking/change-detector.js';
import { newEpoch } from '../tracking/offsets.js';
import type { LogEntries } from './log-entries.js';

export interface ReplicatedLogOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly changes: SharedChanges;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly clock: Clock;
  readonly text: LogEntries<Rec>;
  /** What was there before is known now, from others. */
  readonly onBaseline: () => void;
}

/** For how long what is shared is of use here. */
export interface Stay {
  readonly isOver: boolean;
}

// Enough for a day of most networks. Older ones count as known from before.
const mostInBase = 5_000;
// Whoever attaches has so much to read besides the base.
const rebaseAfter = 2_000;
// One script's worth.
const publishedAtOnce = 500;

/**
 * The run of changes that all instances tell from, as far as this one is in it. One call at a time: each finds the detector
 * as the one before has left it. Every method can throw `StoreAway`, and does nothing more once the stay is over.
 */
export class ReplicatedLog<Rec, Kind extends string> {
  readonly #options: ReplicatedLogOptions<Rec, Kind>;
  /** Told while this instance was alone: the others may not know of it. */
  readonly #unshared = new Set<string>();
  #place: Place | null = null;
  #basedAt = 0;

  constructor(options: ReplicatedLogOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** How far this instance has told; null when it knows of no run. */
  get place(): Place | null {
    return this.#place;
  }

  forget(): void {
    this.#place = null;
    this.#unshared.clear();
  }

  /** To be told to the others when they can be reached again. */
  toldAlone(record: Rec): void {
    this.#unshared.add(this.#options.subject.idOf(record));
  }

  /** Takes in what the others know, and lets them know what was told here alone. */
  async attach(stay: Stay): Promise<void> {
    const { changes, detector, text, onBaseline } = this.#options;
    const attached = await changes.attach(this.#place);
    if (stay.isOver) return;
    if (!attached) {
      this.#place = null;
      return;
    }
    const { run, base } = attached;
    if (base) {
      const knewNothing = !detector.hasBaseline;
      this.#place = { run, seq: base.seq };
      this.#basedAt = base.seq;
      detector.adopt(text.stateOf(base.text), this.#place);
      if (knewNothing) onBaseline();
    }
    this.#hear(attached);
    const records = [...this.#unshared].flatMap((id) => detector.snapshot.get(id)?.state.record ?? []);
    if (records.length > 0 && (await this.#add(stay, run, records, true))) this.#unshared.clear();
  }

  /** Begins one from what is known here, or attaches to that of who was faster. */
  async begin(stay: Stay): Promise<void> {
    const { changes, detector, text } = this.#options;
    const run = newEpoch();
    const isBegun = await changes.begin(run, text.ofState(detector.state(mostInBase)));
    if (stay.isOver) return;
    if (!isBegun) return this.attach(stay);
    this.#place = { run, seq: 0 };
    this.#basedAt = 0;
    // All that is known is in the base.
    this.#unshared.clear();
    detector.offsets.restart(this.#place, detector.log.next);
  }

  /** Adds what is news and tells it, with what others have added before; false when the run is over. */
  async add(stay: Stay, news: readonly Rec[]): Promise<boolean> {
    if (!this.#place) await this.begin(stay);
    return stay.isOver || (this.#place !== null && (await this.#add(stay, this.#place.run, news, false)));
  }

  /** Tells what others have added. */
  async read(stay: Stay, own: (seq: number) => Rec | undefined = () => undefined): Promise<void> {
    if (!this.#place) return;
    const found = await this.#options.changes.readAfter(this.#place);
    if (stay.isOver) return;
    if (found === null) return this.attach(stay);
    this.#hear({ run: this.#place.run, changes: found }, own);
  }

  /** Spares those who attach from now on the reading of thousands of changes. For the instance that polls. */
  async rebase(): Promise<void> {
    const { changes, detector, text } = this.#options;
    if (!this.#place || this.#place.seq - this.#basedAt < rebaseAfter) return;
    this.#basedAt = this.#place.seq;
    await changes.rebase(this.#place, text.ofState(detector.state(mostInBase)));
  }

  async #add(stay: Stay, run: number, records: readonly Rec[], isLate: boolean): Promise<boolean> {
    const { changes, clock, text } = this.#options;
    for (let at = 0; at < records.length; at += publishedAtOnce) {
      const part = records.slice(at, at + publishedAtOnce);
      const observedAtMs = clock.now();
      const texts = part.map((record) => text.ofChange({ record, observedAtMs, isLate }));
      const last = await changes.publish(run, texts);
      if (stay.isOver || last === null) return stay.isOver;
      // Read back, so that all instances tell in the same order; but told from the records themselves.
      const first = last - part.length + 1;
      await this.read(stay, (seq) => part[seq - first]);
    }
    return true;
  }

  #hear(
    { run, changes }: Pick<Attached, 'run' | 'changes'>,
    own: (seq: number) => Rec | undefined = () => undefined,
  ): void {
    const { detector, text } = this.#options;
    for (const change of changes) {
      const place = { run, seq: change.seq };
      const told = text.changeOf(change.text);
      if (told) detector.appendReplicated(own(change.seq) ?? told.record, { ...told, place });
      else detector.offsets.restart(place, detector.log.next);
      this.#place = place;
    }
  }
}
