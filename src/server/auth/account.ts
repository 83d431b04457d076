import { hash } from 'node:crypto';
import type { Clock, Timer } from '../../clock.js';
import { UpstreamUnavailable } from '../../errors.js';
import { newCostMeter, type ReadScope, type UpstreamStatus } from '../../upstream/read/read.js';

/** A key that is there only while a request or a socket that brought it is (docs/behaviour.md 7). */
export interface HeldKey {
  /** Throws `UpstreamUnavailable` when all who brought the key have gone. */
  value(): string;
  /** To be told when upstream has refused the key, and the status of each of its answers. */
  onRefused(): void;
  onAnswer(status: number): void;
}

export interface AccountClient {
  close(): void;
  status(): UpstreamStatus;
}

export interface AccountOptions<Client> {
  /** SHA-256 of the key: all that is kept of it when nobody uses it. */
  readonly hash: string;
  /** Called while the key is held. */
  readonly connect: (key: HeldKey) => Client;
  /** A cheap read that shows whether upstream takes the key. */
  readonly probe: (client: Client, scope: ReadScope) => Promise<unknown>;
  readonly clock: Clock;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

// A live socket of a revoked key ends within 10 s. Where a day has 10,000 requests (docs/interfaces.md C8) that pace cannot be
// kept all day: after ten minutes such a key is asked for once a minute.
const watchEveryMs = 1_000;
const verifyAfterMs = 7_000;
const eagerForMs = 10 * 60_000;
const verifyLaterMs = 60_000;

/** One key at one interface: its client, whether upstream took it lately, and who is using it. */
export class Account<Client extends AccountClient> {
  readonly hash: string;
  readonly client: Client;
  readonly #options: AccountOptions<Client>;
  readonly #listeners = new Set<() => void>();
  #key: string | null;
  #holders = 0;
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #isRefused = false;
  #watchers = 0;
  #watchedSinceMs = 0;
  #timer: Timer | null = null;

  constructor(key: string, options: AccountOptions<Client>) {
    this.hash = options.hash;
    this.#options = options;
    this.#key = key;
    this.client = options.connect({
      value: () => this.#heldKey(),
      onRefused: () => this.#refused(),
      onAnswer: (status) => this.#answered(status),
    });
  }

  /** Upstream's last word on the key was no. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  hold(key: string): void {
    this.#key = key;
    this.#holders += 1;
  }

  drop(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#key = null;
  }

  whenRefused(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** As `whenRefused`, and asks upstream now and then as long as someone watches. */
  watch(run: () => void): () => void {
    this.#listeners.add(run);
    this.#watchers += 1;
    if (this.#watchers === 1) {
      this.#watchedSinceMs = this.#options.clock.now();
      this.#look();
    }
    return () => {
      if (!this.#listeners.delete(run)) return;
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#timer?.cancel();
    };
  }

  /** Asks upstream, unless it accepted the key within `withinMs`. What comes of it shows at `isRefused`. */
  async verify(withinMs: number): Promise<void> {
    const { clock, probe, signal } = this.#options;
    if (clock.now() - this.#acceptedAtMs <= withinMs) return;
    const scope: ReadScope = {
      signal,
      priority: 'query',
      operationKey: {},
      meter: newCostMeter(),
      maxAgeMs: 0,
    };
    await probe(this.client, scope).catch(() => {});
  }

  close(): void {
    this.#timer?.cancel();
    this.client.close();
  }

  #look(): void {
    const { clock } = this.#options;
    const hasDailyLimit = this.client.status().rateLimit.remainingToday !== null;
    const isEager = !hasDailyLimit || clock.now() - this.#watchedSinceMs < eagerForMs;
    void this.verify(isEager ? verifyAfterMs : verifyLaterMs);
    this.#timer = clock.timer(watchEveryMs, () => this.#look());
  }

  #heldKey(): string {
    if (this.#key === null) throw new UpstreamUnavailable('The client that brought the key has gone');
    return this.#key;
  }

  #answered(status: number): void {
    // 403 and 404 are about what the key may see: upstream knows it.
    if (status >= 400 && status !== 403 && status !== 404) return;
    this.#acceptedAtMs = this.#options.clock.now();
    this.#isRefused = false;
  }

  #refused(): void {
    this.#isRefused = true;
    this.#acceptedAtMs = Number.NEGATIVE_INFINITY;
    for (const run of [...this.#listeners]) run();
  }
}

export const keyHash = (key: string): string => hash('sha256', key, 'hex');
