/**
 * Divides the long work of one process into event-loop slices, so that whatever arrives meanwhile (other operations,
 * heartbeats, live changes) is answered between them. Each slice does a bounded amount, and further work waits for the
 * next. Waiting owners take turns, so that a small answer does not wait behind a large one.
 */
export class Slices {
  /** The amount that one slice may do, in the callers' unit. */
  readonly perSlice: number;
  readonly #waiting = new Map<object, Piece[]>();
  #left: number;
  #nextSlice: NodeJS.Immediate | undefined;

  /** @param perSlice at least one piece is done in a slice, however large it is */
  constructor(perSlice: number) {
    this.perSlice = perSlice;
    this.#left = perSlice;
  }

  /**
   * Null when `amount` may be done at once, else a promise of a slice for it. `owner`: any object; owners take turns.
   */
  take(amount: number, owner: object): Promise<void> | null {
    this.#nextSlice ??= setImmediate(() => this.#runSlice());
    if (this.#waiting.size === 0 && this.#fits(amount)) {
      this.#left -= amount;
      return null;
    }
    return new Promise((begin) => {
      const mine = this.#waiting.get(owner);
      if (mine) mine.push({ amount, begin });
      else this.#waiting.set(owner, [{ amount, begin }]);
    });
  }

  #runSlice(): void {
    this.#left = this.perSlice;
    for (const [owner, pieces] of this.#waiting) {
      const piece = pieces[0];
      if (!piece || !this.#fits(piece.amount)) break;
      this.#left -= piece.amount;
      pieces.shift();
      // The owner goes behind the others; the loop reaches it again as long as there is room.
      this.#waiting.delete(owner);
      if (pieces.length > 0) this.#waiting.set(owner, pieces);
      piece.begin();
    }
    const isOver = this.#waiting.size === 0 && this.#left === this.perSlice;
    this.#nextSlice = isOver ? undefined : setImmediate(() => this.#runSlice());
  }

  #fits(amount: number): boolean {
    return amount <= this.#left || this.#left === this.perSlice;
  }
}

interface Piece {
  readonly amount: number;
  readonly begin: () => void;
}
