import { hash } from 'node:crypto';
import { type Clock, type ForwardMs, longAgo, minuteMs, type Timer } from '../../clock.js';
import { UpstreamUnavailable } from '../../errors.js';
import { newCostMeter, type ReadScope, type UpstreamStatus } from '../../upstream/read/read.js';

/** A key that is in memory only while a request or socket that sent it is open (docs/behaviour.md 7). */
export interface ClientKey {
  /** Throws `UpstreamUnavailable` when no request or socket with the key is open. */
  value(): string;
  /** The keys in memory of the accounts that share a tenant with this one. */
  companions(): readonly string[];
  /** To be called when upstream has refused the key. */
  onRefused(): void;
  /** To be called with the HTTP status of each upstream response. */
  onAnswer(status: number): void;
}

export interface AccountClient {
  close(): void;
  status(): UpstreamStatus;
}

export interface AccountOptions<Client> {
  /** SHA-256 of the key; the key itself is dropped when it is not in use. */
  readonly hash: string;
  /** Called once, while the key is in memory. */
  readonly connect: (key: ClientKey) => Client;
  /** A cheap read that shows whether upstream accepts the key. */
  readonly probe: (client: Client, scope: ReadScope) => Promise<unknown>;
  readonly clock: Clock;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

type HeldBy = Pick<Account<AccountClient>, 'heldKey'>;

// A live socket of a revoked key is closed within 10 s. With a daily quota of 10,000 requests (docs/interfaces.md C8)
// that interval cannot last all day: after ten minutes such a key is verified once a minute.
const watchEveryMs = 1_000;
const verifyAfterMs = 7_000;
const eagerForMs = 10 * minuteMs;
const verifyLaterMs = minuteMs;

/** One key at one interface: its client, its last verification, and the count of requests and sockets that use it. */
export class Account<Client extends AccountClient> {
  readonly hash: string;
  readonly client: Client;
  readonly #options: AccountOptions<Client>;
  readonly #companions = new Set<HeldBy>();
  readonly #listeners = new Set<() => void>();
  #key: string | null;
  #holders = 0;
  #acceptedAtMs: ForwardMs = longAgo;
  #isRefused = false;
  #watchers = 0;
  #watchedSinceMs: ForwardMs = longAgo;
  #timer: Timer | null = null;

  constructor(key: string, options: AccountOptions<Client>) {
    this.hash = options.hash;
    this.#options = options;
    this.#key = key;
    this.client = options.connect({
      value: () => this.#currentKey(),
      companions: () => [...this.#companions].map(({ heldKey }) => heldKey).filter((key) => key !== null),
      onRefused: () => this.#refused(),
      onAnswer: (status) => this.#answered(status),
    });
  }

  /** True if upstream refused the key in its last response. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** To be called when a tenant begins to read with both keys; the returned function ends it. */
  accompany(other: HeldBy): () => void {
    this.#companions.add(other);
    return () => void this.#companions.delete(other);
  }

  /** Null while no request or socket with the key is open. */
  get heldKey(): string | null {
    return this.#key;
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

  /** As `whenRefused`; while there are watchers the key is also verified at intervals. */
  watch(run: () => void): () => void {
    this.#listeners.add(run);
    this.#watchers += 1;
    if (this.#watchers === 1) {
      this.#watchedSinceMs = this.#options.clock.now();
      this.#verifyAtIntervals();
    }
    return () => {
      if (!this.#listeners.delete(run)) return;
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#timer?.cancel();
    };
  }

  /** Probes upstream, unless it accepted the key within `withinMs`. The outcome is in `isRefused`. */
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

  #verifyAtIntervals(): void {
    const { clock } = this.#options;
    const hasDailyLimit = this.client.status().rateLimit.remainingToday !== null;
    const isEager = !hasDailyLimit || clock.now() - this.#watchedSinceMs < eagerForMs;
    void this.verify(isEager ? verifyAfterMs : verifyLaterMs);
    this.#timer = clock.timer(watchEveryMs, () => this.#verifyAtIntervals());
  }

  #currentKey(): string {
    if (this.#key === null) throw new UpstreamUnavailable('The client that brought the key has gone');
    return this.#key;
  }

  #answered(status: number): void {
    // 403 and 404 concern the permissions of the key: upstream has accepted the key itself.
    if (status >= 400 && status !== 403 && status !== 404) return;
    this.#acceptedAtMs = this.#options.clock.now();
    this.#isRefused = false;
  }

  #refused(): void {
    this.#isRefused = true;
    this.#acceptedAtMs = longAgo;
    for (const run of [...this.#listeners]) run();
  }
}

export const keyHash = (key: string): string => hash('sha256', key, 'hex');
