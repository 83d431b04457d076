import type { ForwardMs, UnixMs } from '../../clock.js';
import type { Change, Subject } from './change.js';
import type { LogEntry } from './change-log.js';
import { idNumber, stateNumber } from './cursor/cursor.js';

/** One state of a record, replaced when the record changes. */
export interface State<Rec> {
  readonly record: Rec;
  /** `idNumber` of its id. */
  readonly number: number;
  readonly timeMs: UnixMs;
  readonly traits: unknown;
  /** Empty when final, since a final state is not compared any more. */
  readonly fingerprint: string;
  /** Hash of the fingerprint, by which a cursor identifies a state that can still change. */
  readonly hash: number;
  readonly isFinal: boolean;
  readonly isOpen: boolean;
}

/** A record of the snapshot with its latest state and change. */
export interface Known<Rec, Kind extends string> {
  readonly id: string;
  readonly number: number;
  /** When the gateway first read it, on its forward clock. */
  readonly seenAtMs: ForwardMs;
  state: State<Rec>;
  /** Number of the change that first showed it; 0 when it existed before the feed, Infinity when it has not been shown. */
  announced: number;
  /** Number of the change that made it final; 0 when it was final before the feed, Infinity while it is not. */
  ended: number;
  last: LogEntry<Change<Rec, Kind>> | null;
  /** Null until a state has been delivered. */
  delivered: State<Rec> | null;
  /** Consecutive complete reads that should have shown it and did not. */
  missing: number;
}

// Records that became final most recently: a cursor within their range is made without scanning the whole snapshot.
const mostFinished = 1_000;

/**
 * Every known record that a poll or sweep can show again, ordered by time. A record that is missing here was never
 * read, or is older than any range that is read.
 */
export class Snapshot<Rec, Kind extends string> {
  readonly #subject: Subject<Rec, Kind>;
  readonly #byId = new Map<string, Known<Rec, Kind>>();
  readonly #byNumber = new Map<number, Known<Rec, Kind>>();
  readonly #unfinished = new Set<Known<Rec, Kind>>();
  readonly #finished: Known<Rec, Kind>[] = [];
  #ordered: Known<Rec, Kind>[] = [];

  constructor(subject: Subject<Rec, Kind>) {
    this.#subject = subject;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Known<Rec, Kind> | undefined {
    return this.#byId.get(id);
  }

  numbered(number: number): Known<Rec, Kind> | undefined {
    return this.#byNumber.get(number);
  }

  /** Oldest first, and by number within one time. */
  get ordered(): readonly Known<Rec, Kind>[] {
    return this.#ordered;
  }

  /** A superset of the records that were not final at the change `seq`. */
  unfinishedAt(seq: number): Iterable<Known<Rec, Kind>> {
    const oldest = this.#finished[0];
    const isInRange = this.#finished.length < mostFinished || !oldest || oldest.ended <= seq;
    return isInRange ? this.#unfinished : this.#ordered;
  }

  /** Marks a record as final since the change `seq`. */
  finish(known: Known<Rec, Kind>, seq: number): void {
    known.ended = seq;
    this.#finished.push(known);
    if (this.#finished.length <= mostFinished) return;
    const forgotten = this.#finished.shift();
    if (forgotten) this.#unfinished.delete(forgotten);
  }

  /** Index of the first record at or after `timeMs`. */
  indexOf(timeMs: UnixMs): number {
    let low = 0;
    let high = this.#ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordered[middle]?.state.timeMs ?? 0) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The state of `record`; its traits continue those of the state before, or those that another instance gathered. */
  stateOf(record: Rec, before: State<Rec> | null, gathered: unknown = null): State<Rec> {
    const subject = this.#subject;
    const isFinal = subject.isFinal(record);
    const fingerprint = isFinal ? '' : subject.fingerprintOf(record);
    return {
      record,
      number: before?.number ?? idNumber(subject.idOf(record)),
      timeMs: subject.timeOf(record).ms,
      traits: subject.traitsOf(record, before?.traits ?? gathered),
      fingerprint,
      hash: isFinal ? 0 : stateNumber(fingerprint),
      isFinal,
      isOpen: subject.isOpen(record),
    };
  }

  learn(state: State<Rec>, seenAtMs: ForwardMs): Known<Rec, Kind> {
    const id = this.#subject.idOf(state.record);
    const known: Known<Rec, Kind> = {
      id,
      number: state.number,
      seenAtMs,
      state,
      announced: this.#subject.wasShown(state.traits) ? 0 : Number.POSITIVE_INFINITY,
      ended: state.isFinal ? 0 : Number.POSITIVE_INFINITY,
      last: null,
      delivered: null,
      missing: 0,
    };
    this.#byId.set(id, known);
    this.#byNumber.set(known.number, known);
    if (!state.isFinal) this.#unfinished.add(known);
    this.#insert(known);
    return known;
  }

  update(known: Known<Rec, Kind>, state: State<Rec>): void {
    const isMoved = state.timeMs !== known.state.timeMs;
    if (isMoved) this.#ordered.splice(this.#ordered.indexOf(known), 1);
    known.state = state;
    if (isMoved) this.#insert(known);
  }

  /** Removes the records before `timeMs`, except those for which `keep` is true. */
  forgetBefore(timeMs: UnixMs, keep: (known: Known<Rec, Kind>) => boolean): void {
    const end = this.indexOf(timeMs);
    const remaining = this.#ordered.slice(0, end).filter((known) => {
      if (keep(known)) return true;
      this.#byId.delete(known.id);
      this.#byNumber.delete(known.number);
      this.#unfinished.delete(known);
      return false;
    });
    if (remaining.length < end) this.#ordered = [...remaining, ...this.#ordered.slice(end)];
  }

  clear(): void {
    this.#byId.clear();
    this.#byNumber.clear();
    this.#unfinished.clear();
    this.#finished.length = 0;
    this.#ordered = [];
  }

  // Nearly always the newest: only a record that arrives late is inserted in between. Records of one time are ordered by
  // their numbers, so that a cursor can tell which of them were delivered.
  #insert(known: Known<Rec, Kind>): void {
    const isBefore = (other: Known<Rec, Kind> | undefined) =>
      other !== undefined &&
      (other.state.timeMs < known.state.timeMs ||
        (other.state.timeMs === known.state.timeMs && other.number < known.number));
    let at = this.#ordered.length;
    if (at > 0 && !isBefore(this.#ordered.at(-1))) {
      at = this.indexOf(known.state.timeMs);
      while (isBefore(this.#ordered[at])) at++;
    }
    this.#ordered.splice(at, 0, known);
  }
}
