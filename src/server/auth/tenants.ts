import { type Clock, type ForwardMs, minuteMs, type Timer } from '../../clock.js';
import { ClientRateLimited, Unauthenticated } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Feeds } from '../../live/feeds/feeds.js';
import type { Log } from '../../log.js';
import { Tenant } from '../../unify/context.js';
import type { CatalogueClient } from '../../upstream/catalogue/client.js';
import type { ProjectClient } from '../../upstream/project/client.js';
import { type Account, type ClientKey, keyHash } from './account.js';
import { Accounts } from './accounts.js';
import type { Client } from './auth.js';

/** The keys that one client sent; null where it sent none, or the interface is not configured. */
export interface SentKeys {
  readonly project: string | null;
  readonly catalogue: string | null;
}

/** Tenants of AUTH_MODE=passthrough: one for each pair of keys, bounded in number. */
export interface Tenants {
  /** The tenant of these keys for one request or socket, until it is released. */
  lease(keys: SentKeys): Client;
  readonly size: number;
  close(): void;
}

export interface TenantsOptions {
  /** Null where the interface is not configured. */
  readonly connectProject: ((key: ClientKey) => ProjectClient) | null;
  readonly connectCatalogue: ((key: ClientKey) => CatalogueClient) | null;
  readonly feedsOf: (tenant: Tenant) => Feeds;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxTenants?: number;
}

// After this long without a read no cached response could be served anyway (docs/behaviour.md 7: 5 minutes at most).
const idleForMs = 5 * minuteMs;
const sweepEveryMs = 30_000;
// A key that upstream accepted within this time is not verified again.
const verifiedForMs = 5_000;

export function createTenants(options: TenantsOptions): Tenants {
  const { connectProject, connectCatalogue, feedsOf, clock, log, maxTenants = limits.tenants } = options;
  const stop = new AbortController();
  const shared = { clock, signal: stop.signal, maxAccounts: 2 * maxTenants };
  const projects =
    connectProject &&
    new Accounts({ connect: connectProject, probe: (client, scope) => client.project(scope), ...shared });
  const catalogues =
    connectCatalogue &&
    new Accounts({ connect: connectCatalogue, probe: (client, scope) => client.networks(scope), ...shared });
  // In order of last use, least recent first: evicted from the front.
  const entries = new Map<string, Entry>();
  let sweeper: Timer | null = null;

  function admit(id: string, keys: SentKeys): Entry {
    if (entries.size >= maxTenants) evictOneUnused();
    const project = (keys.project !== null && projects?.join(keys.project)) || null;
    const catalogue = (keys.catalogue !== null && catalogues?.join(keys.catalogue)) || null;
    const controller = new AbortController();
    const tenant = new Tenant({
      project: project?.client ?? null,
      catalogue: catalogue?.client ?? null,
      clock,
      log,
      signal: controller.signal,
      scope: id,
    });
    // A refused key takes its tenant with it, cached data included; the next client with the key gets a new tenant.
    const feeds = feedsOf(tenant);
    const refused = () => {
      feeds.close(new Unauthenticated('Upstream refused this key'));
      remove(id, entry);
    };
    const accounts = [project, catalogue].filter((account) => account !== null);
    const listening = accounts.map((account) => account.whenRefused(refused));
    const parting = project && catalogue ? [project.accompany(catalogue), catalogue.accompany(project)] : [];
    const entry: Entry = {
      tenant,
      feeds,
      project,
      catalogue,
      accounts,
      name: `key ${accounts.map(({ hash }) => hash.slice(0, 12)).join('+')}`,
      users: 0,
      usedAtMs: clock.now(),
      end() {
        for (const stopOne of [...listening, ...parting]) stopOne();
        feeds.close();
        if (project) projects?.leave(project);
        if (catalogue) catalogues?.leave(catalogue);
        controller.abort();
      },
    };
    sweeper ??= clock.timer(sweepEveryMs, sweep);
    return entry;
  }

  function remove(id: string, entry: Entry): void {
    if (entries.get(id) !== entry) return;
    entries.delete(id);
    entry.end();
  }

  function evictOneUnused(): void {
    const idle = [...entries].find(([, entry]) => entry.users === 0);
    if (!idle) {
      throw new ClientRateLimited('More keys are in use than the gateway keeps apart', { retryAfterS: 5 });
    }
    remove(...idle);
  }

  function sweep(): void {
    for (const [id, entry] of [...entries]) {
      if (entry.users === 0 && clock.now() - entry.usedAtMs >= idleForMs) remove(id, entry);
    }
    projects?.sweep();
    catalogues?.sweep();
    const isEmpty = entries.size + (projects?.size ?? 0) + (catalogues?.size ?? 0) === 0;
    sweeper = isEmpty ? null : clock.timer(sweepEveryMs, sweep);
  }

  return {
    get size() {
      return entries.size;
    },
    lease(keys) {
      const id = `${hashOf(keys.project)} ${hashOf(keys.catalogue)}`;
      const entry = entries.get(id) ?? admit(id, keys);
      entries.delete(id);
      entries.set(id, entry);
      return new Lease(entry, keys, clock);
    },
    close() {
      sweeper?.cancel();
      stop.abort();
      for (const [id, entry] of [...entries]) remove(id, entry);
      projects?.close();
      catalogues?.close();
    },
  };
}

interface Entry {
  readonly tenant: Tenant;
  readonly feeds: Feeds;
  readonly project: Account<ProjectClient> | null;
  readonly catalogue: Account<CatalogueClient> | null;
  /** The non-null ones of `project` and `catalogue`. */
  readonly accounts: readonly (Account<ProjectClient> | Account<CatalogueClient>)[];
  /** Identifies the tenant in limits and in the log. */
  readonly name: string;
  users: number;
  usedAtMs: ForwardMs;
  end(): void;
}

class Lease implements Client {
  readonly tenant: Tenant;
  readonly feeds: Feeds;
  readonly #entry: Entry;
  readonly #clock: Clock;
  #isReleased = false;

  constructor(entry: Entry, keys: SentKeys, clock: Clock) {
    this.tenant = entry.tenant;
    this.feeds = entry.feeds;
    this.#entry = entry;
    this.#clock = clock;
    if (keys.project !== null) entry.project?.hold(keys.project);
    if (keys.catalogue !== null) entry.catalogue?.hold(keys.catalogue);
    entry.users += 1;
  }

  get id(): string {
    return this.#entry.name;
  }

  /** Probes upstream, unless it accepted the keys within `verifiedForMs`. */
  async verify(): Promise<boolean> {
    const { accounts } = this.#entry;
    await Promise.all(accounts.map((account) => account.verify(verifiedForMs)));
    return !accounts.some(({ isRefused }) => isRefused);
  }

  /** While a callback is registered, the keys are verified at intervals. */
  whenEnded(run: () => void): () => void {
    const stops = this.#entry.accounts.map((account) => account.watch(run));
    return () => {
      for (const stop of stops) stop();
    };
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#entry.users -= 1;
    this.#entry.usedAtMs = this.#clock.now();
    for (const account of this.#entry.accounts) account.drop();
  }
}

const hashOf = (key: string | null) => (key === null ? '' : keyHash(key));
