import type { Clock } from '../../clock.js';
import { FellBehind, type GatewayError } from '../../errors.js';
import type { Slices } from '../../event-loop-slices.js';
import type { Feed, LoggedChange, Start } from '../feeds/feed.js';
import type { Delivery } from '../tracking/change.js';
import type { LogEntry } from '../tracking/change-log.js';
import { PayloadCache } from './payload-cache.js';
import type { Preparation } from './preparation.js';
import type { Sink } from './sink.js';
import { Subscriber } from './subscriber.js';

/** The properties common to equal subscriptions: each payload is made once for all of them. */
export interface FanOutOptions<C extends LoggedChange, P> {
  readonly feed: Feed<C>;
  readonly clock: Clock;
  readonly filter: (change: C) => boolean;
  /** Has to be ready before the filter decides on a delivery; null or left out where the filter needs nothing. */
  readonly preparation?: Preparation | null;
  /** Makes a payload and never fails; or a cache shared by fan-outs that differ in their filters alone. */
  readonly render: ((delivery: Delivery<C>) => P | Promise<P>) | PayloadCache<C, P>;
  /** Limits the payloads delivered in one event-loop slice; unlimited when left out. */
  readonly slices?: Slices;
  /** Called when the last subscriber has left. */
  readonly onEmpty?: () => void;
}

/**
 * Delivers a feed to its subscribers, each change once and in order (docs/behaviour.md 9.5, 9.8). Subscribers with
 * ready sinks advance together, in step; one that is not ready, or that resumes from the past, reads the log by itself
 * until it has caught up. Nothing is queued per subscriber: each is a number, and the changes it still needs are in the
 * feed's log.
 */
export class FanOut<C extends LoggedChange, P> {
  readonly #options: FanOutOptions<C, P>;
  readonly #payloads: PayloadCache<C, P>;
  readonly #inStep = new Set<Subscriber<C, P>>();
  readonly #behind = new Set<Subscriber<C, P>>();
  /** Number of the next change for the subscribers in step. */
  #next: number;
  #isRunning = false;
  #stopListening: (() => void) | null = null;

  constructor(options: FanOutOptions<C, P>) {
    this.#options = options;
    const { render, clock } = options;
    this.#payloads = render instanceof PayloadCache ? render : new PayloadCache(clock, render);
    this.#next = options.feed.log.next;
  }

  get size(): number {
    return this.#inStep.size + this.#behind.size;
  }

  /** Subscribes `sink` until the returned function is called. */
  join(after: string | null, sink: Sink<P>): () => void {
    const { feed, clock } = this.#options;
    const subscriber: Subscriber<C, P> = new Subscriber(sink, clock, {
      countBehind: (most) => this.#countBehind(subscriber, most),
      giveUp: () => this.#drop(subscriber, fellBehind()),
    });
    this.#behind.add(subscriber);
    if (!this.#stopListening) {
      this.#payloads.join();
      this.#next = feed.log.next;
      this.#stopListening = feed.log.onAppend(() => this.#wake());
    }
    subscriber.listening = feed.subscribe(after, {
      begin: (start) => this.#begin(subscriber, start),
      end: (error) => this.#drop(subscriber, error),
    });
    // `listen` may have ended it at once.
    if (subscriber.isOver) subscriber.listening.unsubscribe();
    return () => this.#remove(subscriber);
  }

