import { randomUUID } from 'node:crypto';
import { type Clock, dayMs, type Timer } from '../clock.js';
import { mostBodyBytes, packBody, unpackBody } from './packed-body.js';
import type { SharedTime } from './shared-time.js';
import type { BodySlot, SharedBodies, SharedBody, WaitUntil } from './store.js';

// docs/behaviour.md 5.6: stale-if-error serves a response for up to a day.
export const storedForMs = dayMs;
// A killed instance blocks the others no longer than this.
export const claimMs = 3_000;
const extendClaimEveryMs = 1_000;
// Intervals at which a claim is checked for release, growing since most answers arrive within a second.
const firstPauseMs = 30;
const longestPauseMs = 250;

/**
 * Stores the bodies of one key and the claims to request them from upstream: in Redis, or in the primary of several
 * workers. Bodies belong to a generation and are invisible in the next. All methods can throw `StoreUnavailable`.
 */
export interface BodiesBackend {
  readonly clock: Clock;
  readonly time: Pick<SharedTime, 'toShared' | 'toLocal'>;
  /** Reads the stored body, and claims the request for `claimMs` unless a claim at least as urgent exists. */
  open(id: string, claim: Claim): Promise<OpenedBody>;
  /** True when a claim at least as urgent exists. */
  isClaimed(id: string, rank: number): Promise<boolean>;
  /** Stores the body for `storedForMs`, or deletes it for null; does nothing when the generation has ended. */
  put(id: string, generation: string, packed: Buffer | null): Promise<void>;
  /** Resolves when the present claim is released; left out by a backend that does not report that. */
  whenReleased?(id: string): Promise<void>;
  /** Extends the claim, if it still exists, to `claimMs` from now. */
  extend(id: string, claim: Claim): Promise<void>;
  release(id: string, claimName: string): Promise<void>;
  /** Ends the generation. */
  clear(): Promise<void>;
  /** Left out by a backend that does not report it. */
  onCleared?(listener: () => void): () => void;
}

/** The claim of an instance to request a body from upstream. */
export interface Claim {
  /** Lower is more urgent. */
  readonly rank: number;
  readonly name: string;
}

export interface OpenedBody {
  readonly generation: string;
  /** True when the claim was granted. */
  readonly isOurs: boolean;
  readonly packed: Buffer | null;
}

export class ClaimedBodies implements SharedBodies {
  readonly #backend: BodiesBackend;

  constructor(backend: BodiesBackend) {
    this.#backend = backend;
  }

  async open(id: string, rank: number): Promise<BodySlot> {
    const claim = { rank, name: randomUUID() };
    try {
      const { generation, isOurs, packed } = await this.#backend.open(id, claim);
      const slot = new ClaimedSlot(this.#backend, id, { generation, claim: isOurs ? claim : null });
      slot.cached = packed && (await unpackBody(packed, this.#backend.time).catch(() => null));
      return slot;
    } catch {
      return unsharedSlot;
    }
  }

  isClaimed(id: string, rank: number): Promise<boolean> {
    return this.#backend.isClaimed(id, rank).catch(() => false);
  }

  async whenFree(id: string, rank: () => number, { untilMs, signal }: WaitUntil): Promise<void> {
    const { clock } = this.#backend;
    let released: Promise<void> | undefined;
    for (
      let pauseMs = firstPauseMs;
      clock.now() < untilMs;
      pauseMs = Math.min(longestPauseMs, 1.5 * pauseMs)
    ) {
      released ??= this.#backend.whenReleased?.(id).then(
        () => {
          released = undefined;
        },
        () => {},
      );
      if (!(await this.isClaimed(id, rank()))) return;
      const pause = clock.sleep(pauseMs, signal);
      await (released ? Promise.race([pause, released]) : pause);
    }
  }

  clear(): void {
    this.#backend.clear().catch(() => undefined);
  }

  onCleared(listener: () => void): () => void {
    return this.#backend.onCleared?.(listener) ?? (() => {});
  }
}

class ClaimedSlot implements BodySlot {
  cached: SharedBody | null = null;
  readonly #backend: BodiesBackend;
  readonly #id: string;
  readonly #generation: string;
  #claim: Claim | null;
  #extendTimer: Timer | undefined;
  #done: Promise<unknown> = Promise.resolve();

  constructor(
    backend: BodiesBackend,
    id: string,
    { generation, claim }: { readonly generation: string; readonly claim: Claim | null },
  ) {
    this.#backend = backend;
    this.#id = id;
    this.#generation = generation;
    this.#claim = claim;
    this.#keepClaim();
  }

  get hasClaim(): boolean {
    return this.#claim !== null;
  }

  write(body: SharedBody): void {
    if ((body.body?.length ?? 0) > mostBodyBytes) return;
    this.#inOrder(async () =>
      this.#backend.put(this.#id, this.#generation, await packBody(body, this.#backend.time)),
    );
  }

  delete(): void {
    this.#inOrder(() => this.#backend.put(this.#id, this.#generation, null));
  }

  release(): void {
    this.#extendTimer?.cancel();
    const claim = this.#claim;
    if (claim) this.#inOrder(() => this.#backend.release(this.#id, claim.name));
  }

  sending(): void {
    if (!this.#claim) return;
    this.#claim = { ...this.#claim, rank: mostUrgent };
    this.#extend(this.#claim);
  }

  /** Runs in order, so that an instance that waits for the release finds the stored body. */
  #inOrder(operation: () => Promise<unknown>): void {
    this.#done = this.#done.then(operation).catch(() => undefined);
  }

  #keepClaim(): void {
    if (!this.#claim) return;
    this.#extendTimer = this.#backend.clock.timer(extendClaimEveryMs, () => {
      if (this.#claim) this.#extend(this.#claim);
      this.#keepClaim();
    });
  }

  #extend(claim: Claim): void {
    this.#inOrder(() => this.#backend.extend(this.#id, claim));
  }
}

const mostUrgent = 0;

/** Used while the store is unreachable. */
const unsharedSlot: BodySlot = {
  cached: null,
  hasClaim: true,
  sending() {},
  write() {},
  delete() {},
  release() {},
};
