import { type Clock, type ForwardMs, latest, minuteMs, plus, type Timer } from '../../clock.js';
import { onAbort } from '../http/abort.js';
import { type Priority, priorities, priorityRank } from '../read/read.js';
import { PeerQueues } from './cluster/peer-queues.js';
import { FairQueue } from './fair-queue.js';
import type { Limiter, Permit } from './limiter.js';
import { Reservation, reservedShare } from './reservation.js';
import { Scheduler } from './scheduler.js';

/** A request that waits in the queue. */
export interface QueuedRequest {
  /** Resolves when the request may be sent: it must be sent at once, or the permit given back. */
  readonly granted: Promise<Permit>;
  /** A caller of higher priority waits for the same request, for at most `maxWaitMs`. */
  raise(priority: Priority, operationKey: object, maxWaitMs: number): void;
}

export interface PermitRequest {
  readonly priority: Priority;
  /** The operation it belongs to. */
  readonly operationKey: object;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** It held a permit already and could not send: it goes before later requests. */
  readonly isBack?: boolean;
}

/** Makes the error for a request that would have to wait this long. */
export type Refusal = (readyInMs: number) => unknown;

/**
 * Priority queue before the limiter. The scheduler picks the priority, and within it operations take turns, so that one
 * that wants a hundred reads does not push back ten that want one (docs/behaviour.md 5.2). No request waits longer than
 * its `maxWaitMs`: one that would have to is refused at once.
 */
