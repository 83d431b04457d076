import { randomUUID } from 'node:crypto';
import { type Clock, type ForwardMs, longAgo, minuteMs, plus, type Timer } from '../../../clock.js';
import type { Entered, Journal, JournalEntry, Store } from '../../../store/store.js';
import { type Priority, priorities } from '../../read/read.js';
import type { Limiter, ObservedLimit, Permit } from '../limiter.js';
import type { RequestQueue } from '../request-queue.js';
import { entryOf, textOf } from './journal-entries.js';
import { PeerRequests } from './peer-requests.js';
import { UnreportedResponses } from './unreported-responses.js';

export interface SharedLimiterOptions {
  readonly store: Store;
  /** Unique to interface, address and key. */
  readonly name: string;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly queue: RequestQueue;
  /** Another instance has to pause. `isUnavailable`: because the interface is unavailable, not because of a limit. */
  readonly onPaused: (isUnavailable: boolean) => void;
}

// Other instances find Redis again within this time, and report what they sent meanwhile: until then none uses the
// whole limit.
const graceMs = 5_000;
// The clock of Redis is known no better than this.
const clockSlackMs = 250;
const waitsEveryMs = 1_000;

/**
 * Shares one key's budget among instances through a journal (docs/behaviour.md 8): each counts all requests that are
 * sent with the key. While partitioned it keeps to an equal part, and reports later what it sent.
 */
