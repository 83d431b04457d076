import type { Clock, ForwardMs } from '../../clock.js';
import { limits } from '../../limits.js';

export interface LogEntry<C> {
  readonly seq: number;
  readonly change: C;
  /** The next change of the same record, once there is one. */
  next: LogEntry<C> | null;
  /** The previous change of the same record, as long as the log reaches back to it. */
  previous: LogEntry<C> | null;
}

export interface LogBounds {
  readonly maxChanges: number;
  readonly maxAgeMs: number;
}

const logBounds: LogBounds = { maxChanges: limits.logChanges, maxAgeMs: limits.logMs };

/** The latest changes, numbered in the order in which they were observed. */
export class ChangeLog<C extends { readonly observedAtMs: ForwardMs }> {
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  readonly #entries = new Map<number, LogEntry<C>>();
  readonly #listeners = new Set<(entry: LogEntry<C>) => void>();
  #first = 1;
  #next = 1;

  constructor(clock: Clock, bounds: LogBounds = logBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** Number of the oldest change still in the log. */
  get first(): number {
    return this.#first;
  }

  /** Number that the next change will have. */
  get next(): number {
    return this.#next;
  }

  at(seq: number): LogEntry<C> | undefined {
    return this.#entries.get(seq);
  }

  /** Number of the last change that was observed by `atMs`, as far as the log reaches back. */
  lastBy(atMs: ForwardMs): number {
    let seq = this.#next - 1;
    while (seq >= this.#first && (this.at(seq)?.change.observedAtMs ?? atMs) > atMs) seq--;
    return seq;
  }

  /** @param of the changed record, which refers to its last change */
  append(change: C, of: { last: LogEntry<C> | null }): void {
    const previous = of.last && this.#entries.has(of.last.seq) ? of.last : null;
    const entry: LogEntry<C> = { seq: this.#next++, change, next: null, previous };
    if (previous) previous.next = entry;
    of.last = entry;
    this.#entries.set(entry.seq, entry);
    this.#trim();
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls `listener` for each change from now on, until the returned function is called. */
  onAppend(listener: (entry: LogEntry<C>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Removes all changes. Numbering continues, so that an old number never refers to a new change. */
  clear(): void {
    this.#entries.clear();
    this.#first = this.#next;
  }

  #trim(): void {
    const oldestMs = this.#clock.now() - this.#bounds.maxAgeMs;
    for (let entry = this.at(this.#first); entry; entry = this.at(this.#first)) {
      const isTooOld = entry.change.observedAtMs < oldestMs && this.#entries.size > 1;
      if (!isTooOld && this.#entries.size <= this.#bounds.maxChanges) return;
      // Otherwise a record that changes for hours would hold references to all its changes.
      if (entry.next) entry.next.previous = null;
      this.#entries.delete(this.#first++);
    }
  }
}
