import { randomInt } from 'node:crypto';
import type { Place } from '../../store/store.js';

/**
 * What the changes of a log are called where others can understand it. From one of them on, the log holds a run of
 * changes without a gap: each has the next number. Within one process that is all of the log; between instances it is what
 * all of them have in the same order.
 */
export class Offsets {
  #before: Place;
  #from: number;

  /** @param from the change of the log that follows upon `before` */
  constructor(before: Place, from: number) {
    this.#before = before;
    this.#from = from;
  }

  /** From `from` on another run, or again the same after a gap. */
  restart(before: Place, from: number): void {
    this.#before = before;
    this.#from = from;
  }

  /** Null for a change from before the run. */
  placeOf(number: number): Place | null {
    if (number < this.#from) return null;
    return { run: this.#before.run, seq: this.#before.seq + 1 + number - this.#from };
  }

  /** The change that follows upon `place`; null where what lies between is not known to be all there. */
  following({ run, seq }: Place): number | null {
    const isHeld = run === this.#before.run && seq >= this.#before.seq;
    return isHeld ? this.#from + seq - this.#before.seq : null;
  }
}

/**
 * Never 0, which stands for a position that is in no log. Not from what jitter is drawn from: two runs of a gateway must
 * differ whatever that gives.
 */
export function newEpoch(): number {
  return randomInt(1, 2 ** 32);
}
