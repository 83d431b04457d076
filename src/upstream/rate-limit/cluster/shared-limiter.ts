import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../../../clock.js';
import type { Entered, Journal, JournalEntry, Store } from '../../../store/store.js';
import { type Priority, priorities } from '../../read/read.js';
import type { Allowance, Observed, Spent } from '../limiter.js';
import type { WaitingLine } from '../request-queue.js';
import { entryOf, textOf } from './journal-entries.js';
import { OthersRequests } from './peer-requests.js';
import { UntoldAnswers } from './unreported-responses.js';

export interface SharedAllowanceOptions {
  readonly store: Store;
  /** Tells interface, address and key apart. */
  readonly name: string;
  readonly clock: Clock;
  readonly allowance: Allowance;
  readonly line: WaitingLine;
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
 * What one instance tells the others of the allowance that they share, and hears from them (docs/behaviour.md 8): each reckons with
 * all that was sent with the key, by whomever. While Redis is away it keeps to an equal part, and tells later what it sent.
 */
export class SharedAllowance {
  readonly #options: SharedAllowanceOptions;
  readonly #journal: Journal;
  /** About to be sent. */
  #pending = 0;
  /** What others have not been told of: all, and the times of those in the last minute. */
  #untold: { count: number; atMs: number[] } = { count: 0, atMs: [] };
  #toldHeldUntilMs = Number.NEGATIVE_INFINITY;
  /** Tells this journal's requests from those of others. */
  readonly #by = randomUUID();
  #number = 0;
  readonly #numbers = new WeakMap<Spent, number>();
  readonly #answers: UntoldAnswers;
  readonly #others = new OthersRequests();
  /** What others have been told to wait here, within the last second. */
  #toldWaiting: readonly Priority[] = [];
  #waitsTimer: Timer | undefined;
  #isToServe = false;
  #grace: Timer | undefined;
  readonly #stopListening: () => void;

  constructor(options: SharedAllowanceOptions) {
    this.#options = options;
    const { store, name, allowance } = options;
    this.#answers = new UntoldAnswers(options.clock);
    this.#journal = store.journal(name);
    this.#journal.onEntry((entry) => this.#hear(entry));
    this.#journal.onCount((counts) => allowance.learnDay(counts, this.#pending));
    this.#stopListening = store.connection?.onChange(() => this.#turn()) ?? (() => {});
    if (store.connection?.isUp === false) allowance.keepToPart(store.instances);
  }

  /** A request is to be sent. In one process, and while Redis is away, the answer is there at once. */
  enter(priority: Priority, spent: Spent): 'alone' | Promise<Entered> {
    const { store, line } = this.#options;
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
        isContested: line.isContested,
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
      if (outcome === 'entered') this.#numbers.set(spent, number);
      else this.#answers.putBack(answered);
      return outcome;
    });
  }

  /** Others need not take it to be on its way any more. */
  answered(spent: Spent): void {
    const number = this.#numbers.get(spent);
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
  observed(sentAtMs: number, { perMinute, remaining, resetAtMs }: Observed): void {
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
    const { allowance, line, onHeld } = this.#options;
    const entry = entryOf(text);
    this.#serveSoon();
    switch (entry?.is) {
      case 'sent':
        this.#others.sent(entry, allowance.spentElsewhere(atMs), atMs);
        this.#others.answered(entry, atMs);
        allowance.countElsewhere(1);
        line.servedElsewhere(entry.priority, entry.isContested);
        for (const priority of entry.waiting) line.waitsElsewhere(priority);
        break;
      case 'sent alone':
        for (const agoMs of entry.agoMs) allowance.spentElsewhere(atMs - agoMs);
        allowance.countElsewhere(entry.count);
        break;
      case 'waits':
        this.#others.answered(entry, atMs);
        for (const priority of entry.waiting) line.waitsElsewhere(priority);
        break;
      case 'held':
        onHeld(entry.isAway);
        allowance.refusedElsewhere(atMs + entry.forMs, entry.isNamed ? null : entry.forMs);
        line.refuseHopeless();
        break;
      case 'observed': {
        const { sentAgoMs, perMinute, remaining, resetInMs } = entry;
        const resetAtMs = resetInMs === undefined ? undefined : atMs + resetInMs;
        // If anything, an earlier request: then more is taken to have been sent since.
        allowance.observedElsewhere(atMs - sentAgoMs - clockSlackMs, { perMinute, remaining, resetAtMs });
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
      this.#options.line.serve();
    });
  }

  get #waiting(): Priority[] {
    const { waiting } = this.#options.line;
    return priorities.filter((priority) => waiting[priority] > 0);
  }

  #turn(): void {
    const { store, clock, allowance, line } = this.#options;
    this.#grace?.cancel();
    if (store.connection?.isUp) {
      this.#tellUntold();
      this.#grace = clock.timer(graceMs, () => {
        allowance.keepToWhole();
        line.serve();
      });
    } else {
      allowance.keepToPart(store.instances);
      line.refuseHopeless();
    }
  }

  #noteUntold(): void {
    const now = this.#options.clock.now();
    const { count, atMs } = this.#untold;
    const ofMinute = atMs.filter((sentAtMs) => sentAtMs > now - minuteMs);
    this.#untold = { count: count + 1, atMs: [...ofMinute, now] };
  }

  #tellUntold(): void {
    const { clock, allowance } = this.#options;
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
    const { heldUntilMs } = allowance;
    if (heldUntilMs !== null) this.held(heldUntilMs - now, { isNamed: true, isAway: false });
  }
}
