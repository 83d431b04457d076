import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../../../clock.js';
import type { Entered, Journal, JournalEntry, Store } from '../../../store/store.js';
import { type Priority, priorities } from '../../read/read.js';
import type { Limiter, ObservedLimit, Permit } from '../limiter.js';
import type { RequestQueue } from '../request-queue.js';
import { entryOf, textOf } from './journal-entries.js';
import { PeerRequests } from './peer-requests.js';
import { UnreportedResponses } from './unreported-responses.js';

export interface SharedLimiterOptions {
  readonly store: Store;
  /** Tells interface, address and key apart. */
  readonly name: string;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly queue: RequestQueue;
  /** Another instance was told to wait, by an interface that is away rather than for a limit. */
  readonly onHeld: (isAway: boolean) => void;
}

const minuteMs = 60_000;
// Others find Redis again as soon, and tell what they have sent meanwhile: until then nobody takes the whole for theirs.
const graceMs = 5_000;
// The clock of Redis is known to less.
const clockSlackMs = 250;
const waitsEveryMs = 1_000;

/**
 * What one instance tells the others of the budget that they share, and hears from them (docs/behaviour.md 8): each reckons with
 * all that was sent with the key, by whomever. While Redis is away it keeps to an equal part, and tells later what it sent.
 */
