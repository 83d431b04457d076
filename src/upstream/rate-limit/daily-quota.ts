import { asMoment, type ForwardMs, minuteMs } from '../../clock.js';

const slotMs = 10 * minuteMs;
const slotsPerDay = 144;
// Clocks that agree to a second put their slot boundaries at the same times.
const sameSlotMs = 1_000;

/** Requests that were sent in the ten minutes before `untilMs`. */
export interface SlotCount {
  readonly untilMs: ForwardMs;
  readonly count: number;
}

/** The requests of the last 24 hours, whichever day upstream means (docs/interfaces.md C8), in steps of ten minutes. */
export class DailyQuota {
  readonly #perDay: number;
  /** Slot number → requests, oldest first. */
  #slots = new Map<number, number>();
  #sum = 0;

  constructor(perDay: number) {
    this.#perDay = perDay;
  }

  add(now: ForwardMs, count: number): void {
    this.#addIn(Math.floor(now / slotMs), count);
  }

  #addIn(slot: number, count: number): void {
    this.#dropExpired(slot);
    this.#slots.set(slot, (this.#slots.get(slot) ?? 0) + count);
    this.#sum += count;
  }

  /** Takes over the counts of all instances, and what this one is about to send, unless it has counted more itself. */
  learn(counts: readonly SlotCount[], now: ForwardMs, pending: number): void {
    const learnt = new DailyQuota(this.#perDay);
    for (const { untilMs, count } of counts.toSorted((one, other) => one.untilMs - other.untilMs))
      learnt.#addIn(Math.ceil((untilMs - sameSlotMs) / slotMs) - 1, count);
    learnt.add(now, pending);
    if (learnt.#sum < this.#sum) return;
    this.#slots = learnt.#slots;
    this.#sum = learnt.#sum;
  }

  /** The share of the day that one of `parts` equal parts accounts for. */
  part(parts: number): DailyQuota {
    const part = new DailyQuota(Math.max(1, Math.floor(this.#perDay / parts)));
    for (const [slot, count] of this.#slots) part.#addIn(slot, Math.ceil(count / parts));
    return part;
  }

  remaining(now: ForwardMs): number {
    this.#dropExpired(Math.floor(now / slotMs));
    return Math.max(0, this.#perDay - this.#sum);
  }

  readyAtMs(now: ForwardMs, nth: number): ForwardMs {
    let missing = nth - this.remaining(now);
    for (const [slot, count] of this.#slots) {
      if (missing <= 0) break;
      missing -= count;
      if (missing <= 0) return asMoment((slot + slotsPerDay + 1) * slotMs);
    }
    return now;
  }

  #dropExpired(slot: number): void {
    for (const [old, count] of this.#slots) {
      if (old > slot - slotsPerDay - 1) return;
      this.#slots.delete(old);
      this.#sum -= count;
    }
  }
}