  #begin(subscriber: Subscriber<C, P>, start: Start<C>): void {
    if (subscriber.isOver) return;
    subscriber.start = start;
    subscriber.at = start.from;
    void this.#catchUp(subscriber);
  }

  #wake(): void {
    if (this.#isRunning || this.#inStep.size === 0) return;
    this.#isRunning = true;
    // A poll appends its changes in one go; starting after the last lets their payloads be made concurrently.
    queueMicrotask(() => void this.#runInStep());
  }

  async #runInStep(): Promise<void> {
    const { log } = this.#options.feed;
    while (this.#inStep.size > 0 && this.#next < log.next) {
      const preparing = this.#options.preparation?.prepare();
      if (preparing) {
        await preparing;
        continue;
      }
      const entry = log.at(this.#next);
      if (!entry) {
        this.#skipTo(log.first);
      } else if (this.#options.filter(entry.change)) {
        const made = this.#payloads.of(entry.change, false, () => this.#ahead(entry.seq));
        const payload = made instanceof Promise ? await made : made;
        this.#next = entry.seq + 1;
        for (const subscriber of this.#inStep) {
          if (entry.seq < subscriber.at) continue;
          const pause = this.#options.slices?.take(1, this);
          if (pause) {
            await pause;
            if (subscriber.isOver) continue;
          }
          const change = subscriber.start?.adapt ? this.#adapted(subscriber, entry.change) : entry.change;
          if (change === entry.change) {
            this.#deliver(subscriber, payload, entry.seq);
          } else if (change) {
            const own = this.#payloads.of(change, false);
            const ownPayload = own instanceof Promise ? await own : own;
            if (!subscriber.isOver) this.#deliver(subscriber, ownPayload, entry.seq);
          }
        }
        if (this.#behind.size === 0) this.#payloads.forget(entry.change);
      } else {
        this.#next++;
      }
    }
    this.#isRunning = false;
  }

  /** The log has discarded the changes before `first`: end the subscribers that would otherwise miss some silently. */
  #skipTo(first: number): void {
    this.#next = first;
    for (const subscriber of this.#inStep) {
      if (subscriber.at < first) this.#drop(subscriber, fellBehind());
    }
  }

  /** The changes needed next: their payloads are made concurrently, and delivered in order. */
  *#ahead(seq: number): Generator<C> {
    const { log } = this.#options.feed;
    for (let at = seq + 1; at < Math.min(log.next, seq + madeAhead); at++) {
      const entry = log.at(at);
      if (entry && this.#options.filter(entry.change)) yield entry.change;
    }
  }

  #deliver(subscriber: Subscriber<C, P>, payload: P, seq: number): void {
    subscriber.at = seq;
    subscriber.advance();
    subscriber.sink.send(payload);
    if (subscriber.sink.isReady || subscriber.isOver) return;
    this.#inStep.delete(subscriber);
    this.#behind.add(subscriber);
    this.#waitFor(subscriber);
  }

  #waitFor(subscriber: Subscriber<C, P>): void {
    subscriber.stalled();
    subscriber.sink.whenReady(() => {
      subscriber.moving();
      void this.#catchUp(subscriber);
    });
  }

  /** Brings one subscriber up to those in step: delivers its replay first, then the log from its position. */
  async #catchUp(subscriber: Subscriber<C, P>): Promise<void> {
    while (!subscriber.isOver) {
      if (!subscriber.sink.isReady) {
        this.#waitFor(subscriber);
        return;
      }
      const preparing = this.#isUpToDate(subscriber) ? null : this.#options.preparation?.prepare();
      if (preparing) {
        await preparing;
        continue;
      }
      const delivery = this.#nextFor(subscriber);
      if (!delivery) break;
      const made = this.#payloads.of(delivery.change, delivery.isReplayed);
      const payload = made instanceof Promise ? await made : made;
      if (subscriber.isOver) return;
      subscriber.advance();
      subscriber.sink.send(payload);
    }
    if (subscriber.isOver) return;
    subscriber.caughtUp();
    this.#behind.delete(subscriber);
    if (this.#behind.size === 0 && !this.#isRunning) this.#payloads.clear();
    if (this.#inStep.size === 0 && !this.#isRunning) this.#next = subscriber.at;
    this.#inStep.add(subscriber);
    this.#wake();
  }

  #isUpToDate(subscriber: Subscriber<C, P>): boolean {
    return !subscriber.replay && subscriber.at >= this.#end;
  }

  /** Number of the change up to which a subscriber that catches up is brought. */
  get #end(): number {
    return this.#inStep.size > 0 || this.#isRunning ? this.#next : this.#options.feed.log.next;
  }

  /** The next delivery for a subscriber that catches up; null when it has caught up. */
  #nextFor(subscriber: Subscriber<C, P>): Delivery<C> | null {
    const { feed, filter } = this.#options;
    for (let delivery = subscriber.replay; delivery; delivery = subscriber.replay) {
      if (filter(delivery.change)) return delivery;
      subscriber.advance();
    }
    while (subscriber.at < this.#end) {
      if (subscriber.at < feed.log.first) {
        this.#drop(subscriber, fellBehind());
        return null;
      }
      const entry = feed.log.at(subscriber.at);
      const isWanted = entry && filter(entry.change) && !(subscriber.isFolding && this.#isReplaced(entry));
      const change = isWanted ? this.#adapted(subscriber, entry.change) : null;
      if (change) return { change, isReplayed: subscriber.at < (subscriber.start?.liveFrom ?? 0) };
      subscriber.at++;
    }
    return null;
  }

  #adapted({ start }: Subscriber<C, P>, change: C): C | null {
    if (!start?.adapt) return change;
    const own = start.adapt(change);
    return own && this.#options.filter(own) ? own : null;
  }

  #isReplaced({ change, next }: LogEntry<C>): boolean {
    const { feed, filter } = this.#options;
    return feed.isFolded(change) && next !== null && feed.isFolded(next.change) && filter(next.change);
  }

  /** Number of live changes still to be delivered, counted up to `most`; replayed changes are excluded. */
  #countBehind(subscriber: Subscriber<C, P>, most: number): number {
    const { log } = this.#options.feed;
    let count = 0;
    for (
      let at = Math.max(subscriber.at, subscriber.start?.liveFrom ?? 0);
      at < log.next && count < most;
      at++
    ) {
      const entry = log.at(at);
      if (!entry) return most;
      if (this.#options.filter(entry.change) && !this.#isReplaced(entry)) count++;
    }
    return count;
  }

  #drop(subscriber: Subscriber<C, P>, error: GatewayError | null): void {
    if (subscriber.isOver) return;
    this.#remove(subscriber);
    subscriber.sink.end(error);
  }

  #remove(subscriber: Subscriber<C, P>): void {
    if (subscriber.isOver) return;
    subscriber.over();
    this.#inStep.delete(subscriber);
    this.#behind.delete(subscriber);
    if (this.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#payloads.leave();
    this.#options.onEmpty?.();
  }
}

const madeAhead = 16;
function fellBehind(): FellBehind {
  return new FellBehind(
    'The subscription fell too far behind: resume with `after`, the cursor of the last change received',
    { retryAfterS: 1 },
  );
}