export class SharedLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #journal: Journal;
  /** About to be sent. */
  #pending = 0;
  /** What others have not been told of: all, and the times of those in the last minute. */
  #untold: { count: number; atMs: number[] } = { count: 0, atMs: [] };
  #toldHeldUntilMs = Number.NEGATIVE_INFINITY;
  /** Tells this journal's requests from those of others. */
  readonly #by = randomUUID();
  #number = 0;
  readonly #numbers = new WeakMap<Permit, number>();
  readonly #answers: UnreportedResponses;
  readonly #others = new PeerRequests();
  /** What others have been told to wait here, within the last second. */
  #toldWaiting: readonly Priority[] = [];
  #waitsTimer: Timer | undefined;
  #isToServe = false;
  #grace: Timer | undefined;
  readonly #stopListening: () => void;

  constructor(options: SharedLimiterOptions) {
    this.#options = options;
    const { store, name, limiter } = options;
    this.#answers = new UnreportedResponses(options.clock);
    this.#journal = store.journal(name);
    this.#journal.onEntry((entry) => this.#hear(entry));
    this.#journal.onCount((counts) => limiter.learnDay(counts, this.#pending));
    this.#stopListening = store.connection?.onChange(() => this.#turn()) ?? (() => {});
    if (store.connection?.isUp === false) limiter.keepToPart(store.instances);
  }

  /** A request is to be sent. In one process, and while Redis is away, the answer is there at once. */
  enter(priority: Priority, permit: Permit): 'alone' | Promise<Entered> {
    const { store, queue } = this.#options;
    if (!store.connection) return 'alone';
    const number = ++this.#number;
    const answered = this.#answers.take();
    const waiting = this.#waiting;
    // Those that do not wait any more are told of anew when they do.
    this.#toldWaiting = this.#toldWaiting.filter((one) => waiting.includes(one));
    const entered = this.#journal.enter(
      textOf({
        is: 'sent',
        priority,
        by: this.#by,
        number,
        answered: this.#answers.ago(answered),
        isContested: queue.isContested,
        waiting,
      }),
    );
    if (typeof entered === 'string') {
      this.#answers.putBack(answered);
      this.#noteUntold();
      return 'alone';
    }
    this.#pending++;
    return entered.then((outcome) => {
      this.#pending--;
      if (outcome === 'entered') this.#numbers.set(permit, number);
      else this.#answers.putBack(answered);
      return outcome;
    });
  }

  /** Others need not take it to be on its way any more. */
  answered(permit: Permit): void {
    const number = this.#numbers.get(permit);
    if (number !== undefined) this.#answers.add(number);
  }

  /** Tells what waits here, now and every second while it does. */
  noteWaiting(): void {
    const { store, clock } = this.#options;
    if (!store.connection?.isUp) return;
    const waiting = this.#waiting;
    if (waiting.every((priority) => this.#toldWaiting.includes(priority))) return;
    const answered = this.#answers.ago(this.#answers.take());
    void this.#journal.tell(textOf({ is: 'waits', by: this.#by, answered, waiting }));
    this.#toldWaiting = waiting;
    this.#waitsTimer?.cancel();
    this.#waitsTimer = clock.timer(waitsEveryMs, () => {
      this.#toldWaiting = [];
      this.noteWaiting();
    });
  }

  /** Upstream refused: all instances wait. `isNamed`: it said for how long. */
  held(forMs: number, { isNamed, isAway }: { readonly isNamed: boolean; readonly isAway: boolean }): void {
    const untilMs = this.#options.clock.now() + forMs;
    // Those that are refused together are told of once.
    if (untilMs <= this.#toldHeldUntilMs) return;
    this.#toldHeldUntilMs = untilMs;
    // A minute longer: that is how long the restart is slow.
    void this.#journal.tell(textOf({ is: 'held', forMs, isNamed, isAway }), { standsMs: forMs + minuteMs });
  }

  /** Upstream's headers said so of a request that was sent then. */
  observed(sentAtMs: number, { perMinute, remaining, resetAtMs }: ObservedLimit): void {
    const now = this.#options.clock.now();
    const resetInMs = resetAtMs === undefined ? undefined : resetAtMs - now;
    void this.#journal.tell(
      textOf({ is: 'observed', sentAgoMs: now - sentAtMs, perMinute, remaining, resetInMs }),
    );
  }

  close(): void {
    this.#stopListening();
    this.#grace?.cancel();
    this.#waitsTimer?.cancel();
  }

  #hear({ text, atMs }: JournalEntry): void {
    const { limiter, queue, onHeld } = this.#options;
    const entry = entryOf(text);
    this.#serveSoon();
    switch (entry?.is) {
      case 'sent':
        this.#others.sent(entry, limiter.spentElsewhere(atMs), atMs);
        this.#others.answered(entry, atMs);
        limiter.countElsewhere(1);
        queue.servedElsewhere(entry.priority, entry.isContested);
        for (const priority of entry.waiting) queue.waitsElsewhere(priority);
        break;
      case 'sent alone':
        for (const agoMs of entry.agoMs) limiter.spentElsewhere(atMs - agoMs);
        limiter.countElsewhere(entry.count);
        break;
      case 'waits':
        this.#others.answered(entry, atMs);
        for (const priority of entry.waiting) queue.waitsElsewhere(priority);
        break;
      case 'held':
        onHeld(entry.isAway);
        limiter.refusedElsewhere(atMs + entry.forMs, entry.isNamed ? null : entry.forMs);
        queue.refuseHopeless();
        break;
      case 'observed': {
        const { sentAgoMs, perMinute, remaining, resetInMs } = entry;
        const resetAtMs = resetInMs === undefined ? undefined : atMs + resetInMs;
        // If anything, an earlier request: then more is taken to have been sent since.
        limiter.observedElsewhere(atMs - sentAgoMs - clockSlackMs, { perMinute, remaining, resetAtMs });
        break;
      }
    }
  }

  /** Once, when all that is new has been heard: what others say can make a request ready sooner. */
  #serveSoon(): void {
    if (this.#isToServe) return;
    this.#isToServe = true;
    queueMicrotask(() => {
      this.#isToServe = false;
      this.#options.queue.serve();
    });
  }

  get #waiting(): Priority[] {
    const { waiting } = this.#options.queue;
    return priorities.filter((priority) => waiting[priority] > 0);
  }

  #turn(): void {
    const { store, clock, limiter, queue } = this.#options;
    this.#grace?.cancel();
    if (store.connection?.isUp) {
      this.#tellUntold();
      this.#grace = clock.timer(graceMs, () => {
        limiter.keepToWhole();
        queue.serve();
      });
    } else {
      limiter.keepToPart(store.instances);
      queue.refuseHopeless();
    }
  }

  #noteUntold(): void {
    const now = this.#options.clock.now();
    const { count, atMs } = this.#untold;
    const ofMinute = atMs.filter((sentAtMs) => sentAtMs > now - minuteMs);
    this.#untold = { count: count + 1, atMs: [...ofMinute, now] };
  }

  #tellUntold(): void {
    const { clock, limiter } = this.#options;
    const { count, atMs } = this.#untold;
    const now = clock.now();
    this.#untold = { count: 0, atMs: [] };
    const agoMs = atMs.map((sentAtMs) => Math.max(0, now - sentAtMs));
    if (count > 0) {
      void this.#journal
        .tell(textOf({ is: 'sent alone', count, agoMs }), { counts: count })
        .then((isTold) => {
          // Redis was there for a moment only: they are to be told next time.
          const { count: since, atMs: later } = this.#untold;
          if (!isTold) this.#untold = { count: count + since, atMs: [...atMs, ...later] };
        });
    }
    // Who was told before may have lost it with Redis.
    this.#toldHeldUntilMs = Number.NEGATIVE_INFINITY;
    const { retryAfterUntilMs } = limiter;
    if (retryAfterUntilMs !== null) this.held(retryAfterUntilMs - now, { isNamed: true, isAway: false });
  }
}
