import { LRUCache } from 'lru-cache';
import { type Clock, type ForwardMs, plus } from '../../clock.js';
import { type Claim, claimMs, type OpenedBody, storedForMs } from '../claimed-bodies.js';

/** Unambiguous, since a name contains no line break. */
const keyOf = (name: string, id: string) => `${name}\n${id}`;

// Estimated memory of a stored body besides its bytes and its key.
const overheadBytes = 200;
// Names with a recorded clearing. Dropping the oldest one also invalidates every body stored before that clearing.
const mostCleared = 10_000;

/** Response bodies and claims of all workers. The least recently used bodies are evicted first. */
export class HubBodies {
  readonly #clock: Clock;
  readonly #bodies: LRUCache<string, StoredBody>;
  readonly #claims = new Map<string, HeldClaim>();
  /** Callbacks that wait for the release of a claim. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Epoch in which each name was last cleared: bodies opened in an earlier one are neither stored nor returned. */
  readonly #clearedAt = new Map<string, number>();
  #allClearedAt = 0;
  #epoch = 0;

  constructor({ clock, maxBytes }: { readonly clock: Clock; readonly maxBytes: number }) {
    this.#clock = clock;
    this.#bodies = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ packed }, key) => packed.length + 2 * key.length + overheadBytes,
    });
  }

  /** Estimated bytes of the bodies. */
  get bytes(): number {
    return this.#bodies.calculatedSize;
  }

  /** @param owner holder of the claim, which is released when the owner leaves */
  open(owner: object, name: string, id: string, { rank, name: claim }: Claim): OpenedBody {
    const key = keyOf(name, id);
    const held = this.#heldClaim(key);
    const isOurs = held === undefined || held.rank > rank;
    if (isOurs) {
      this.#drop(key);
      this.#claims.set(key, { owner, name: claim, rank, untilMs: plus(this.#clock.now(), claimMs) });
    }
    const stored = this.#bodies.get(key);
    const isValid = stored && this.#isCurrent(name, stored.epoch) && stored.untilMs > this.#clock.now();
    return {
      generation: String(this.#epoch),
      isOurs,
      packed: isValid ? stored.packed : null,
    };
  }

  isClaimed(name: string, id: string, rank: number): boolean {
    const held = this.#heldClaim(keyOf(name, id));
    return held !== undefined && held.rank <= rank;
  }

  whenReleased(name: string, id: string): Promise<void> {
    const key = keyOf(name, id);
    if (!this.#heldClaim(key)) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key);
      if (waiting) waiting.push(resolve);
      else this.#waiting.set(key, [resolve]);
    });
  }

  put(name: string, id: string, generation: string, packed: Buffer | null): void {
    const epoch = Number(generation);
    if (!this.#isCurrent(name, epoch)) return;
    const key = keyOf(name, id);
    if (packed) this.#bodies.set(key, { epoch, packed, untilMs: plus(this.#clock.now(), storedForMs) });
    else this.#bodies.delete(key);
  }

  extend(name: string, id: string, { rank, name: claim }: Claim): void {
    const held = this.#heldClaim(keyOf(name, id));
    if (held?.name !== claim) return;
    held.rank = rank;
    held.untilMs = plus(this.#clock.now(), claimMs);
  }

  release(name: string, id: string, claim: string): void {
    const key = keyOf(name, id);
    if (this.#claims.get(key)?.name === claim) this.#drop(key);
  }

  clear(name: string): void {
    this.#clearedAt.delete(name);
    this.#clearedAt.set(name, ++this.#epoch);
    const [oldest] = this.#clearedAt;
    if (this.#clearedAt.size <= mostCleared || !oldest) return;
    this.#clearedAt.delete(oldest[0]);
    this.#allClearedAt = oldest[1];
  }

  /** The owner has gone: releases its claims, so that others can request the bodies. */
  leave(owner: object): void {
    for (const [key, claim] of this.#claims) if (claim.owner === owner) this.#drop(key);
  }

  #heldClaim(key: string): HeldClaim | undefined {
    const held = this.#claims.get(key);
    if (held && held.untilMs > this.#clock.now()) return held;
    this.#drop(key);
    return undefined;
  }

  #drop(key: string): void {
    this.#claims.delete(key);
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const resolve of waiting) resolve();
  }

  #isCurrent(name: string, epoch: number): boolean {
    return epoch >= Math.max(this.#allClearedAt, this.#clearedAt.get(name) ?? 0);
  }
}

interface StoredBody {
  readonly epoch: number;
  readonly packed: Buffer;
  readonly untilMs: ForwardMs;
}

interface HeldClaim {
  readonly owner: object;
  readonly name: string;
  rank: number;
  untilMs: ForwardMs;
}
