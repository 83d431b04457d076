/** When a question was sent and its answer received, on the clock of this instance, in milliseconds since 1970. */
export interface Exchanged {
  readonly sentMs: number;
  readonly receivedMs: number;
}

/**
 * The clock that all instances share is that of Redis: theirs need not agree. Between asking it and hearing from it some
 * time passes, so that a time on one clock is a span on the other; each caller takes the end that errs on its safe side.
 */
export class SharedTime {
  #earliestOffsetMs = 0;
  #latestOffsetMs = 0;

  /** Redis said that it was `nowMs` then. */
  heard(nowMs: number, { sentMs, receivedMs }: Exchanged): void {
    this.#earliestOffsetMs = Math.floor(nowMs - receivedMs);
    this.#latestOffsetMs = Math.ceil(nowMs - sentMs);
  }

  /** A local time on the shared clock, or some milliseconds before it. */
  toShared(localMs: number): number {
    return localMs + this.#earliestOffsetMs;
  }

  /** A shared time on the local clock, or some milliseconds before it. */
  toLocal(sharedMs: number): number {
    return sharedMs - this.#latestOffsetMs;
  }

  /** A shared time on the local clock, or some milliseconds after it. */
  toLocalAtLatest(sharedMs: number): number {
    return sharedMs - this.#earliestOffsetMs;
  }
}
