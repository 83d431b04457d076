import type { Clock, Timer } from '../../clock.js';
import type { GatewayError } from '../../errors.js';
import type { Listener, Listening } from '../feeds/feed.js';

export interface AudienceOptions {
  readonly clock: Clock;
  /** How long the feed goes on without listeners. */
  readonly lingerMs: () => number;
  readonly onFirst: () => void;
  readonly onLeft: (listener: object) => void;
  /** Nobody has listened for `lingerMs`, or the audience was sent home. */
  readonly onEmpty: () => void;
}

/**
 * Who listens to a feed. It starts with the first listener; when the last has left it goes on for a moment, since whoever
 * reloads a page is back before the next poll and finds the log as it was.
 */
export class Audience<C> {
  readonly #options: AudienceOptions;
  readonly #listeners = new Set<Listener<C>>();
  #linger: Timer | null = null;

  constructor(options: AudienceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#listeners.size;
  }

  has(listener: Listener<C>): boolean {
    return this.#listeners.has(listener);
  }

  enter(listener: Listener<C>): Listening {
    this.#linger?.cancel();
    this.#linger = null;
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#options.onFirst();
    return { leave: () => this.#leave(listener) };
  }

  /** Ends the subscription of one listener. */
  dismiss(listener: Listener<C>, error: GatewayError): void {
    this.#leave(listener);
    listener.end(error);
  }

  /** Ends all subscriptions, and the feed. */
  sendHome(error: GatewayError | null): void {
    this.#linger?.cancel();
    this.#linger = null;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#options.onEmpty();
    for (const listener of listeners) listener.end(error);
  }

  #leave(listener: Listener<C>): void {
    if (!this.#listeners.delete(listener)) return;
    this.#options.onLeft(listener);
    if (this.#listeners.size > 0) return;
    const { clock, lingerMs, onEmpty } = this.#options;
    this.#linger = clock.timer(lingerMs(), onEmpty);
  }
}
