/**
 * The port that all workers listen on. node:cluster gives workers that ask for port 0 the same free one, for as long as one
 * of them is left; whoever comes after the last has to ask for it by its number.
 */
export class SharedPort {
  readonly #listening = new Set<object>();
  /** What a worker has to ask for. */
  #asked: number;
  #taken: number | null = null;

  constructor(port: number) {
    this.#asked = port;
  }

  /** For a worker that is about to listen. */
  next(): number {
    return this.#asked;
  }

  /** False where it listens on another port than those before. */
  joined(worker: object, port: number): boolean {
    this.#taken ??= port;
    if (port !== this.#taken) return false;
    this.#listening.add(worker);
    return true;
  }

  left(worker: object): void {
    this.#listening.delete(worker);
    if (this.#listening.size === 0 && this.#taken !== null) this.#asked = this.#taken;
  }
}