export class SharedLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #journal: Journal;
  /** Requests about to be sent. */
  #pending = 0;
  /** Requests not reported to other instances: their number, and the times of those in the last minute. */
  #unreported: { count: number; atMs: ForwardMs[] } = { count: 0, atMs: [] };
  #reportedPauseUntilMs: ForwardMs = longAgo;
  /** Distinguishes this journal's requests from those of other instances. */
  readonly #by = randomUUID();
  #number = 0;
  readonly #numbers = new WeakMap<Permit, number>();
  readonly #unreportedResponses: UnreportedResponses;
  readonly #peerRequests = new PeerRequests();
  /** Priorities reported as waiting here within the last second. */
  #reportedWaiting: readonly Priority[] = [];
  #waitsTimer: Timer | undefined;
  #isToServe = false;
  #grace: Timer | undefined;
  readonly #stopListening: () => void;

  constructor(options: SharedLimiterOptions) {
    this.#options = options;
    const { store, name, limiter } = options;
    this.#unreportedResponses = new UnreportedResponses(options.clock);
    this.#journal = store.journal(name);
    this.#journal.onEntry((entry) => this.#apply(entry));
    this.#journal.onCount((counts) => limiter.learnDay(counts, this.#pending));
    this.#stopListening = store.connection?.onChange(() => this.#onConnectionChange()) ?? (() => {});
    if (store.connection?.isUp === false) limiter.keepToPart(store.instances);
  }

  /** Enters a request before it is sent. In one process, and while partitioned, the outcome is immediate. */
  enter(priority: Priority, permit: Permit): 'unshared' | Promise<Entered> {
    const { store, queue } = this.#options;
    if (!store.connection) return 'unshared';
    const number = ++this.#number;
    const answered = this.#unreportedResponses.take();
    const waiting = this.#waiting;
    // A priority that no longer waits is reported again when it does.
    this.#reportedWaiting = this.#reportedWaiting.filter((one) => waiting.includes(one));
    const entered = this.#journal.enter(
      textOf({
        is: 'sent',
        priority,
        by: this.#by,
        number,
        answered: this.#unreportedResponses.ago(answered),
        isContested: queue.isContested,
        waiting,
      }),
    );
    if (typeof entered === 'string') {
      this.#unreportedResponses.putBack(answered);
      this.#noteUnreported();
      return 'unshared';
    }
    this.#pending++;
    return entered.then((outcome) => {
      this.#pending--;
      if (outcome === 'entered') this.#numbers.set(permit, number);
      else this.#unreportedResponses.putBack(answered);
      return outcome;
    });
  }

  /** The request is no longer in flight: other instances need not assume the latest count. */
  answered(permit: Permit): void {
    const number = this.#numbers.get(permit);
    if (number !== undefined) this.#unreportedResponses.add(number);
  }

  /** Reports which priorities wait here, now and every second while they do. */
  noteWaiting(): void {
    const { store, clock } = this.#options;
    if (!store.connection?.isUp) return;
    const waiting = this.#waiting;
    if (waiting.every((priority) => this.#reportedWaiting.includes(priority))) return;
    const answered = this.#unreportedResponses.ago(this.#unreportedResponses.take());
    void this.#journal.append(textOf({ is: 'waits', by: this.#by, answered, waiting }));
    this.#reportedWaiting = waiting;
    this.#waitsTimer?.cancel();
    this.#waitsTimer = clock.timer(waitsEveryMs, () => {
      this.#reportedWaiting = [];
      this.noteWaiting();
    });
  }

  /** Upstream refused: all instances pause. `isNamed`: upstream named the length of the pause. */
  paused(
    forMs: number,
    { isNamed, isUnavailable }: { readonly isNamed: boolean; readonly isUnavailable: boolean },
  ): void {
    const untilMs = plus(this.#options.clock.now(), forMs);
    // Requests refused during one pause are reported once.
    if (untilMs <= this.#reportedPauseUntilMs) return;
    this.#reportedPauseUntilMs = untilMs;
    // The entry stands a minute longer: that is how long the restart is slow.
    void this.#journal.append(textOf({ is: 'paused', forMs, isNamed, isUnavailable }), {
      standsMs: forMs + minuteMs,
    });
  }

  /** Reports upstream's headers on the response to a request that was sent at `sentAtMs`. */
  observed(sentAtMs: ForwardMs, { perMinute, remaining, resetAtMs }: ObservedLimit): void {
    const now = this.#options.clock.now();
    const resetInMs = resetAtMs === undefined ? undefined : resetAtMs - now;
    void this.#journal.append(
      textOf({ is: 'observed', sentAgoMs: now - sentAtMs, perMinute, remaining, resetInMs }),
    );
  }

  close(): void {
    this.#stopListening();
    this.#grace?.cancel();
    this.#waitsTimer?.cancel();
  }

  #apply({ text, atMs }: JournalEntry): void {
    const { limiter, queue, onPaused } = this.#options;
    const entry = entryOf(text);
    this.#serveSoon();
    switch (entry?.is) {
      case 'sent':
        this.#peerRequests.sent(entry, limiter.spentByPeer(atMs), atMs);
        this.#peerRequests.answered(entry, atMs);
        limiter.countOfPeers(1);
        queue.servedAtPeer(entry.priority, entry.isContested);
        for (const priority of entry.waiting) queue.waitsAtPeer(priority);
        break;
      case 'sent while partitioned':
        for (const agoMs of entry.agoMs) limiter.spentByPeer(plus(atMs, -agoMs));
        limiter.countOfPeers(entry.count);
        break;
      case 'waits':
        this.#peerRequests.answered(entry, atMs);
        for (const priority of entry.waiting) queue.waitsAtPeer(priority);
        break;
      case 'paused':
        onPaused(entry.isUnavailable);
        limiter.refusedAtPeer(plus(atMs, entry.forMs), entry.isNamed ? null : entry.forMs);
        queue.refuseHopeless();
        break;
      case 'observed': {
        const { sentAgoMs, perMinute, remaining, resetInMs } = entry;
        const resetAtMs = resetInMs === undefined ? undefined : plus(atMs, resetInMs);
        // Errs towards an earlier request: then more requests count as sent since.
        limiter.observedByPeer(plus(atMs, -sentAgoMs - clockSlackMs), { perMinute, remaining, resetAtMs });
        break;
      }
    }
  }

  /** Serves once after all new entries are applied: other instances' entries can make a request ready sooner. */
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

  #onConnectionChange(): void {
    const { store, clock, limiter, queue } = this.#options;
    this.#grace?.cancel();
    if (store.connection?.isUp) {
      this.#reportUnreported();
      this.#grace = clock.timer(graceMs, () => {
        limiter.keepToWhole();
        queue.serve();
      });
    } else {
      limiter.keepToPart(store.instances);
      queue.refuseHopeless();
    }
  }

  #noteUnreported(): void {
    const now = this.#options.clock.now();
    const { count, atMs } = this.#unreported;
    const ofMinute = atMs.filter((sentAtMs) => sentAtMs > now - minuteMs);
    this.#unreported = { count: count + 1, atMs: [...ofMinute, now] };
  }

  #reportUnreported(): void {
    const { clock, limiter } = this.#options;
    const { count, atMs } = this.#unreported;
    const now = clock.now();
    this.#unreported = { count: 0, atMs: [] };
    const agoMs = atMs.map((sentAtMs) => Math.max(0, now - sentAtMs));
    if (count > 0) {
      void this.#journal
        .append(textOf({ is: 'sent while partitioned', count, agoMs }), { counts: count })
        .then((isReported) => {
          // Redis was there for a moment only: report them next time.
          const { count: since, atMs: later } = this.#unreported;
          if (!isReported) this.#unreported = { count: count + since, atMs: [...atMs, ...later] };
        });
    }
    // Redis may have lost what was reported before.
    this.#reportedPauseUntilMs = longAgo;
    const { retryAfterUntilMs } = limiter;
    if (retryAfterUntilMs !== null)
      this.paused(retryAfterUntilMs - now, { isNamed: true, isUnavailable: false });
  }
}