export class RequestQueue {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #refusal: Refusal;
  readonly #fairQueues: Readonly<Record<Priority, FairQueue<Waiter>>> = {
    query: new FairQueue(),
    feed: new FairQueue(),
    background: new FairQueue(),
  };
  readonly #scheduler = new Scheduler();
  readonly #reservation: Reservation;
  #serveTimer: Timer | undefined;
  #yieldsUntilMs: ForwardMs | null = null;
  readonly #peers: PeerQueues;

  constructor(clock: Clock, limiter: Limiter, refusal: Refusal) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#refusal = refusal;
    this.#reservation = new Reservation(clock, limiter);
    this.#peers = new PeerQueues(clock);
  }

  get waiting(): Readonly<Record<Priority, number>> {
    const { query, feed, background } = this.#fairQueues;
    return { query: query.size, feed: feed.size, background: background.size };
  }

  join(request: PermitRequest): QueuedRequest {
    const { signal, maxWaitMs } = request;
    if (request.priority === 'feed') this.#reservation.asked();
    if (signal.aborted) return refused(signal.reason);
    const readyInMs = this.readyInMs(request);
    if (readyInMs > maxWaitMs) return refused(this.#refusal(readyInMs));
    const { promise, resolve, reject } = withResolvers<Permit>();
    const settle = () => {
      waiter.timer.cancel();
      stopListening();
    };
    const waiter: Waiter = {
      priority: request.priority,
      operationKey: request.operationKey,
      ...this.#deadline(maxWaitMs, () => waiter),
      grant: (permit) => {
        settle();
        resolve(permit);
      },
      refuse: (error) => {
        settle();
        reject(error);
      },
    };
    const stopListening = onAbort(signal, () => this.#remove(waiter, signal.reason));
    const fairQueue = this.#fairQueues[waiter.priority];
    if (request.isBack) fairQueue.addBack(waiter);
    else fairQueue.add(waiter);
    this.serve();
    return {
      granted: promise,
      raise: (priority, operationKey, wait) => this.#raise(waiter, priority, operationKey, wait),
    };
  }

  /** Grants every permit that is due. Called whenever the budget has changed. */
  serve(): void {
    this.#serveTimer?.cancel();
    this.#serveTimer = undefined;
    for (let priority = this.#next(); priority; priority = this.#next()) {
      const now = this.#clock.now();
      const readyMs = this.#yielding(this.#readyAtMs(priority, 0, false), now);
      if (readyMs > now) {
        this.#serveTimer = this.#clock.timer(readyMs - now, () => this.serve());
        return;
      }
      const undoReservation = priority === 'feed' ? this.#reservation.served(this.isContested) : () => {};
      const undoServed = this.#scheduler.served(priority, this.#waitingAnywhere);
      const permit = this.#limiter.spend();
      const giveBack = () => {
        permit.giveBack();
        undoReservation();
        undoServed();
      };
      this.#fairQueues[priority].take()?.grant({ ...permit, giveBack });
    }
  }

  /** Other priorities wait for the permit that a feed is given. */
  get isContested(): boolean {
    const { query, background } = this.#waitingAnywhere;
    return query + background > 0;
  }

  /** Another instance has sent a request of this priority (docs/behaviour.md 8). `isContested`: others waited there. */
  servedAtPeer(priority: Priority, isContested: boolean): void {
    this.#peers.served(priority);
    this.#scheduler.served(priority, this.#waitingAnywhere);
    if (priority !== 'feed') return;
    this.#reservation.asked();
    this.#reservation.served(isContested);
  }

  /** Requests of this priority wait at another instance. */
  waitsAtPeer(priority: Priority): void {
    if (priority === 'feed') this.#reservation.asked();
    this.#peers.waits(priority);
  }

  /** Refuses at once every request whose wait would exceed its deadline, now that the limiter pauses. */
  refuseHopeless(): void {
    const now = this.#clock.now();
    for (const priority of priorities) {
      const readyMs = this.#readyAtMs(priority, 0, true);
      for (const waiter of this.#fairQueues[priority].all()) {
        if (waiter.deadlineMs >= readyMs) continue;
        this.#fairQueues[priority].remove(waiter);
        waiter.refuse(this.#refusal(readyMs - now));
      }
    }
    this.serve();
  }

  get #waitingAnywhere(): Readonly<Record<Priority, number>> {
    return this.#peers.and(this.waiting);
  }

  /** Gives another instance time to send first where only that one waits at the priority whose turn it is. */
  #yielding(readyMs: ForwardMs, now: ForwardMs): ForwardMs {
    const next = this.#scheduler.next(this.#waitingAnywhere, this.#reservation.isOwed);
    if (readyMs > now || next === undefined || this.waiting[next] > 0) {
      this.#yieldsUntilMs = null;
      return readyMs;
    }
    this.#yieldsUntilMs ??= plus(now, Math.min(longestYieldMs, minuteMs / this.#limiter.perMinute / 10));
    if (this.#yieldsUntilMs > now) return this.#yieldsUntilMs;
    this.#yieldsUntilMs = null;
    return now;
  }

  #raise(waiter: Waiter, priority: Priority, operationKey: object, maxWaitMs: number): void {
    if (priorityRank[priority] >= priorityRank[waiter.priority]) return;
    if (!this.#fairQueues[waiter.priority].remove(waiter)) return;
    waiter.priority = priority;
    waiter.operationKey = operationKey;
    if (this.#clock.now() + maxWaitMs < waiter.deadlineMs) {
      waiter.timer.cancel();
      Object.assign(
        waiter,
        this.#deadline(maxWaitMs, () => waiter),
      );
    }
    this.#fairQueues[priority].add(waiter);
    this.serve();
  }

  #deadline(maxWaitMs: number, waiter: () => Waiter): Pick<Waiter, 'deadlineMs' | 'timer'> {
    const expire = () => this.#remove(waiter(), this.#refusal(this.readyInMs(waiter())));
    return { deadlineMs: plus(this.#clock.now(), maxWaitMs), timer: this.#clock.timer(maxWaitMs, expire) };
  }

  #remove(waiter: Waiter, error: unknown): void {
    this.#fairQueues[waiter.priority].remove(waiter);
    waiter.refuse(error);
    this.serve();
  }

  #next(): Priority | undefined {
    const waiting = { ...this.waiting };
    const { isOwed } = this.#reservation;
    let next = this.#scheduler.next(waiting, isOwed);
    if (!next) return undefined;
    // A priority that a reserve of the burst or the day blocks does not delay the others.
    waiting[next] = 0;
    for (
      let other = this.#scheduler.next(waiting, isOwed);
      other;
      other = this.#scheduler.next(waiting, isOwed)
    ) {
      if (this.#readyAtMs(other, 0, false) < this.#readyAtMs(next, 0, false)) next = other;
      waiting[other] = 0;
    }
    return next;
  }

  /** The expected wait of a request that joins now, in milliseconds. */
  readyInMs({
    priority,
    operationKey,
    isBack,
  }: Pick<PermitRequest, 'priority' | 'operationKey' | 'isBack'>): number {
    const own = isBack ? 0 : this.#fairQueues[priority].ahead(operationKey);
    const ahead = this.#scheduler.ahead(priority, own, this.waiting);
    return this.#readyAtMs(priority, ahead, true) - this.#clock.now();
  }

  #readyAtMs(priority: Priority, ahead: number, hopeful: boolean): ForwardMs {
    const { burst, perDay } = this.#limiter;
    // Queries leave a fifth of the day to a feed; background requests leave half of the burst and of the day to both.
    const reserved = {
      query: { burst: 0, today: this.#reservation.isListening ? reservedShare : 0 },
      feed: { burst: 0, today: 0 },
      background: { burst: this.#scheduler.isOverdue ? 0 : 1 / 2, today: 1 / 2 },
    }[priority];
    const nth = 1 + ahead + Math.floor(burst * reserved.burst);
    const reservedToday = Math.floor((perDay ?? 0) * reserved.today);
    const readyMs = this.#limiter.readyAtMs(nth, { reservedToday, hopeful });
    if (priority !== 'feed') return latest(readyMs, this.#reservation.othersReadyAtMs(nth, hopeful));
    // The share that queries leave is for the whole day: a feed does not take it at once.
    return this.#waitingAnywhere.query > 0 ? latest(readyMs, this.#reservation.contestedAtMs) : readyMs;
  }
}

// Many times the delay with which another instance reports a request that it sends.
const longestYieldMs = 100;

interface Waiter {
  priority: Priority;
  operationKey: object;
  deadlineMs: ForwardMs;
  timer: Timer;
  readonly grant: (permit: Permit) => void;
  readonly refuse: (error: unknown) => void;
}

function refused(error: unknown): QueuedRequest {
  const granted = Promise.reject(error);
  granted.catch(() => undefined);
  return { granted, raise: () => {} };
}

// Promise.withResolvers came with Node 22.
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
