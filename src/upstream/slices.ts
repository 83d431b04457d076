/**
 * Long work of one process in slices, so that what comes meanwhile (other operations, heartbeats, live changes) is
 * answered between them: so much in one turn of the event loop, and whoever would do more waits for the next. Those who
 * wait take turns, so that a small answer does not stand behind a large one.
 */
export class Slices {
  /** How much one turn may do, in whatever the callers count. */
  readonly perTurn: number;
  readonly #waiting = new Map<object, Piece[]>();
  #left: number;
  #nextTurn: NodeJS.Immediate | undefined;

  /** @param perTurn at least one piece is done in a turn, however much it is */
  constructor(perTurn: number) {
    this.perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Null when `amount` may be done at once, else a promise of the turn for it. `whose`: those who take turns. */
  take(amount: number, whose: object): Promise<void> | null {
    this.#nextTurn ??= setImmediate(() => this.#turn());
    if (this.#waiting.size === 0 && this.#fits(amount)) {
      this.#left -= amount;
      return null;
    }
    return new Promise((begin) => {
      const mine = this.#waiting.get(whose);
      if (mine) mine.push({ amount, begin });
      else this.#waiting.set(whose, [{ amount, begin }]);
    });
  }

  #turn(): void {
    this.#left = this.perTurn;
    for (const [whose, pieces] of this.#waiting) {
      const piece = pieces[0];
      if (!piece || !this.#fits(piece.amount)) break;
      this.#left -= piece.amount;
      pieces.shift();
      // Behind the others; the loop comes by again as long as there is room.
      this.#waiting.delete(whose);
      if (pieces.length > 0) this.#waiting.set(whose, pieces);
      piece.begin();
    }
    const isOver = this.#waiting.size === 0 && this.#left === this.perTurn;
    this.#nextTurn = isOver ? undefined : setImmediate(() => this.#turn());
  }

  #fits(amount: number): boolean {
    return amount <= this.#left || this.#left === this.perTurn;
  }
}

interface Piece {
  readonly amount: number;
  readonly begin: () => void;
}
