import { randomInt } from 'node:crypto';
import type { LogOffset } from '../../../store/store.js';

/**
 * Maps numbers of the local change log to offsets that other instances understand. From one change on, the log contains
 * an epoch's changes without a gap, with consecutive offsets. Within one process that is the whole log; between
 * instances it is the part that all of them hold in the same order.
 */
export class Offsets {
  #before: LogOffset;
  #from: number;

  /** @param from number of the change in the log that follows `before` */
  constructor(before: LogOffset, from: number) {
    this.#before = before;
    this.#from = from;
  }

  /** Another epoch begins at the change `from`, or the same one continues there after a gap. */
  restart(before: LogOffset, from: number): void {
    this.#before = before;
    this.#from = from;
  }

  /** Null for a change from before the epoch. */
  offsetOf(number: number): LogOffset | null {
    if (number < this.#from) return null;
    return { epoch: this.#before.epoch, offset: this.#before.offset + 1 + number - this.#from };
  }

  /** Number of the change that follows the offset; null when the log may have a gap in between. */
  following({ epoch, offset }: LogOffset): number | null {
    const isContiguous = epoch === this.#before.epoch && offset >= this.#before.offset;
    return isContiguous ? this.#from + offset - this.#before.offset : null;
  }
}

/**
 * Never 0, which marks a position outside any log. Not drawn from the injected `random`: two epochs of a gateway must
 * differ whatever that returns.
 */
export function newEpoch(): number {
  return randomInt(1, 2 ** 32);
}
