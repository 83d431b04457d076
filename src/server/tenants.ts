import type { Clock, Timer } from '../clock.js';
import { ClientRateLimited, Unauthenticated } from '../errors.js';
import type { Feeds } from '../live/feeds.js';
import type { Log } from '../log.js';
import { Tenant } from '../unify/context.js';
import type { CatalogueClient } from '../upstream/catalogue/client.js';
import type { ProjectClient } from '../upstream/project/client.js';
import { type Account, type HeldKey, keyHash } from './account.js';
import { Accounts } from './accounts.js';

/** The keys that one client sent; null where it sent none, or the interface is not configured. */
export interface SentKeys {
  readonly project: string | null;
  readonly catalogue: string | null;
}

/** What AUTH_MODE=passthrough keeps apart: a tenant for each pair of keys, bounded in number. */
export interface Tenants {
  lease(keys: SentKeys): Lease;
  readonly size: number;
  close(): void;
}

/** The use of a tenant by one request or socket. */
export interface Lease {
  /** Tells tenants apart in limits and in the log. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly feeds: Feeds;
  /** False when upstream refuses one of the keys. Asks upstream, unless it accepted them a moment ago. */
  verify(): Promise<boolean>;
  /** Runs `run` once upstream refuses a key. While someone waits for that, upstream is asked now and then. */
  whenRefused(run: () => void): () => void;
  release(): void;
}

export interface TenantsOptions {
  /** Null where the interface is not configured. */
  readonly connectProject: ((key: HeldKey) => ProjectClient) | null;
  readonly connectCatalogue: ((key: HeldKey) => CatalogueClient) | null;
  readonly feedsOf: (tenant: Tenant) => Feeds;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxTenants?: number;
}

// Without a read for this long nothing cached could be served to the tenant anyway (contract 7: 5 minutes at most).
const idleForMs = 5 * 60_000;
const sweepEveryMs = 30_000;
// What a key that was accepted this lately is not asked for again.
const verifiedForMs = 5_000;

export function createTenants(options: TenantsOptions): Tenants {
  const { connectProject, connectCatalogue, feedsOf, clock, log, maxTenants = 200 } = options;
  const stop = new AbortController();
  const shared = { clock, signal: stop.signal, maxAccounts: 2 * maxTenants };
  const projects =
    connectProject &&
    new Accounts({ connect: connectProject, probe: (client, scope) => client.project(scope), ...shared });
  const catalogues =
    connectCatalogue &&
    new Accounts({ connect: connectCatalogue, probe: (client, scope) => client.networks(scope), ...shared });
  // In the order of last use: the first is the one to give up.
  const entries = new Map<string, Entry>();
  let sweeper: Timer | null = null;

  function admit(id: string, keys: SentKeys): Entry {
    if (entries.size >= maxTenants) giveUpOne();
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
    // What has been learnt with a refused key goes with it: whoever comes next starts afresh.
    const feeds = feedsOf(tenant);
    const refused = () => {
      feeds.close(new Unauthenticated('Upstream refused this key'));
      remove(id, entry);
    };
    const listening = [project?.whenRefused(refused), catalogue?.whenRefused(refused)];
    const entry: Entry = {
      tenant,
      feeds,
      project,
      catalogue,
      users: 0,
      usedAtMs: clock.now(),
      end() {
        for (const stopListening of listening) stopListening?.();
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

  function giveUpOne(): void {
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
      const id = [keys.project, keys.catalogue].map((key) => (key === null ? '' : keyHash(key))).join(' ');
      const entry = entries.get(id) ?? admit(id, keys);
      entries.delete(id);
      entries.set(id, entry);
      return leaseOf(entry, keys, clock);
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
  users: number;
  usedAtMs: number;
  end(): void;
}

function leaseOf(entry: Entry, keys: SentKeys, clock: Clock): Lease {
  const { project, catalogue, tenant, feeds } = entry;
  const accounts = [project, catalogue].filter((account) => account !== null);
  if (keys.project !== null) project?.hold(keys.project);
  if (keys.catalogue !== null) catalogue?.hold(keys.catalogue);
  entry.users += 1;
  let isReleased = false;
  return {
    id: accounts.map(({ hash }) => hash.slice(0, 12)).join('+'),
    tenant,
    feeds,
    async verify() {
      await Promise.all(accounts.map((account) => account.verify(verifiedForMs)));
      return !accounts.some(({ isRefused }) => isRefused);
    },
    whenRefused(run) {
      const stops = accounts.map((account) => account.watch(run));
      return () => {
        for (const stop of stops) stop();
      };
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      entry.usedAtMs = clock.now();
      for (const account of accounts) account.drop();
    },
  };
}
