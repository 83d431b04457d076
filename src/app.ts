import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import { type Clock, realClock } from './clock.js';
import type { Config } from './config/config.js';
import { secretsOf } from './config/secrets.js';
import type { OtherProcesses } from './graph/context.js';
import { schema, subgraphSchema } from './graph/schema.js';
import { createLog, type Log } from './log.js';
import type { Sandbox } from './sandbox/server.js';
import { type ClientRate, clientRate, type OperationBudget, RateBuckets } from './server/auth/client-rate.js';
import { createAnswerCache, noAnswerCache } from './server/execution/answer-cache.js';
import { createGraphQLEngine } from './server/execution/engine.js';
import type { OnFinished } from './server/execution/operation.js';
import { operationNames, readOperationFiles } from './server/execution/operation-files.js';
import { readManifests } from './server/execution/operation-manifest.js';
import { persistedOperations } from './server/execution/persisted-operations.js';
import { browserPolicy } from './server/http/browser-safety.js';
import { createHttpServer } from './server/http/http.js';
import { type Listener, listen } from './server/http/listen.js';
import { dashboardPages } from './server/http/pages/dashboard.js';
import { graphiqlPage } from './server/http/pages/graphiql.js';
import { sendWaveform } from './server/http/waveforms.js';
import { sendHealth, sendReadiness } from './server/ops/health.js';
import { createMetrics, type MetricSources, sendMetrics } from './server/ops/metrics.js';
import { noPeers, type OwnReports, type Peers } from './server/ops/peers.js';
import { InterfaceWatch } from './server/ops/readiness.js';
import { requestLog } from './server/ops/request-log.js';
import { drain } from './server/ops/shutdown.js';
import type { Tracing } from './server/ops/tracing.js';
import { type ClientConnections, ConnectionLimit } from './server/websocket/connection-limit.js';
import { attachWebSockets } from './server/websocket/websocket.js';
import { logStart, ownSandbox } from './start-log.js';
import { unsharedStore } from './store/memory.js';
import type { Store } from './store/store.js';
import { openTenancy, type SandboxAddress, type TenancyOptions } from './tenant.js';
import { version } from './version.js';

/** A running gateway. */
export interface Gateway extends AsyncDisposable {
  /** With the port that is in use, without a path. */
  readonly url: string;
  readonly port: number;
  /** Reads PERSISTED_OPERATIONS_FILE again; where one of the files is wrong, what was known stays. */
  reload(): void;
  /** Graceful shutdown within `graceMs` (default 10 s): see `drain`. */
  close(graceMs?: number): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly clock?: Clock;
  readonly log?: Log;
  /** A number from 0 to 1; used for jitter. */
  readonly random?: () => number;
  readonly socketsPerClient?: number;
  /** Set in each of several processes behind one port; left out for a single process. */
  readonly shared?: Shared;
  /** Of the built dashboard; that of this build when left out. */
  readonly dashboardFolder?: URL;
  /** Starts accepting connections; listens on HOST and PORT when left out. */
  readonly listen?: (server: Server) => Promise<Listener>;
}

/** State that several processes behind one port share: see `workers/`. */
export interface Shared {
  /** Null where each process connects to Redis itself. */
  readonly store: Store | null;
  /** The one sandbox that all processes use; null without one. */
  readonly sandbox: SandboxAddress | null;
  readonly operationBudget: OperationBudget;
  readonly clientConnections: ClientConnections;
  readonly peers: Peers;
}

// From source too it is what `npm run build` has left in dist.
const builtDashboard = new URL(
  import.meta.url.endsWith('.ts') ? '../dist/dashboard/' : './dashboard/',
  import.meta.url,
);

// docs/behaviour.md 3.
const usualGraceMs = 10_000;

/** The composition root: the only place that puts the parts together. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, clock = realClock, shared } = options;
  if (shared) return startWith(shared.sandbox, options);
  const sandbox = await sandboxOf(config, clock);
  try {
    const gateway = await startWith(sandbox, options);
    return sandbox ? withSandboxClosedLast(gateway, sandbox) : gateway;
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

// Sandbox and client of Redis are imported on demand: most gateways have neither, and they take 6 MiB.
async function sandboxOf({ sandbox }: Config, clock: Clock): Promise<Sandbox | null> {
  if (!sandbox) return null;
  const { startSandbox } = await import('./sandbox/server.js');
  return startSandbox({ clock });
}

async function storeOf({ redisUrl }: Config, clock: Clock, log: Log): Promise<Store> {
  if (redisUrl === null) return unsharedStore;
  const { openRedisStore } = await import('./store/redis/store.js');
  return openRedisStore({ url: redisUrl, clock, log });
}

/** Closes the sandbox after the gateway, which may still send requests to it while closing. */
function withSandboxClosedLast(gateway: Gateway, sandbox: AsyncDisposable): Gateway {
  const close = (graceMs?: number) => gateway.close(graceMs).finally(() => sandbox[Symbol.asyncDispose]());
  return { ...gateway, close, [Symbol.asyncDispose]: () => close() };
}

