const slotMs = 600_000;
const slotsPerDay = 144;

/** The requests of the last 24 hours, whichever day upstream means (catalogue §8), in steps of ten minutes. */
export class DayCount {
  readonly #perDay: number;
  /** Slot number → requests, oldest first. */
  readonly #slots = new Map<number, number>();
  #sum = 0;

  constructor(perDay: number) {
    this.#perDay = perDay;
  }

  add(now: number, count: number): void {
    const slot = Math.floor(now / slotMs);
    this.#forget(slot);
    this.#slots.set(slot, (this.#slots.get(slot) ?? 0) + count);
    this.#sum += count;
  }

  remaining(now: number): number {
    this.#forget(Math.floor(now / slotMs));
    return Math.max(0, this.#perDay - this.#sum);
  }

  readyAtMs(now: number, nth: number): number {
    let missing = nth - this.remaining(now);
    for (const [slot, count] of this.#slots) {
      if (missing <= 0) break;
      missing -= count;
      if (missing <= 0) return (slot + slotsPerDay + 1) * slotMs;
    }
    return now;
  }

  #forget(slot: number): void {
    for (const [old, count] of this.#slots) {
      if (old > slot - slotsPerDay - 1) return;
      this.#slots.delete(old);
      this.#sum -= count;
    }
  }
}
