import { createHash } from 'node:crypto';
import { type Clock, minuteMs } from './clock.js';
import type { Config } from './config/config.js';
import { secretsOf } from './config/secrets.js';
import { type Source, UpstreamUnavailable } from './errors.js';
import type { FeedStatus } from './live/feeds/feed.js';
import { createFeeds } from './live/feeds/feeds.js';
import type { Log } from './log.js';
import type { Sandbox } from './sandbox/server.js';
import type { ClientKey } from './server/auth/account.js';
import { type Access, type Own, openAccess } from './server/auth/auth.js';
import { jwtAccess } from './server/auth/jwt.js';
import { passthroughAccess } from './server/auth/passthrough.js';
import { createTenants } from './server/auth/tenants.js';
import { tokenAccess } from './server/auth/token.js';
import type { Watched } from './server/ops/readiness.js';
import type { Store } from './store/store.js';
import { Tenant } from './unify/context.js';
import { createResponseCache, type ResponseCache } from './upstream/cache/response-cache.js';
import { createCatalogueClient } from './upstream/catalogue/rest.js';
import { fetchThrough } from './upstream/http/agent.js';
import { createHttp, type Http } from './upstream/http/http.js';
import { createProjectClient } from './upstream/project/rest.js';
import type { RateLimitSettings } from './upstream/rate-limit/limiter.js';
import { newCostMeter, type ReadScope, type UpstreamStatus } from './upstream/read/read.js';
import type { RequestEnd, SentRequest, UpstreamOptions } from './upstream/read/request.js';

/** Access to the graph and the upstream keys that serve it (docs/behaviour.md 7). */
export interface Tenancy {
  readonly access: Access;
  /** The configured interfaces, for `/ready`. */
  readonly watched: readonly Watched[];
  /** Status of the interfaces with the gateway's own keys; empty in `passthrough`, where clients bring the keys. */
  interfaces(): readonly UpstreamStatus[];
  readonly cache: ResponseCache;
  /** Number of key pairs with a tenant of their own; 0 outside `passthrough`. */
  tenantCount(): number;
  /** The live feeds of the gateway's own keys; empty in `passthrough`, where each tenant has its own. */
  feeds(): readonly FeedStatus[];
  close(): Promise<void>;
}

/** Addresses and keys of a running sandbox. */
export type SandboxAddress = Pick<Sandbox, 'projectUrl' | 'projectKey' | 'catalogueUrl' | 'catalogueKey'>;

export interface TenancyOptions {
  readonly config: Config;
  /** Replaces the configured interfaces. */
  readonly sandbox: SandboxAddress | null;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called at the start of every upstream request; the returned function is called at its end. */
  readonly onRequest: (request: SentRequest) => (end: RequestEnd) => void;
}

export function openTenancy(options: TenancyOptions): Tenancy {
  const { config, clock, log, random } = options;
  // The sandbox is part of this process: no proxy could reach it.
  const http = createHttp({ proxies: options.sandbox ? null : config.proxies });
  const cache = createResponseCache({ maxBytes: config.cacheMaxBytes });
  const { project, catalogue } = interfacesOf(options, http, cache);
  const stopped = new AbortController();

  function close(access: Access): Promise<void> {
    stopped.abort();
    access.close();
    return http.close();
  }

  const keyOwner = [project, catalogue].map((one) => one && `${one.baseUrl} ${one.key}`);
  const feedsOf = (tenant: Tenant) =>
    createFeeds({
      tenant,
      settings: config.feeds,
      // Names in Redis are hashes, so that they do not reveal a key.
      changes: (feed) => options.store.changes(nameOf([feed, tenant.scope, ...keyOwner])),
      connection: options.store.connection,
      random,
    });

  if (config.auth.mode === 'passthrough') {
    const tenants = createTenants({
      connectProject: project && ((key) => createProjectClient(withClientKey(key, project))),
      connectCatalogue: catalogue && ((key) => createCatalogueClient(withClientKey(key, catalogue))),
      feedsOf,
      clock,
      log,
    });
    const access = passthroughAccess(tenants);
    const watched = [
      project && anonymousWatch('PROJECT', project, '/v1/openapi.yaml'),
      catalogue && anonymousWatch('CATALOGUE', catalogue, '/v1/networks'),
    ];
    return {
      access,
      watched: watched.filter((one) => one !== null),
      cache,
      interfaces: () => [],
      tenantCount: () => tenants.size,
      feeds: () => [],
      close: () => close(access),
    };
  }

  const tenant = new Tenant({
    project: project && createProjectClient({ ...project, keyOwner: 'gateway' }),
    catalogue: catalogue && createCatalogueClient({ ...catalogue, keyOwner: 'gateway' }),
    clock,
    log,
    signal: stopped.signal,
  });
  const feeds = feedsOf(tenant);
  const access = accessByOwnKeys({ tenant, feeds }, options);
  return {
    access,
    watched: watchesOf(tenant),
    cache,
    interfaces: () =>
      [tenant.project?.status(), tenant.catalogue?.status()].filter((one) => one !== undefined),
    tenantCount: () => 0,
    feeds: () => feeds.status(),
    close() {
      feeds.close();
      return close(access);
    },
  };
}

