/** What upstream permits at the moment. */
export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export interface Sending {
  atMs: number;
  /** Upstream has counted it by then. */
  countedByMs: number;
}

const minuteMs = 60_000;
// Upstream's clock and arithmetic are not ours: nothing is sent on the very edge of what is permitted.
const marginMs = 250;
// Assumed: a request has reached upstream two seconds after its sending, even where it is answered much later.
const latestCountMs = 2_000;

export function sendingAt(atMs: number): Sending {
  return { atMs, countedByMs: atMs + latestCountMs };
}

/** Requests of the last minute, and when the rate permits the next. */
export class SlidingWindow {
  /** In the order of their sending. */
  #sent: Sending[] = [];

  add(sending: Sending, now: number): void {
    this.#forget(now);
    let at = this.#sent.length;
    while (at > 0 && (this.#sent[at - 1]?.atMs ?? 0) > sending.atMs) at--;
    this.#sent.splice(at, 0, sending);
  }

  /** False where it is not among them. */
  remove(sending: Sending): boolean {
    const at = this.#sent.indexOf(sending);
    if (at >= 0) this.#sent.splice(at, 1);
    return at >= 0;
  }

  /** The machine's clock was set back: what it says of the future has been. */
  setBack(now: number): void {
    for (const sending of this.#sent) {
      sending.atMs = Math.min(sending.atMs, now);
      sending.countedByMs = Math.min(sending.countedByMs, now + latestCountMs);
    }
  }

  /** How many were sent at that time or after it. */
  sentSince(atMs: number): number {
    return this.#sent.filter((sending) => sending.atMs >= atMs).length;
  }

  /** What one of so many equal parts has to answer for: every so many-th of them, the latest of each. */
  part(parts: number): SlidingWindow {
    const part = new SlidingWindow();
    part.#sent = this.#sent.filter((_, at, { length }) => (length - 1 - at) % parts === 0);
    return part;
  }

  /** `hopeful` looks ahead as if what is on its way were answered now. */
  readyAtMs(rate: Rate, now: number, nth: number, hopeful: boolean): number {
    let readyMs = now + spanMs(rate, nth);
    // Up to the burst there is nothing to wait for.
    for (let back = Math.max(1, rate.burst - nth + 1); back <= this.#sent.length; back++) {
      const countedByMs = this.#sent[this.#sent.length - back]?.countedByMs ?? now;
      readyMs = Math.max(
        readyMs,
        (hopeful ? Math.min(countedByMs, now) : countedByMs) + spanMs(rate, back + nth),
      );
    }
    return readyMs;
  }

  #forget(now: number): void {
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
  // The pace starts at that of a bucket, `perMinute` a minute, and slackens towards the end of the minute.
  const part = (count - burst) / (perMinute - burst);
  return bucketMs + (part * minuteMs - bucketMs) * part + marginMs;
}
