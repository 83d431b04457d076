import type { Clock } from '../../../clock.js';
import { Forbidden, type GatewayError } from '../../../errors.js';
import type { Log } from '../../../log.js';
import { Subscribers } from '../../delivery/subscribers.js';
import { Poller } from '../../polling/poller.js';
import { ChangeLog } from '../../tracking/change-log.js';
import type { Feed, FeedListener, FeedStatus, Listening, LoggedChange } from '../feed.js';
import { feedStatus } from '../feed-status.js';

export interface SensorFeedOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * A feed of what the sensors are like now. Every instance polls for its own subscribers; instances share the responses
 * through the cache.
 */
export abstract class SensorFeed<C extends LoggedChange> implements Feed<C> {
  readonly log: ChangeLog<C>;
  protected readonly poller: Poller;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #subscribers: Subscribers<C>;

  constructor({ name, clock, log, random }: SensorFeedOptions) {
    this.#name = name;
    this.#clock = clock;
    this.log = new ChangeLog(clock);
    this.poller = new Poller({
      clock,
      random,
      poll: (signal) => this.poll(signal),
      mayPoll: () => this.mayPoll(),
      idle: () => Promise.resolve(false),
      intervalMs: () => this.intervalMs(),
      onFailure: (error, failures) => {
        const reason = error instanceof Error ? error.name : String(error);
        log.warn({ feed: name, failures, error: reason }, 'A poll failed; it is tried again');
        if (error instanceof Forbidden && this.poller.history.lastSuccessAtMs === null) this.close(error);
      },
    });
    this.#subscribers = new Subscribers({
      clock,
      lingerMs: () => this.lingerMs(),
      onFirst: () => this.poller.start(),
      onLeft: (listener) => this.left(listener as FeedListener<C>),
      onEmpty: () => {
        this.poller.stop();
        this.log.clear();
        this.stopped();
      },
    });
  }

  protected abstract poll(signal: AbortSignal): Promise<void>;
  protected abstract intervalMs(): number;
  protected abstract stopped(): void;
  /** Begins the delivery to a new subscriber. `after` has passed `check`. */
  protected abstract begin(listener: FeedListener<C>, after: string | null): void;

  /** The feed continues for this long without subscribers. */
  protected lingerMs(): number {
    return this.intervalMs();
  }

  protected mayPoll(): boolean {
    return true;
  }

  /** The time within which the feed has read everything once. */
  protected roundMs(): number {
    return this.intervalMs();
  }

  protected left(_listener: FeedListener<C>): void {}

  /** Begins with these changes, and continues with those from now on. */
  protected beginWith(listener: FeedListener<C>, changes: readonly C[]): void {
    const replay = changes.map((change) => ({ change, isReplayed: true }));
    listener.begin({ replay, from: this.log.next, liveFrom: this.log.next });
  }

  /** Ends the subscription of one listener. */
  protected dismiss(listener: FeedListener<C>, error: GatewayError): void {
    this.#subscribers.dismiss(listener, error);
  }

  /** Number of records that each cursor is made of. */
  get recordsPerCursor(): number {
    return 0;
  }

  isFolded(): boolean {
    return false;
  }

  check(_after: string): void {}

  subscribe(after: string | null, listener: FeedListener<C>): Listening {
    const listening = this.#subscribers.enter(listener);
    this.begin(listener, after);
    return listening;
  }

  status(): FeedStatus {
    return feedStatus({
      name: this.#name,
      poller: this.poller,
      leaderReadAtMs: null,
      subscriberCount: this.#subscribers.size,
      intervalMs: this.roundMs(),
      nowMs: this.#clock.now(),
    });
  }

  close(error: GatewayError | null): void {
    this.#subscribers.end(error);
  }
}
