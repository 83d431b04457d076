import type { Clock, ForwardMs, Timer } from '../../clock.js';
import { limits } from '../../limits.js';
import type { Listening, LoggedChange, Start } from '../feeds/feed.js';
import type { Delivery } from '../tracking/change.js';
import type { Sink } from './sink.js';

// docs/behaviour.md 9.5. Neither a burst nor a busy gateway makes a subscriber slow. One that is `changesBehind` changes
// behind is ended when it has taken nothing for `patienceMs`, or fewer than `changesBehind` in each of `spans`
// consecutive spans.
const { changesBehind } = limits;
const patienceMs = 5_000;
const spans = 6;

export interface Supervision {
  /** Number of changes it is behind, counted up to `most`. */
  readonly countBehind: (most: number) => number;
  readonly giveUp: () => void;
}

/** One subscription's position in a feed. */
export class Subscriber<C extends LoggedChange, P> {
  readonly sink: Sink<P>;
  readonly #clock: Clock;
  readonly #supervision: Supervision;
  listening: Listening | null = null;
  start: Start<C> | null = null;
  /** Number of the next change in the log for it. */
  at = 0;
  #replayed = 0;
  #isOver = false;
  #isFolding = false;
  #stalledAtMs: ForwardMs | null = null;
  #slowSpans = 0;
  #delivered = 0;
  #patience: Timer | null = null;

  constructor(sink: Sink<P>, clock: Clock, supervision: Supervision) {
    this.sink = sink;
    this.#clock = clock;
    this.#supervision = supervision;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True from a stall until it has caught up: superseded changes are then left out. */
  get isFolding(): boolean {
    return this.#isFolding;
  }

  /** The next replayed change; undefined once the replay is over and the log follows. */
  get replay(): Delivery<C> | undefined {
    return this.start?.replay[this.#replayed];
  }

  /** Counts the next change as delivered. */
  advance(): void {
    this.#delivered++;
    if (this.replay) this.#replayed++;
    else this.at++;
  }

  /** Its sink has stopped taking payloads. */
  stalled(): void {
    this.#isFolding = true;
    this.#stalledAtMs ??= this.#clock.now();
    if (!this.#patience) this.#supervise();
  }

  /** Its sink is ready again. */
  moving(): void {
    this.#stalledAtMs = null;
  }

  caughtUp(): void {
    this.#isFolding = false;
    this.#stalledAtMs = null;
    this.#slowSpans = 0;
    this.#patience?.cancel();
    this.#patience = null;
  }

  over(): void {
    this.#isOver = true;
    this.caughtUp();
    this.listening?.unsubscribe();
  }

  #supervise(): void {
    const before = this.#delivered;
    this.#patience = this.#clock.timer(patienceMs, () => {
      const isFarBehind = this.#supervision.countBehind(changesBehind) >= changesBehind;
      const isSlow = isFarBehind && this.#delivered - before < changesBehind;
      this.#slowSpans = isSlow ? this.#slowSpans + 1 : 0;
      const hasTakenNothing =
        this.#stalledAtMs !== null && this.#clock.now() - this.#stalledAtMs >= patienceMs;
      if (isFarBehind && (hasTakenNothing || this.#slowSpans >= spans)) this.#supervision.giveUp();
      else this.#supervise();
    });
  }
}
