import { earliest, type ForwardMs, latest, minuteMs, plus } from '../../clock.js';
/** The rate that upstream permits at the moment. */
export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export interface Sending {
  atMs: ForwardMs;
  /** Upstream has counted the request by then. */
  countedByMs: ForwardMs;
}

// Upstream's clock and arithmetic differ from ours: nothing is sent at the very edge of the limit.
const marginMs = 250;
// Assumed: a request has reached upstream two seconds after its sending, even where it is answered much later.
const latestCountMs = 2_000;

export function sendingAt(atMs: ForwardMs): Sending {
  return { atMs, countedByMs: plus(atMs, latestCountMs) };
}

/** Requests of the last minute, and when the rate permits the next. */
export class SlidingWindow {
  /** In the order of their sending. */
  #sent: Sending[] = [];

  add(sending: Sending, now: ForwardMs): void {
    this.#dropExpired(now);
    let at = this.#sent.length;
    while (at > 0 && (this.#sent[at - 1]?.atMs ?? 0) > sending.atMs) at--;
    this.#sent.splice(at, 0, sending);
  }

  /** False where it is not in the window. */
  remove(sending: Sending): boolean {
    const at = this.#sent.indexOf(sending);
    if (at >= 0) this.#sent.splice(at, 1);
    return at >= 0;
  }

  /** The machine's clock was set back: requests dated in the future have already been sent. */
  setBack(now: ForwardMs): void {
    for (const sending of this.#sent) {
      sending.atMs = earliest(sending.atMs, now);
      sending.countedByMs = earliest(sending.countedByMs, plus(now, latestCountMs));
    }
  }

  /** Number of requests sent at that time or after it. */
  sentSince(atMs: ForwardMs): number {
    return this.#sent.filter((sending) => sending.atMs >= atMs).length;
  }

  /** The requests that one of `parts` equal parts accounts for: every `parts`-th, counted from the latest. */
  part(parts: number): SlidingWindow {
    const part = new SlidingWindow();
    part.#sent = this.#sent.filter((_, at, { length }) => (length - 1 - at) % parts === 0);
    return part;
  }

  /** `hopeful` assumes that all requests in flight are answered now. */
  readyAtMs(rate: Rate, now: ForwardMs, nth: number, hopeful: boolean): ForwardMs {
    let readyMs = plus(now, spanMs(rate, nth));
    // Up to the burst there is nothing to wait for.
    for (let back = Math.max(1, rate.burst - nth + 1); back <= this.#sent.length; back++) {
      const countedByMs = this.#sent[this.#sent.length - back]?.countedByMs ?? now;
      const countedMs = hopeful ? earliest(countedByMs, now) : countedByMs;
      readyMs = latest(readyMs, plus(countedMs, spanMs(rate, back + nth)));
    }
    return readyMs;
  }

  #dropExpired(now: ForwardMs): void {
    const horizonMs = now - minuteMs - marginMs;
    const first = this.#sent.findIndex(({ countedByMs }) => countedByMs > horizonMs);
    this.#sent.splice(0, first < 0 ? this.#sent.length : first);
  }
}

/** The shortest time in which `count` requests may be counted. */
function spanMs({ perMinute, burst }: Rate, count: number): number {
  if (count <= burst) return 0;
  const bucketMs = (count - burst) * (minuteMs / perMinute);
  if (count > perMinute) return Math.max(minuteMs, bucketMs) + marginMs;
  // The rate starts at that of a token bucket, `perMinute` a minute, and falls towards the end of the minute.
  const part = (count - burst) / (perMinute - burst);
  return bucketMs + (part * minuteMs - bucketMs) * part + marginMs;
}
