import { type Clock, plus } from '../../clock.js';
import type { BodySlot, SharedBodies, SharedBody } from '../../store/store.js';
import { priorityRank } from '../read/read.js';
import type { RequestControl } from '../resilience/coalesced-request.js';
import type { CachedResponse } from './response-cache.js';

interface SharedCacheOptions {
  readonly bodies: SharedBodies;
  readonly clock: Clock;
  /** The longest time that another instance may take over a client's read: after it, it is not waited for. */
  readonly mostWaitMs: number;
}

/** Decodes a body that another instance has read; null where it cannot be used. */
type Adopt = (body: SharedBody) => Promise<CachedResponse | null>;

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
  open(id: string, control: RequestControl, adopt: Adopt): SharedCacheEntry {
    return new SharedCacheEntry(this.#options, id, control, adopt);
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
  readonly #adopt: Adopt;
  #slot: Promise<BodySlot>;

  constructor(options: SharedCacheOptions, id: string, control: RequestControl, adopt: Adopt) {
    this.#options = options;
    this.#id = id;
    this.#control = control;
    this.#adopt = adopt;
    this.#slot = this.#open();
  }

  /**
   * Returns the response that is cached and `isUsable`, or that another instance caches when its request in flight ends.
   * Null where this instance has to send the request.
   */
  async find(isUsable: (cached: CachedResponse) => boolean): Promise<CachedResponse | null> {
    const { bodies, clock, mostWaitMs } = this.#options;
    const { signal } = this.#control;
    const untilMs = plus(clock.now(), mostWaitMs);
    for (;;) {
      const { hasClaim } = await this.#slot;
      const cached = await this.cached();
      if (cached && isUsable(cached)) return cached;
      if (hasClaim || clock.now() >= untilMs) return null;
      await bodies.whenFree(this.#id, () => this.#rank, { untilMs, signal });
      signal.throwIfAborted();
      this.#slot = this.#open();
    }
  }

  /** The response that another instance has read, however old. */
  async cached(): Promise<CachedResponse | null> {
    const { cached: body } = await this.#slot;
    return body && this.#adopt(body);
  }

  sending(): void {
    void this.#slot.then((slot) => slot.sending());
  }

  store(body: SharedBody): void {
    void this.#slot.then((slot) => slot.write(body));
  }

  forget(): void {
    void this.#slot.then((slot) => slot.delete());
  }

  leave(): void {
    void this.#slot.then((slot) => slot.release());
  }

  get #rank(): number {
    const { priority, maxWaitMs } = this.#control;
    // An instance whose caller has less patience asks by itself rather than wait for this one.
    return maxWaitMs === undefined ? priorityRank[priority] : Math.max(patientRank, priorityRank[priority]);
  }

  #open(): Promise<BodySlot> {
    return this.#options.bodies.open(this.#id, this.#rank);
  }
}

const patientRank = priorityRank.query + 1;
