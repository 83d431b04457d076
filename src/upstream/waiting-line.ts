import type { Clock, Timer } from '../clock.js';
import type { Allowance, Spent } from './allowance.js';
import type { Priority } from './read.js';

/** A place in the line. */
export interface Place {
  /** Resolves when the request may be sent; it must be sent at once or given back. */
  readonly turn: Promise<Spent>;
  /** Someone more urgent waits for the same request. */
  raise(priority: Priority, turn: object): void;
}

export interface Asking {
  readonly priority: Priority;
  readonly turn: object;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

interface Waiter extends Asking {
  priority: Priority;
  turn: object;
  readonly deadlineMs: number;
  readonly grant: (spent: Spent) => void;
  readonly refuse: (error: unknown) => void;
}

/** Why a place was not given: the line is longer than the wait, by so much. */
export type Refusal = (readyInMs: number) => unknown;

// contract 5.2: a feed gets at least a fifth of the allowance, that is one request after four of queries.
const queriesPerFeed = 4;

/**
 * Who is served next when the allowance has a request to give (contract 5.2): queries before feeds before the background,
 * a feed at the latest after four queries, and within each the operations in turn, so that one that wants a hundred
 * reads does not push back ten that want one. Nobody waits longer than they said, and who would is told at once.
 */
export class WaitingLine {
  readonly #clock: Clock;
  readonly #allowance: Allowance;
  readonly #refusal: Refusal;
  readonly #lanes: Readonly<Record<Priority, Lane>> = {
    query: new Lane(),
    feed: new Lane(),
    background: new Lane(),
  };
  #queriesSinceFeed = 0;
  #alarm: Timer | undefined;

  constructor(clock: Clock, allowance: Allowance, refusal: Refusal) {
    this.#clock = clock;
    this.#allowance = allowance;
    this.#refusal = refusal;
  }

  waiting(priority: Priority): number {
    return this.#lanes[priority].size;
  }

  join(asking: Asking): Place {
    let waiter: Waiter | undefined;
    const turn = new Promise<Spent>((resolve, reject) => {
      if (asking.signal.aborted) return reject(asking.signal.reason);
      const readyInMs = this.#readyInMs(asking);
      if (readyInMs > asking.maxWaitMs) return reject(this.#refusal(readyInMs));
      const leave = () => end(asking.signal.reason);
      const timer = this.#clock.timer(asking.maxWaitMs, () => end(this.#refusal(this.#readyInMs(asking))));
      const joined: Waiter = {
        ...asking,
        deadlineMs: this.#clock.now() + asking.maxWaitMs,
        grant: (spent) => {
          settle();
          resolve(spent);
        },
        refuse: (error) => {
          settle();
          reject(error);
        },
      };
      const settle = () => {
        timer.cancel();
        asking.signal.removeEventListener('abort', leave);
      };
      const end = (error: unknown) => {
        this.#lanes[joined.priority].remove(joined);
        joined.refuse(error);
        this.serve();
      };
      asking.signal.addEventListener('abort', leave, { once: true });
      waiter = joined;
      this.#lanes[joined.priority].add(joined);
      this.serve();
    });
    return {
      turn,
      raise: (priority, turnOf) => {
        if (waiter && rank[priority] < rank[waiter.priority] && this.#lanes[waiter.priority].remove(waiter)) {
          waiter.priority = priority;
          waiter.turn = turnOf;
          this.#lanes[priority].add(waiter);
          this.serve();
        }
      },
    };
  }

  /** Lets everyone go whose turn has come. Called whenever the allowance has changed. */
  serve(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    for (;;) {
      const priority = this.#next();
      if (!priority) return;
      const readyMs = this.#allowance.readyAtMs(this.#headroom(priority));
      const now = this.#clock.now();
      if (readyMs > now) {
        if (Number.isFinite(readyMs)) this.#alarm = this.#clock.timer(readyMs - now, () => this.serve());
        return;
      }
      const waiter = this.#lanes[priority].take();
      if (!waiter) return;
      if (priority === 'query') this.#queriesSinceFeed++;
      if (priority === 'feed') this.#queriesSinceFeed = 0;
      waiter.grant(this.#allowance.spend());
    }
  }

  /** Tells those at once who would wait in vain. */
  refuseHopeless(): void {
    const readyMs = this.#allowance.readyAtMs();
    if (!Number.isFinite(readyMs)) return;
    for (const lane of Object.values(this.#lanes)) {
      for (const waiter of lane.all()) {
        if (waiter.deadlineMs >= readyMs) continue;
        lane.remove(waiter);
        waiter.refuse(this.#refusal(readyMs - this.#clock.now()));
      }
    }
    this.serve();
  }

  #next(): Priority | undefined {
    const { query, feed, background } = this.#lanes;
    if (feed.size > 0 && (query.size === 0 || this.#queriesSinceFeed >= queriesPerFeed)) return 'feed';
    if (query.size > 0) return 'query';
    return background.size > 0 ? 'background' : undefined;
  }

  /** The background leaves half of the burst to queries. */
  #headroom(priority: Priority): number {
    return priority === 'background' ? 1 + Math.floor(this.#allowance.burst / 2) : 1;
  }

  /** How long it takes until the turn of one who joins now. */
  #readyInMs({ priority, turn }: Pick<Asking, 'priority' | 'turn'>): number {
    const { query, feed } = this.#lanes;
    const own = this.#lanes[priority].ahead(turn);
    const ahead =
      priority === 'query'
        ? own + Math.min(feed.size, Math.ceil(own / queriesPerFeed))
        : priority === 'feed'
          ? own + Math.min(query.size, (own + 1) * queriesPerFeed)
          : own + query.size + feed.size;
    const readyMs = this.#allowance.readyAtMs(ahead + this.#headroom(priority));
    // An answer that is still out may come at any moment: then it is the line's own time-out that ends the wait.
    return Number.isFinite(readyMs) ? readyMs - this.#clock.now() : 0;
  }
}

const rank: Readonly<Record<Priority, number>> = { query: 0, feed: 1, background: 2 };

/** Waiters of one priority, served by operation in turn. */
class Lane {
  // A Map goes through its keys in the order they were put in: whose turn it was goes to the end.
  readonly #turns = new Map<object, Waiter[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: Waiter): void {
    const own = this.#turns.get(waiter.turn);
    if (own) own.push(waiter);
    else this.#turns.set(waiter.turn, [waiter]);
    this.#size++;
  }

  take(): Waiter | undefined {
    for (const [turn, waiters] of this.#turns) {
      const waiter = waiters.shift();
      this.#turns.delete(turn);
      if (waiters.length > 0) this.#turns.set(turn, waiters);
      if (waiter) this.#size--;
      return waiter;
    }
    return undefined;
  }

  remove(waiter: Waiter): boolean {
    const own = this.#turns.get(waiter.turn);
    const at = own?.indexOf(waiter) ?? -1;
    if (!own || at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#turns.delete(waiter.turn);
    this.#size--;
    return true;
  }

  /** Those who are served before the next one of this turn. */
  ahead(turn: object): number {
    const own = this.#turns.get(turn)?.length ?? 0;
    let ahead = own;
    for (const [other, waiters] of this.#turns) {
      if (other !== turn) ahead += Math.min(waiters.length, own + 1);
    }
    return ahead;
  }

  all(): readonly Waiter[] {
    return [...this.#turns.values()].flat();
  }
}