function accessByOwnKeys(own: Own, { config: { auth, proxies }, clock, log }: TenancyOptions): Access {
  if (auth.mode === 'token') return tokenAccess({ ...auth, own, clock, log });
  if (auth.mode === 'jwt')
    return jwtAccess({ ...auth, fetch: proxies && fetchThrough(proxies), own, clock, log });
  return openAccess(own);
}

type Interface = Omit<UpstreamOptions, 'keyOwner'> & Pick<TenancyOptions, 'onRequest'>;

/** Address, key, time-outs and rate limit of each interface; the key is empty in `passthrough`. */
function interfacesOf(
  options: TenancyOptions,
  http: Http,
  cache: ResponseCache,
): { project: Interface | null; catalogue: Interface | null } {
  const { config, sandbox, store, clock, log, random, onRequest } = options;
  const project = sandbox ? { url: sandbox.projectUrl, key: sandbox.projectKey } : config.project;
  const catalogue = sandbox ? { url: sandbox.catalogueUrl, key: sandbox.catalogueKey } : config.catalogue;
  const secrets = [project?.key, catalogue?.key, ...secretsOf(config)].filter(
    (key) => typeof key === 'string',
  );
  const common = {
    otherSecrets: () => secrets,
    http,
    cache,
    store,
    clock,
    log,
    random,
    onRequest,
    timeoutMs: config.upstreamTimeoutMs,
    maxWaitMs: config.upstreamMaxWaitMs,
  };
  return {
    project: project && {
      ...common,
      baseUrl: project.url,
      key: project.key ?? '',
      rateLimit: { ...config.projectRate, perDay: null },
    },
    catalogue: catalogue && {
      ...common,
      baseUrl: catalogue.url,
      key: catalogue.key ?? '',
      rateLimit: catalogueRateLimits[config.catalogueTier],
    },
  };
}

/** The interface with a client's key. The key is read for each request, because it may have been removed meanwhile. */
function withClientKey(key: ClientKey, upstream: Interface): UpstreamOptions {
  return {
    ...upstream,
    get key() {
      return key.value();
    },
    keyOwner: 'client',
    otherSecrets: () => [...(upstream.otherSecrets?.() ?? []), ...key.companions()],
    onKeyRefused: () => key.onRefused(),
    onRequest(request) {
      const counted = upstream.onRequest(request);
      return (end) => {
        counted(end);
        if (end.status !== null) key.onAnswer(end.status);
      };
    },
  };
}

// Shortest time between two probes of /ready while there is no other traffic. It bounds their share of the rate limit
// to a tenth of the project's minute and a seventh of the catalogue's day (docs/interfaces.md C8: 10,000 requests).
const quietForMs = { PROJECT: 10_000, CATALOGUE: minuteMs };

function watchesOf({ project, catalogue }: Tenant): readonly Watched[] {
  const scope = (signal: AbortSignal): ReadScope => {
    return { signal, priority: 'query', operationKey: {}, meter: newCostMeter(), maxAgeMs: 0 };
  };
  return [
    ...(project
      ? [
          {
            source: 'PROJECT' as const,
            status: () => project.status(),
            probe: (signal: AbortSignal) => project.project(scope(signal)),
            quietForMs: quietForMs.PROJECT,
          },
        ]
      : []),
    ...(catalogue
      ? [
          {
            source: 'CATALOGUE' as const,
            status: () => catalogue.status(),
            probe: (signal: AbortSignal) => catalogue.networks(scope(signal)),
            quietForMs: quietForMs.CATALOGUE,
          },
        ]
      : []),
  ];
}

// The probe has no key in `passthrough`: any status below 500, 401 included, shows that the interface is reachable.
function anonymousWatch(source: Source, { http, baseUrl, timeoutMs }: Interface, path: string): Watched {
  const url = new URL(`${baseUrl}${path}`);
  return {
    source,
    status: () => null,
    quietForMs: quietForMs[source],
    async probe(signal) {
      const request = {
        source,
        origin: url.origin,
        path: url.pathname,
        key: 'none',
        endpoint: path,
        timeoutMs,
        signal,
      };
      const { status } = await http.get(request);
      if (status >= 500) throw new UpstreamUnavailable(`${source} answered with ${status}`);
    },
  };
}

function nameOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

// docs/interfaces.md C8. Assumed: the burst is a third of the minute, as for the project (20 of 60); C8 states none.
const catalogueRateLimits: Readonly<Record<Config['catalogueTier'], RateLimitSettings>> = {
  free: { perMinute: 60, burst: 20, perDay: 10_000 },
  standard: { perMinute: 300, burst: 100, perDay: 100_000 },
  premium: { perMinute: 1_000, burst: 333, perDay: null },
};
