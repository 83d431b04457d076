import { UpstreamTimeout } from '../errors.js';

/** How much one request may ask for. */
export interface Step {
  readonly limit: number;
  /** Length of the range of time; infinite for whatever was asked for. */
  readonly spanMs: number;
}

/**
 * How much is asked for at a time: less after upstream stopped a query that ran too long (503 `timeout`, key-scoped §7).
 * The same request is not sent again (contract 5.9).
 */
export class Breadth {
  #step = 0;
  readonly #steps: readonly [Step, ...Step[]];
  readonly #range: string;

  /** @param range how the arguments are called that a client would have to bring closer together */
  constructor(range: string, steps: readonly [Step, ...Step[]]) {
    this.#range = range;
    this.#steps = steps;
  }

  get now(): Step {
    return this.#steps[this.#step] ?? this.#steps[0];
  }

  /** After a failure: ready to ask for less. @throws the failure, where asking for less cannot help, or has not helped */
  narrow(error: unknown): void {
    if (!(error instanceof UpstreamTimeout) || error.upstream?.status !== 503) throw error;
    if (this.#step + 1 >= this.#steps.length) {
      throw new UpstreamTimeout(
        `The range is too wide for the project interface to answer in time: narrow ${this.#range}`,
        {
          upstream: error.upstream,
          cause: error,
        },
      );
    }
    this.#step++;
  }
}
