import type { Clock } from '../../clock.js';
import type { BodyPlace, SharedBodies, SharedBody } from '../../store/store.js';
import { priorityRank } from '../read/read.js';
import type { RequestControl } from '../resilience/coalesced-request.js';

interface SharedAnswersOptions {
  readonly bodies: SharedBodies;
  readonly clock: Clock;
  /** As long as another instance may take for a client's read: after it, it is not waited for. */
  readonly mostWaitMs: number;
}

/** What instances have of the answers to one key, and who of them asks for the next (docs/behaviour.md 5.3, 8). */
export class SharedCache {
  readonly #options: SharedAnswersOptions;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
  }

  /** To be left when all is done. */
  open(id: string, control: RequestControl): SharedCacheEntry {
    return new SharedCacheEntry(this.#options, id, control);
  }

  /** Another instance has said so: the key was refused there, or what is masked has changed. */
  onCleared(listener: () => void): () => void {
    return this.#options.bodies.onCleared(listener);
  }

  /** No instance may show any of them. */
  clear(): void {
    this.#options.bodies.clear();
  }
}

/** One of them, from before it is asked for until that has ended. */
export class SharedCacheEntry {
  readonly #options: SharedAnswersOptions;
  readonly #id: string;
  readonly #control: RequestControl;
  #place: Promise<BodyPlace>;

  constructor(options: SharedAnswersOptions, id: string, control: RequestControl) {
    this.#options = options;
    this.#id = id;
    this.#control = control;
    this.#place = this.#open();
  }

  /**
   * What `use` makes of the body that there is, or that another instance which asks for it at this moment leaves. Null
   * where it is for this instance to ask.
   */
  async find<T>(use: (body: SharedBody) => Promise<T | null>): Promise<T | null> {
    const { bodies, clock, mostWaitMs } = this.#options;
    const { signal } = this.#control;
    const untilMs = clock.now() + mostWaitMs;
    for (;;) {
      const { kept, isOurs } = await this.#place;
      const used = kept && (await use(kept));
      if (used !== null || isOurs || clock.now() >= untilMs) return used;
      await bodies.whenFree(this.#id, () => this.#rank, { untilMs, signal });
      signal.throwIfAborted();
      this.#place = this.#open();
    }
  }

  async body(): Promise<SharedBody | null> {
    return (await this.#place).kept;
  }

  sending(): void {
    void this.#place.then((place) => place.sending());
  }

  keep(body: SharedBody): void {
    void this.#place.then((place) => place.keep(body));
  }

  forget(): void {
    void this.#place.then((place) => place.forget());
  }

  leave(): void {
    void this.#place.then((place) => place.leave());
  }

  get #rank(): number {
    return priorityRank[this.#control.priority];
  }

  #open(): Promise<BodyPlace> {
    return this.#options.bodies.open(this.#id, this.#rank);
  }
}
