import type { Clock, Timer } from '../../clock.js';
import { onAbort } from '../http/abort.js';
import { type Priority, priorities, priorityRank } from '../read/read.js';
import { PeerQueues } from './cluster/peer-queues.js';
import { FairQueue } from './fair-queue.js';
import type { Limiter, Permit } from './limiter.js';
import { Reservation, reservedShare } from './reservation.js';
import { Scheduler } from './scheduler.js';

/** A place in the line. */
export interface QueuedRequest {
  /** Resolves when the request may be sent: it must be sent at once, or given back. */
  readonly granted: Promise<Permit>;
  /** Someone more urgent waits for the same request, and not for longer than this. */
  raise(priority: Priority, turn: object, maxWaitMs: number): void;
}

export interface PermitRequest {
  readonly priority: Priority;
  /** The operation it belongs to. */
  readonly turn: object;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** It was granted a request already and could not send it: it does not stand behind those who came later. */
  readonly isBack?: boolean;
}

/** The error for one who would have to wait for so long. */
export type Refusal = (readyInMs: number) => unknown;

/**
 * Those who wait for the budget to have a request to give, each priority by its turn and within it the operations by
 * theirs, so that one that wants a hundred reads does not push back ten that want one (docs/behaviour.md 5.2). Nobody waits longer
 * than they said, and who would have to is told at once.
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
  readonly #feedShare: Reservation;
  #alarm: Timer | undefined;
  #yieldsUntilMs: number | null = null;
  readonly #peers: PeerQueues;

  constructor(clock: Clock, limiter: Limiter, refusal: Refusal) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#refusal = refusal;
    this.#feedShare = new Reservation(clock, limiter);
    this.#peers = new PeerQueues(clock);
  }

  get waiting(): Readonly<Record<Priority, number>> {
    const { query, feed, background } = this.#fairQueues;
    return { query: query.size, feed: feed.size, background: background.size };
  }

  join(asking: PermitRequest): QueuedRequest {
    const { signal, maxWaitMs } = asking;
    if (asking.priority === 'feed') this.#feedShare.asked();
    if (signal.aborted) return refused(signal.reason);
    const readyInMs = this.#readyInMs(asking);
    if (readyInMs > maxWaitMs) return refused(this.#refusal(readyInMs));
    const { promise, resolve, reject } = withResolvers<Permit>();
    const settle = () => {
      waiter.timer.cancel();
      stopListening();
    };
    const waiter: Waiter = {
      priority: asking.priority,
      turn: asking.turn,
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
    const stopListening = onAbort(signal, () => this.#leave(waiter, signal.reason));
    const fairQueue = this.#fairQueues[waiter.priority];
    if (asking.isBack) fairQueue.addBack(waiter);
    else fairQueue.add(waiter);
    this.serve();
    return {
      granted: promise,
      raise: (priority, turn, wait) => this.#raise(waiter, priority, turn, wait),
    };
  }

  /** Lets everyone go whose turn has come. Called whenever the budget has changed. */
  serve(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    for (let priority = this.#next(); priority; priority = this.#next()) {
      const now = this.#clock.now();
      const readyMs = this.#yielding(this.#readyAtMs(priority, 0, false), now);
      if (readyMs > now) {
        this.#alarm = this.#clock.timer(readyMs - now, () => this.serve());
        return;
      }
      const undoShare = priority === 'feed' ? this.#feedShare.served(this.isContested) : () => {};
      const undoTurn = this.#scheduler.served(priority, this.#waitingAnywhere);
      const permit = this.#limiter.spend();
      const giveBack = () => {
        permit.giveBack();
        undoShare();
        undoTurn();
      };
      this.#fairQueues[priority].take()?.grant({ ...permit, giveBack });
    }
  }

  /** Others wait for what a feed is given. */
  get isContested(): boolean {
    const { query, background } = this.#waitingAnywhere;
    return query + background > 0;
  }

  /** Another instance has sent one of this priority (docs/behaviour.md 8), before which others waited there. */
  servedElsewhere(priority: Priority, isContested: boolean): void {
    this.#peers.served(priority);
    this.#scheduler.served(priority, this.#waitingAnywhere);
    if (priority !== 'feed') return;
    this.#feedShare.asked();
    this.#feedShare.served(isContested);
  }

  /** Some of this priority wait at another instance. */
  waitsElsewhere(priority: Priority): void {
    if (priority === 'feed') this.#feedShare.asked();
    this.#peers.waits(priority);
  }

  /** Tells those at once who would wait in vain, now that the budget is held. */
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

  /** Where it is the turn of those who wait at another instance, they can be the first to send. */
  #yielding(readyMs: number, now: number): number {
    const turn = this.#scheduler.next(this.#waitingAnywhere, this.#feedShare.isOwed);
    if (readyMs > now || turn === undefined || this.waiting[turn] > 0) {
      this.#yieldsUntilMs = null;
      return readyMs;
    }
    this.#yieldsUntilMs ??= now + Math.min(longestYieldMs, minuteMs / this.#limiter.perMinute / 10);
    if (this.#yieldsUntilMs > now) return this.#yieldsUntilMs;
    this.#yieldsUntilMs = null;
    return now;
  }

  #raise(waiter: Waiter, priority: Priority, turn: object, maxWaitMs: number): void {
    if (priorityRank[priority] >= priorityRank[waiter.priority]) return;
    if (!this.#fairQueues[waiter.priority].remove(waiter)) return;
    waiter.priority = priority;
    waiter.turn = turn;
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
    const expire = () => this.#leave(waiter(), this.#refusal(this.#readyInMs(waiter())));
    return { deadlineMs: this.#clock.now() + maxWaitMs, timer: this.#clock.timer(maxWaitMs, expire) };
  }

  #leave(waiter: Waiter, error: unknown): void {
    this.#fairQueues[waiter.priority].remove(waiter);
    waiter.refuse(error);
    this.serve();
  }

  #next(): Priority | undefined {
    const waiting = { ...this.waiting };
    const { isOwed } = this.#feedShare;
    let next = this.#scheduler.next(waiting, isOwed);
    if (!next) return undefined;
    // What is kept for others, of the minute or of the day, does not hold them up.
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

  /** How long it takes, as far as can be seen, until one who joins now is served. */
  #readyInMs({ priority, turn, isBack }: Pick<PermitRequest, 'priority' | 'turn' | 'isBack'>): number {
    const own = isBack ? 0 : this.#fairQueues[priority].ahead(turn);
    const ahead = this.#scheduler.ahead(priority, own, this.waiting);
    return this.#readyAtMs(priority, ahead, true) - this.#clock.now();
  }

  #readyAtMs(priority: Priority, ahead: number, hopeful: boolean): number {
    const { burst, perDay } = this.#limiter;
    // Queries leave a fifth of the day to a feed, the background half of the burst and of the day to both.
    const kept = {
      query: { burst: 0, today: this.#feedShare.isListening ? reservedShare : 0 },
      feed: { burst: 0, today: 0 },
      background: { burst: this.#scheduler.isOverdue ? 0 : 1 / 2, today: 1 / 2 },
    }[priority];
    const nth = 1 + ahead + Math.floor(burst * kept.burst);
    const keptToday = Math.floor((perDay ?? 0) * kept.today);
    const readyMs = this.#limiter.readyAtMs(nth, { keptToday, hopeful });
    if (priority !== 'feed') return Math.max(readyMs, this.#feedShare.othersReadyAtMs(nth, hopeful));
    // What queries leave to a feed is for the time to come: it does not take all of that at once.
    return this.#waitingAnywhere.query > 0 ? Math.max(readyMs, this.#feedShare.contestedAtMs) : readyMs;
  }
}

const minuteMs = 60_000;
// Many times as long as they take to say that they send.
const longestYieldMs = 100;

interface Waiter {
  priority: Priority;
  turn: object;
  deadlineMs: number;
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