async function startWith(sandbox: SandboxAddress | null, options: GatewayOptions): Promise<Gateway> {
  const { config, clock = realClock, random = Math.random, shared: common } = options;
  const log = options.log ?? createLog({ level: config.logLevel, secrets: secretsOf(config) });
  const files = readOperationFiles();
  const metrics = createMetrics(operationNames(files), clock);
  const tracing = await tracingOf(config, clock, log);
  const onRequest = tracing
    ? bothEnds(metrics.upstreamRequest, tracing.upstreamRequest)
    : metrics.upstreamRequest;
  const store = common?.store ?? (await storeOf(config, clock, log));
  const redis = config.redisUrl === null ? null : store.connection;
  const keys = openTenancy({ config, sandbox, store, clock, log, random, onRequest });
  const leaving = new AbortController();
  // Every open stream adds a listener: Node must not warn of a leak.
  setMaxListeners(0, leaving.signal);
  const { limits } = config;
  const manifests = config.persistedOperationsFiles;
  const persisted = persistedOperations({
    mode: config.persistedOperations,
    files,
    manifests: manifests.length > 0 ? () => readManifests(manifests) : null,
    maxTokens: limits.maxTokens,
  });
  const shared = {
    engine: createGraphQLEngine({
      schema: config.federation ? subgraphSchema() : schema,
      limits,
      introspection: config.introspection,
      persisted,
      gateway: {
        version,
        sandbox: sandbox !== null,
        ...(common && { otherProcesses: () => otherProcessesOf(common.peers) }),
      },
      maxDeferredWaitMs: config.upstreamMaxDeferredWaitMs,
      tracing,
      log,
    }),
    answers: config.answerCache ? createAnswerCache(keys.cache, clock) : noAnswerCache,
    access: keys.access,
    policy: browserPolicy({
      corsOrigins: config.corsOrigins,
      corsHeaders: config.corsHeaders,
      isOpenToAll: config.auth.mode === 'none',
    }),
    clientRate: rateOf(options),
    onFinished: each([
      requestLog(log, config.logLevel),
      metrics.operationFinished,
      tracing?.operationFinished,
    ]),
    clock,
    log,
  };
  const watches = keys.watched.map((watched) => new InterfaceWatch(watched, clock, leaving.signal));
  const server = createHttpServer({
    ...shared,
    graphiql: config.graphiql ? graphiqlPage(files) : null,
    openRoutes: {
      '/health': (_request, response) => sendHealth(response),
      '/ready': async (_request, response) =>
        sendReadiness(response, watches, own.health(), await peers.health(), redis),
      '/metrics': (_request, response) =>
        sendMetrics(
          response,
          own.metrics().then(async (report) => [report, ...(await peers.metrics(report))]),
        ),
    },
    waveforms: (request, response, operation) => sendWaveform(request, response, operation, log),
    dashboard: config.dashboard ? dashboardPages(options.dashboardFolder ?? builtDashboard) : null,
    leaving: leaving.signal,
  });
  const sockets = attachWebSockets(server, {
    ...shared,
    maxBodyBytes: limits.maxBodyBytes,
    clientConnections: common?.clientConnections ?? new ConnectionLimit(options.socketsPerClient),
  });
  const own: OwnReports = {
    health: () => ({ feeds: keys.feeds(), sightings: watches.map((watch) => watch.sighting()) }),
    metrics: () => metrics.report(sources()),
  };
  const sources = (): MetricSources => ({
    interfaces: keys.interfaces(),
    cache: keys.cache,
    cachedAnswers: shared.answers.hitCount,
    feeds: keys.feeds(),
    redis,
    instances: store.instances,
    sockets: sockets.count,
    tenants: keys.tenantCount(),
    droppedLogLines: log.output.droppedLines(),
  });
  const peers = common?.peers ?? noPeers;
  peers.serve(own);

  async function release(): Promise<void> {
    sockets.close();
    metrics.close();
    await keys.close();
    await store.close();
    await tracing?.close();
  }
  if (sandbox && redis && !common) log.warn({}, ownSandbox);
  await store.settled;
  const startListening = options.listen ?? (() => listen(server, config.port, config.host));
  const listener = await startListening(server).catch(async (error) => {
    await release();
    throw error;
  });
  const { port, url } = listener;
  // With several processes the primary logs the one start line.
  if (!common) logStart(config, url, { log });

  let closing: Promise<void> | null = null;
  function close(graceMs = usualGraceMs): Promise<void> {
    closing ??= drain({ server, listener, sockets, leaving, graceMs }).finally(release);
    return closing;
  }
  function reload(): void {
    try {
      persisted.reload();
      log.info({ files: manifests }, 'PERSISTED_OPERATIONS_FILE was read again');
    } catch (error) {
      log.error({ error: String(error) }, 'The persisted operations stay as they were');
    }
  }
  return { url, port, reload, close, [Symbol.asyncDispose]: () => close() };
}

/** The SDK of OpenTelemetry is loaded only where there is a collector. */
async function tracingOf({ tracing: settings }: Config, clock: Clock, log: Log): Promise<Tracing | null> {
  if (settings === null) return null;
  const { openTracing } = await import('./server/ops/tracing.js');
  return openTracing({ settings, version, clock, log });
}

async function otherProcessesOf(peers: Peers): Promise<OtherProcesses> {
  const reports = await peers.health();
  return {
    interfaces: reports.flatMap(({ sightings }) => sightings.flatMap(({ status }) => status ?? [])),
    feeds: reports.flatMap(({ feeds }) => feeds),
  };
}

function rateOf({ config, clock = realClock, shared }: GatewayOptions): ClientRate {
  const perMinute = config.clientRatePerMinute;
  if (perMinute === null) return clientRate(null, null);
  return clientRate(perMinute, shared?.operationBudget ?? new RateBuckets(perMinute, clock));
}

function each(observers: readonly (OnFinished | undefined)[]): OnFinished {
  return (operation, finished) => {
    for (const observe of observers) observe?.(operation, finished);
  };
}

type OnRequest = TenancyOptions['onRequest'];

function bothEnds(first: OnRequest, second: OnRequest): OnRequest {
  return (request) => {
    const ends = [first(request), second(request)];
    return (end) => {
      for (const observeEnd of ends) observeEnd(end);
    };
  };
}
