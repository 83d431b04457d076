/**
 * How late it is upstream at least, told by upstream's own times: nobody's clock has to agree with the gateway's. A
 * time that a record carries has come; and since then as much has passed as the gateway has waited.
 */
export class Watermark {
  #ms = Number.NEGATIVE_INFINITY;
  #confirmedAtMs: number | null = null;

  /** Milliseconds since 1970, on upstream's clock; −Infinity until anything has been seen. Never goes back. */
  get ms(): number {
    return this.#ms;
  }

  /**
   * A record's time has been seen. One in the future is a sensor whose clock is wrong, or it is the gateway's: then the
   * earlier of the two, since to look too far back costs a few rows and not far enough loses some.
   */
  saw(timeMs: number, nowMs: number): void {
    this.#ms = Math.max(this.#ms, Math.min(timeMs, nowMs));
  }

  /**
   * Everything up to now has been read, at `nowMs` by the gateway's clock. `atMostMs` is the most that can have passed
   * since the last such moment: what a clock that was set forward claims beyond it is not believed.
   */
  confirm(nowMs: number, atMostMs: number): void {
    const passedMs = this.#confirmedAtMs === null ? 0 : Math.max(0, nowMs - this.#confirmedAtMs);
    this.#confirmedAtMs = nowMs;
    this.#ms = Math.max(this.#ms, Math.min(this.#ms + Math.min(passedMs, atMostMs), nowMs));
  }

  /** Another instance has seen this much. */
  reached(upstreamMs: number): void {
    this.#ms = Math.max(this.#ms, upstreamMs);
  }

  reset(): void {
    this.#ms = Number.NEGATIVE_INFINITY;
    this.#confirmedAtMs = null;
  }
}
