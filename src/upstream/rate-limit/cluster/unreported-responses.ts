import type { Clock } from '../../../clock.js';

interface Answer {
  readonly number: number;
  readonly atMs: number;
}

const minuteMs = 60_000;

/** Requests of this instance that were answered, and of which the others have not been told yet. */
export class UnreportedResponses {
  readonly #clock: Clock;
  #untold: Answer[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(number: number): void {
    this.#untold.push({ number, atMs: this.#clock.now() });
  }

  /** To be told of. What is too long ago to matter is left out. */
  take(): readonly Answer[] {
    const now = this.#clock.now();
    const taken = this.#untold.filter(({ atMs }) => atMs > now - minuteMs);
    this.#untold = [];
    return taken;
  }

  /** They could not be told of after all. */
  putBack(answers: readonly Answer[]): void {
    this.#untold.push(...answers);
  }

  /** How long ago each was answered, in milliseconds. */
  ago(answers: readonly Answer[]): [number: number, agoMs: number][] {
    const now = this.#clock.now();
    return answers.map(({ number, atMs }) => [number, Math.max(0, now - atMs)]);
  }
}
