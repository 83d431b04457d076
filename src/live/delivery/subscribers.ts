import type { Clock, Timer } from '../../clock.js';
import type { GatewayError } from '../../errors.js';
import type { FeedListener, Listening } from '../feeds/feed.js';

export interface SubscribersOptions {
  readonly clock: Clock;
  /** The feed continues for this long without listeners. */
  readonly lingerMs: () => number;
  readonly onFirst: () => void;
  readonly onLeft: (listener: object) => void;
  /** Called when there was no listener for `lingerMs`, or when the feed was ended. */
  readonly onEmpty: () => void;
}

/**
 * The listeners of a feed. It starts with the first, and lingers after the last has left: a client that reloads its
 * page is back before the next poll and can resume from the log.
 */
export class Subscribers<C> {
  readonly #options: SubscribersOptions;
  readonly #listeners = new Set<FeedListener<C>>();
  #linger: Timer | null = null;

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#listeners.size;
  }

  has(listener: FeedListener<C>): boolean {
    return this.#listeners.has(listener);
  }

  enter(listener: FeedListener<C>): Listening {
    this.#linger?.cancel();
    this.#linger = null;
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#options.onFirst();
    return { unsubscribe: () => this.#leave(listener) };
  }

  /** Ends the subscription of one listener. */
  dismiss(listener: FeedListener<C>, error: GatewayError): void {
    this.#leave(listener);
    listener.end(error);
  }

  /** Ends all subscriptions, and the feed. */
  end(error: GatewayError | null): void {
    this.#linger?.cancel();
    this.#linger = null;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#options.onEmpty();
    for (const listener of listeners) listener.end(error);
  }

  #leave(listener: FeedListener<C>): void {
    if (!this.#listeners.delete(listener)) return;
    this.#options.onLeft(listener);
    if (this.#listeners.size > 0) return;
    const { clock, lingerMs, onEmpty } = this.#options;
    this.#linger = clock.timer(lingerMs(), onEmpty);
  }
}
