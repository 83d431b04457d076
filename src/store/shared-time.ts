import { asMoment, type ForwardMs, type Moment } from '../clock.js';
/** A moment on the clock that instances share. */
export type SharedMs = Moment<'shared clock in ms'>;

/** When a command was sent and its answer received, on this instance's forward clock. */
export interface Exchanged {
  readonly sentMs: ForwardMs;
  readonly receivedMs: ForwardMs;
}

/**
 * The shared clock is that of Redis, since the clocks of instances need not agree. The round trip makes the offset
 * uncertain, so that a time on one clock is a span on the other; each caller takes the end that errs on its safe side.
 */
export class SharedTime {
  #earliestOffsetMs = 0;
  #latestOffsetMs = 0;

  /** Redis reported its time as `nowMs` within the exchange. */
  synchronise(nowMs: SharedMs, { sentMs, receivedMs }: Exchanged): void {
    this.#earliestOffsetMs = Math.floor(nowMs - receivedMs);
    this.#latestOffsetMs = Math.ceil(nowMs - sentMs);
  }

  /** Converts a local time; up to the last round trip too early. */
  toShared(localMs: ForwardMs): SharedMs {
    return asMoment(localMs + this.#earliestOffsetMs);
  }

  /** Converts a shared time; up to the last round trip too early. */
  toLocal(sharedMs: SharedMs): ForwardMs {
    return asMoment(sharedMs - this.#latestOffsetMs);
  }

  /** Converts a shared time; up to the last round trip too late. */
  toLocalAtLatest(sharedMs: SharedMs): ForwardMs {
    return asMoment(sharedMs - this.#earliestOffsetMs);
  }
}
