import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { type Clock, ManualClock } from '../../src/clock.js';
import { GatewayError } from '../../src/errors.js';
import { createLog } from '../../src/log.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.js';
import { unsharedStore } from '../../src/store/memory.js';
import { createResponseCache, type ResponseCache } from '../../src/upstream/cache/response-cache.js';
import type { CatalogueClient } from '../../src/upstream/catalogue/client.js';
import { createCatalogueClient } from '../../src/upstream/catalogue/rest.js';
import { createHttp, type Http } from '../../src/upstream/http/http.js';
import type { ProjectClient } from '../../src/upstream/project/client.js';
import { createProjectClient } from '../../src/upstream/project/rest.js';
import type { RateLimitSettings } from '../../src/upstream/rate-limit/limiter.js';
import { newCostMeter, type ReadScope } from '../../src/upstream/read/read.js';
import type { UpstreamOptions } from '../../src/upstream/read/request.js';
import { cleanUpAfterTests } from '../support/clean-up.js';

/** Both clients on a sandbox of their own, in time that the test drives. Answers come in real time all the same. */
export interface Upstream extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly http: Http;
  readonly cache: ResponseCache;
  readonly project: ProjectClient;
  readonly catalogue: CatalogueClient;
  /** All that was logged, line by line. */
  readonly lines: readonly string[];
  /** Another client on the same connections and cache. */
  projectWith(options: Partial<UpstreamOptions>): ProjectClient;
  catalogueWith(options: Partial<UpstreamOptions>): CatalogueClient;
}

export interface HarnessOptions {
  /** Gives the test a sandbox of its own. */
  readonly sandbox?: SandboxOptions;
  readonly client?: Partial<UpstreamOptions>;
  readonly projectRateLimit?: RateLimitSettings;
  readonly maxBytes?: number;
}

export const unlimited: RateLimitSettings = { perMinute: 1_000_000, burst: 1_000_000, perDay: null };

// Building a world takes long: tests that need no other share one, without limits and without anything happening in it.
let shared: { readonly clock: ManualClock; readonly sandbox: Promise<Sandbox> } | undefined;

function sharedSandbox() {
  if (!shared) {
    const clock = new ManualClock();
    const sandbox = startSandbox({ clock, live: false, rateLimits: false });
    shared = { clock, sandbox };
    // The next file of this process begins another.
    cleanUpAfterTests(async () => {
      shared = undefined;
      await (await sandbox).close();
    });
  }
  return shared;
}

export async function startUpstream(options: HarnessOptions = {}): Promise<Upstream> {
  const own = options.sandbox && new ManualClock();
  const clock = own ?? sharedSandbox().clock;
  const sandbox = own
    ? await startSandbox({ clock, live: false, ...options.sandbox })
    : await sharedSandbox().sandbox;
  sandbox.forget();
  sandbox.faults.clear();
  const http = createHttp();
  const cache = createResponseCache({ maxBytes: options.maxBytes ?? 64 * 1024 * 1024 });
  const lines: string[] = [];
  const common = {
    keyOwner: 'gateway' as const,
    http,
    cache,
    store: unsharedStore,
    clock,
    log: createLog({ level: 'debug', secrets: [], write: (line) => lines.push(line) }),
    random: () => 0.5,
    timeoutMs: 10_000,
    maxWaitMs: 5_000,
    ...options.client,
  };
  const projectWith = (own: Partial<UpstreamOptions>) =>
    createProjectClient({
      ...common,
      baseUrl: sandbox.projectUrl,
      key: sandbox.projectKey,
      rateLimit: options.projectRateLimit ?? { perMinute: 60, burst: 20, perDay: null },
      ...own,
    });
  const catalogueWith = (own: Partial<UpstreamOptions>) =>
    createCatalogueClient({
      ...common,
      baseUrl: sandbox.catalogueUrl,
      key: sandbox.catalogueKey,
      rateLimit: { perMinute: 60, burst: 20, perDay: 10_000 },
      ...own,
    });
  return {
    sandbox,
    clock,
    http,
    cache,
    lines,
    project: projectWith({}),
    catalogue: catalogueWith({}),
    projectWith,
    catalogueWith,
    async [Symbol.asyncDispose]() {
      await http.close();
      if (own) await sandbox.close();
    },
  };
}

/** A client's operation, unless the test says otherwise. */
export function scopeOf(own: Partial<ReadScope> = {}): ReadScope {
  return {
    signal: new AbortController().signal,
    priority: 'query',
    operationKey: {},
    meter: newCostMeter(),
    ...own,
  };
}

/** The failure of a read that must fail. */
export async function failureOf(read: Promise<unknown>): Promise<GatewayError> {
  const error = await read.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw new Error(`A failure of docs/behaviour.md 4 was due, not ${String(error)}`);
}

/** Waits until it holds, however busy the machine is. */
export function eventually(holds: () => unknown): Promise<unknown> {
  return vi.waitFor(holds, { timeout: 15_000, interval: 10 });
}

/** Settles a read that waits for the clock: moves it on in small steps until then. */
export async function driving<T>(clock: ManualClock, read: Promise<T>, stepMs = 100): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  read.then(done, done);
  while (!settled) await clock.advance(stepMs);
  return read;
}

/** An upstream that answers whatever a test wants, for what the sandbox does not do. */
export interface TinyUpstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly string[];
  /** Connections that were ever opened. */
  readonly connections: number;
  readonly openConnections: () => Promise<number>;
}

export async function startTiny(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<TinyUpstream> {
  const requests: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request, response);
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections;
    },
    openConnections: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A project client on any address. */
export function projectAt(
  url: string,
  clock: Clock,
  own: Partial<UpstreamOptions> = {},
): ProjectClient & AsyncDisposable {
  const http = createHttp();
  const client = createProjectClient({
    baseUrl: url,
    key: 'svc_sk_tiny',
    keyOwner: 'gateway',
    http,
    cache: createResponseCache({ maxBytes: 64 * 1024 * 1024 }),
    store: unsharedStore,
    rateLimit: unlimited,
    clock,
    log: createLog({ level: 'silent', secrets: [] }),
    random: () => 0.5,
    timeoutMs: 10_000,
    maxWaitMs: 5_000,
    ...own,
  });
  return { ...client, [Symbol.asyncDispose]: () => http.close() };
}
