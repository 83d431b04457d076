import type { Change, Subject } from './change.js';
import type { LogEntry } from './change-log.js';
import { idNumber, stateNumber } from './cursor.js';

/** One state of a record; a new one takes its place when it changes. */
export interface State<Rec> {
  readonly record: Rec;
  /** `idNumber` of its id. */
  readonly number: number;
  readonly timeMs: number;
  readonly traits: unknown;
  /** Empty when it is final: there is nothing to compare any more. */
  readonly fingerprint: string;
  /** Of the fingerprint: what a cursor holds of a state that can still change. */
  readonly hash: number;
  readonly isFinal: boolean;
  readonly isOpen: boolean;
}

/** A record that has been seen, and what is remembered of it. */
export interface Known<Rec, Kind extends string> {
  readonly id: string;
  readonly number: number;
  /** When the gateway first saw it, on its own clock. */
  readonly seenAtMs: number;
  state: State<Rec>;
  /** Number of the change that announced it; 0 when it was there before the feed. */
  announced: number;
  /** Number of the change that ended it. */
  ended: number;
  last: LogEntry<Change<Rec, Kind>> | null;
  /** The state that was delivered last; null before the first. */
  delivered: State<Rec> | null;
  /** Complete reads in a row that should have shown it and did not. */
  missing: number;
}

// So many changes back, a cursor can be made without looking at all that is known.
const mostFinished = 1_000;

/**
 * Every record that can be read again, in the order of their times. What is not in here was never seen, or is older
 * than anything that is looked at.
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

  /** Oldest first. */
  get ordered(): readonly Known<Rec, Kind>[] {
    return this.#ordered;
  }

  /** Those that were not final at the change `seq`, and perhaps others. */
  unfinishedAt(seq: number): Iterable<Known<Rec, Kind>> {
    const oldest = this.#finished[0];
    const isRemembered = this.#finished.length < mostFinished || !oldest || oldest.ended <= seq;
    return isRemembered ? this.#unfinished : this.#ordered;
  }

  /** It has become final. */
  finish(known: Known<Rec, Kind>, seq: number): void {
    known.ended = seq;
    this.#finished.push(known);
    if (this.#finished.length <= mostFinished) return;
    const forgotten = this.#finished.shift();
    if (forgotten) this.#unfinished.delete(forgotten);
  }

  /** Index of the first record at or after `timeMs`. */
  indexOf(timeMs: number): number {
    let low = 0;
    let high = this.#ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordered[middle]?.state.timeMs ?? 0) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The state that `record` is in, given what was known of it, or what others have gathered of it. */
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

  learn(state: State<Rec>, seenAtMs: number): Known<Rec, Kind> {
    const id = this.#subject.idOf(state.record);
    const known: Known<Rec, Kind> = {
      id,
      number: state.number,
      seenAtMs,
      state,
      announced: 0,
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

  /** Forgets what `keep` does not want, among the records before `timeMs`. */
  forgetBefore(timeMs: number, keep: (known: Known<Rec, Kind>) => boolean): void {
    const end = this.indexOf(timeMs);
    const kept = this.#ordered.slice(0, end).filter((known) => {
      if (keep(known)) return true;
      this.#byId.delete(known.id);
      this.#byNumber.delete(known.number);
      this.#unfinished.delete(known);
      return false;
    });
    if (kept.length < end) this.#ordered = [...kept, ...this.#ordered.slice(end)];
  }

  clear(): void {
    this.#byId.clear();
    this.#byNumber.clear();
    this.#unfinished.clear();
    this.#finished.length = 0;
    this.#ordered = [];
  }

  // Nearly always the newest: only what arrives late has to be put in between.
  #insert(known: Known<Rec, Kind>): void {
    const newest = this.#ordered.at(-1);
    if (!newest || newest.state.timeMs <= known.state.timeMs) this.#ordered.push(known);
    else this.#ordered.splice(this.indexOf(known.state.timeMs), 0, known);
  }
}
