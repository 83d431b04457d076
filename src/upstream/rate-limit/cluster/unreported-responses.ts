import { type Clock, type ForwardMs, minuteMs } from '../../../clock.js';

interface Response {
  readonly number: number;
  readonly atMs: ForwardMs;
}

/** Requests of this instance that were answered, but whose responses other instances do not know of yet. */
export class UnreportedResponses {
  readonly #clock: Clock;
  #unreported: Response[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(number: number): void {
    this.#unreported.push({ number, atMs: this.#clock.now() });
  }

  /** Takes the responses to report. Responses too old to matter are dropped. */
  take(): readonly Response[] {
    const now = this.#clock.now();
    const taken = this.#unreported.filter(({ atMs }) => atMs > now - minuteMs);
    this.#unreported = [];
    return taken;
  }

  /** They could not be reported after all. */
  putBack(answers: readonly Response[]): void {
    this.#unreported.push(...answers);
  }

  /** The age of each response, in milliseconds. */
  ago(answers: readonly Response[]): [number: number, agoMs: number][] {
    const now = this.#clock.now();
    return answers.map(({ number, atMs }) => [number, Math.max(0, now - atMs)]);
  }
}
