import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asMoment, type Clock, realClock } from '../clock.js';
import { catalogueApi } from './catalogue/api.js';
import { type CatalogueChoices, usualChoices } from './catalogue/routes.js';
import { deliver } from './http/delivery.js';
import { Faults } from './http/faults.js';
import { type ApiRequest, bearerKey, type Reply } from './http/reply.js';
import { keyHashOf, RequestLog, type SeenRequest, type Source } from './http/request-log.js';
import { projectApi } from './project/api.js';
import { livingWorld } from './simulation/living-world.js';
import type { World } from './world.js';

/** Starts both interfaces on free loopback ports. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = realClock, seed = 1, live = true } = options;
  const forwardToWorldMs = clock.wallMs(asMoment(0));
  // Time in the world goes on evenly, also where the wall clock is set.
  const worldMs = () => clock.now() + forwardToWorldMs;
  const world = options.world ?? livingWorld({ seed, startMs: worldMs() });
  const revoked = new Set<string>();
  const faults = new Faults();
  const log = new RequestLog();
  const apis: Record<Source, (request: ApiRequest) => Reply> = {
    project: projectApi({ world, revoked, limits: projectLimits(options.rateLimits) }),
    catalogue: catalogueApi({
      world,
      revoked,
      seed,
      limits: catalogueLimits(options.rateLimits, options.catalogueTier ?? 'free'),
      resetUnit: options.catalogueResetUnit ?? 'unix',
      choices: {
        ...usualChoices,
        order: options.catalogueOrder ?? 'unspecified',
        ...options.catalogueChoices,
      },
    }),
  };

  const handle = (source: Source) => (message: IncomingMessage, response: ServerResponse) => {
    // Not read as a URL: a client may send what is none.
    const [target = '', ...rest] = (message.url ?? '').split('?');
    const search = new URLSearchParams(rest.join('?'));
    const prefix = prefixes[source];
    const path = target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : '/';
    const nowMs = worldMs();
    if (live) world.advance(nowMs);
    const { authorization } = message.headers;
    const request = { method: message.method ?? 'GET', path, search, authorization, nowMs };
    const visit = log.arrived({
      source,
      method: request.method,
      path,
      query: Object.fromEntries(search),
      keyHash: keyHashOf(bearerKey(authorization)),
      atMs: nowMs,
    });
    return deliver(apis[source](request), faults.take(source, path), response, visit, clock);
  };

  const servers = { project: await listen(handle('project')), catalogue: await listen(handle('catalogue')) };
  const close = async () => {
    await Promise.all([closed(servers.project), closed(servers.catalogue)]);
  };
  return {
    projectUrl: urlOf(servers.project, prefixes.project),
    catalogueUrl: urlOf(servers.catalogue, prefixes.catalogue),
    projectKey: firstKeyOf(world.projectKeys, world.project),
    maskedProjectKey: firstKeyOf(world.projectKeys, world.maskedProject),
    catalogueKey: firstKeyOf(world.catalogueKeys, world.catalogue),
    get world() {
      if (live) world.advance(worldMs());
      return world;
    },
    faults,
    get requests() {
      return log.answered;
    },
    seen: (source, path) => log.seen(source, path),
    forget: () => log.forget(),
    inFlight: (source, path) => log.inFlight(source, path),
    maxConcurrent: (source, path) => log.maxConcurrent(source, path),
    revoke: (key) => void revoked.add(key),
    close,
    [Symbol.asyncDispose]: close,
  };
}

export interface SandboxOptions {
  readonly clock?: Clock;
  /** The same seed gives the same world. */
  readonly seed?: number;
  /** A seeded world that lives, unless given. */
  readonly world?: World;
  /** False: nothing happens in the world by itself. */
  readonly live?: boolean;
  /** False: no limits. An object changes single ones. */
  readonly rateLimits?: boolean | RateLimits;
  readonly catalogueTier?: Tier;
  readonly catalogueOrder?: CatalogueChoices['order'];
  readonly catalogueResetUnit?: 'unix' | 'delta';
  readonly catalogueChoices?: Partial<CatalogueChoices>;
}

interface RateLimits {
  readonly projectPerMinute?: number;
  readonly projectBurst?: number;
  readonly cataloguePerMinute?: number;
  readonly cataloguePerDay?: number;
}

export type Tier = 'free' | 'standard' | 'premium';

export interface Sandbox extends AsyncDisposable {
  /** Without `/v1`, and with a path prefix as a real one may have. */
  readonly projectUrl: string;
  readonly catalogueUrl: string;
  readonly projectKey: string;
  /** Of a second project, which has location masking on. */
  readonly maskedProjectKey: string;
  readonly catalogueKey: string;
  readonly world: World;
  readonly faults: Faults;
  /** In the order of their answers. */
  readonly requests: readonly SeenRequest[];
  seen(source: Source, path?: string | RegExp): SeenRequest[];
  /** Empties the list, and counts `maxConcurrent` afresh. */
  forget(): void;
  /** Requests without an answer yet: of an interface, or of one path of it. */
  inFlight(source: Source, path?: string): number;
  /** The most that were in flight at a time. */
  maxConcurrent(source: Source, path?: string): number;
  /** From now on the key gives 401. */
  revoke(key: string): void;
  close(): Promise<void>;
}

const prefixes: Record<Source, string> = { project: '/project-api', catalogue: '/catalogue-api' };

function projectLimits(limits: boolean | RateLimits = true): { perMinute: number; burst: number } | null {
  if (limits === false) return null;
  // docs/interfaces.md P8.
  const { projectPerMinute = 60, projectBurst = 20 } = limits === true ? {} : limits;
  return { perMinute: projectPerMinute, burst: projectBurst };
}

function catalogueLimits(
  limits: boolean | RateLimits = true,
  tier: Tier,
): { perMinute: number; perDay: number } {
  // The headers are on every answer, so that no limit is one that nobody reaches.
  if (limits === false) return { perMinute: 1_000_000, perDay: Number.POSITIVE_INFINITY };
  const { cataloguePerMinute, cataloguePerDay } = limits === true ? {} : limits;
  const { perMinute, perDay } = tiers[tier];
  return { perMinute: cataloguePerMinute ?? perMinute, perDay: cataloguePerDay ?? perDay };
}

// docs/interfaces.md C8.
const tiers: Record<Tier, { perMinute: number; perDay: number }> = {
  free: { perMinute: 60, perDay: 10_000 },
  standard: { perMinute: 300, perDay: 100_000 },
  premium: { perMinute: 1000, perDay: Number.POSITIVE_INFINITY },
};

function firstKeyOf<T>(keys: ReadonlyMap<string, { data: T }>, data: T): string {
  for (const [key, known] of keys) if (known.data === data) return key;
  throw new Error('The world has no key for its default project, masked project or catalogue');
}

async function listen(handle: (message: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle);
  // Longer than a client keeps an idle connection: otherwise it can send into one that is just being closed.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

const urlOf = (server: Server, prefix: string) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
