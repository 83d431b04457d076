import type { Clock } from '../../clock.js';
import type { BodySlot, SharedBodies, SharedBody } from '../../store/store.js';
import { priorityRank } from '../read/read.js';
import type { RequestControl } from '../resilience/coalesced-request.js';

interface SharedCacheOptions {
  readonly bodies: SharedBodies;
  readonly clock: Clock;
  /** The longest time that another instance may take over a client's read: after it, it is not waited for. */
  readonly mostWaitMs: number;
}

/**
 * Responses to one key that instances share, and the choice of the instance that sends the next request
 * (docs/behaviour.md 5.3, 8).
 */
export class SharedCache {
  readonly #options: SharedCacheOptions;

  constructor(options: SharedCacheOptions) {
    this.#options = options;
  }

  /** The caller must call `leave` on the entry when it is done. */
  open(id: string, control: RequestControl): SharedCacheEntry {
    return new SharedCacheEntry(this.#options, id, control);
  }

  /** Another instance has cleared the cache: the key was refused there, or masking has changed. */
  onCleared(listener: () => void): () => void {
    return this.#options.bodies.onCleared(listener);
  }

  /** Clears the cache of all instances. */
  clear(): void {
    this.#options.bodies.clear();
  }
}

/** One shared response, from before it is requested until that request has ended. */
export class SharedCacheEntry {
  readonly #options: SharedCacheOptions;
  readonly #id: string;
  readonly #control: RequestControl;
  #slot: Promise<BodySlot>;

  constructor(options: SharedCacheOptions, id: string, control: RequestControl) {
    this.#options = options;
    this.#id = id;
    this.#control = control;
    this.#slot = this.#open();
  }

  /**
   * Returns the result of `read` on the body that is cached, or that another instance caches when its request in flight
   * ends. Null where this instance has to send the request.
   */
  async find<T>(read: (body: SharedBody) => Promise<T | null>): Promise<T | null> {
    const { bodies, clock, mostWaitMs } = this.#options;
    const { signal } = this.#control;
    const untilMs = clock.now() + mostWaitMs;
    for (;;) {
      const { cached: kept, hasClaim: isOurs } = await this.#slot;
      const found = kept && (await read(kept));
      if (found !== null || isOurs || clock.now() >= untilMs) return found;
      await bodies.whenFree(this.#id, () => this.#rank, { untilMs, signal });
      signal.throwIfAborted();
      this.#slot = this.#open();
    }
  }

  async body(): Promise<SharedBody | null> {
    return (await this.#slot).cached;
  }

  sending(): void {
    void this.#slot.then((slot) => slot.sending());
  }

  keep(body: SharedBody): void {
    void this.#slot.then((slot) => slot.write(body));
  }

  forget(): void {
    void this.#slot.then((slot) => slot.delete());
  }

  leave(): void {
    void this.#slot.then((slot) => slot.release());
  }

  get #rank(): number {
    return priorityRank[this.#control.priority];
  }

  #open(): Promise<BodySlot> {
    return this.#options.bodies.open(this.#id, this.#rank);
  }
}
