import type { Clock } from '../clock.js';

interface Answer {
  readonly number: number;
  readonly atMs: number;
}

const minuteMs = 60_000;

/** Requests of this instance that were answered, and of which the others have not been told yet. */
export class Answers {
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

interface Told {
  /** The journal of an instance. */
  readonly by: string;
  readonly answered: readonly (readonly [number: number, agoMs: number])[];
}

/** Requests of other instances in the last minute, until it is told when they were answered. */
export class OthersRequests {
  /** In the order of their sending. */
  readonly #sent = new Map<string, { readonly atMs: number; readonly answered: (atMs: number) => void }>();

  sent({ by, number }: { by: string; number: number }, answered: (atMs: number) => void, atMs: number): void {
    for (const [name, sent] of this.#sent) {
      if (sent.atMs > atMs - minuteMs) break;
      this.#sent.delete(name);
    }
    this.#sent.set(nameOf(by, number), { atMs, answered });
  }

  answered({ by, answered }: Told, toldAtMs: number): void {
    for (const [number, agoMs] of answered) {
      const name = nameOf(by, number);
      this.#sent.get(name)?.answered(toldAtMs - agoMs);
      this.#sent.delete(name);
    }
  }
}

function nameOf(by: string, number: number): string {
  return `${by} ${number}`;
}
