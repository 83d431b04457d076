import { earliest, type ForwardMs, latest, longAgo, plus, type UnixMs } from '../../clock.js';
/**
 * A lower bound of the present time on upstream's clock, which need not agree with the gateway's. It follows the times
 * that records carry, and advances between them by the time that passes at the gateway.
 */
export class Watermark {
  #ms: UnixMs = longAgo;
  #confirmedAtMs: ForwardMs | null = null;

  /** Milliseconds since 1970, on upstream's clock; −Infinity until a record has been read. Never decreases. */
  get ms(): UnixMs {
    return this.#ms;
  }

  /**
   * Advances to a record's time. A time in the future means that the clock of the sensor or of the gateway is wrong:
   * the earlier of the two is taken, since a window too long costs a few rows and one too short loses records.
   */
  saw(timeMs: UnixMs, wallMs: UnixMs): void {
    this.#ms = latest(this.#ms, earliest(timeMs, wallMs));
  }

  /**
   * Everything up to `atMs`, on the gateway's forward clock, has been read. `wallMs` is its date there: upstream's clock
   * is taken to be no later.
   */
  confirm(atMs: ForwardMs, wallMs: UnixMs): void {
    const passedMs = this.#confirmedAtMs === null ? 0 : Math.max(0, atMs - this.#confirmedAtMs);
    this.#confirmedAtMs = atMs;
    this.#ms = latest(this.#ms, earliest(plus(this.#ms, passedMs), wallMs));
  }

  /** Advances to the watermark of another instance. */
  reached(upstreamMs: UnixMs): void {
    this.#ms = latest(this.#ms, upstreamMs);
  }

  reset(): void {
    this.#ms = longAgo;
    this.#confirmedAtMs = null;
  }
}
