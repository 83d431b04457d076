import { type ForwardMs, minuteMs, plus } from '../../../clock.js';

interface ResponseReport {
  /** The journal of an instance. */
  readonly by: string;
  readonly answered: readonly (readonly [number: number, agoMs: number])[];
}

/** Other instances' requests of the last minute, until their responses are reported. */
export class PeerRequests {
  /** In the order of their sending. */
  readonly #sent = new Map<
    string,
    { readonly atMs: ForwardMs; readonly answered: (atMs: ForwardMs) => void }
  >();

  sent(
    { by, number }: { by: string; number: number },
    answered: (atMs: ForwardMs) => void,
    atMs: ForwardMs,
  ): void {
    for (const [name, sent] of this.#sent) {
      if (sent.atMs > atMs - minuteMs) break;
      this.#sent.delete(name);
    }
    this.#sent.set(nameOf(by, number), { atMs, answered });
  }

  answered({ by, answered }: ResponseReport, reportedAtMs: ForwardMs): void {
    for (const [number, agoMs] of answered) {
      const name = nameOf(by, number);
      this.#sent.get(name)?.answered(plus(reportedAtMs, -agoMs));
      this.#sent.delete(name);
    }
  }
}

function nameOf(by: string, number: number): string {
  return `${by} ${number}`;
}
