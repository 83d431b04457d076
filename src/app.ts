import { setMaxListeners } from 'node:events';
import { type Clock, realClock } from './clock.js';
import { type Config, secretsOf } from './config.js';
import { schema } from './graph/schema.js';
import { type KeysOptions, openKeys } from './keys.js';
import { createLog, type Log } from './log.js';
import { type Sandbox, startSandbox } from './sandbox/server.js';
import { browserPolicy } from './server/browser-safety.js';
import { clientRate } from './server/client-rate.js';
import { createAnswerCache, noAnswerCache } from './server/execution/answer-cache.js';
import { graphiqlPage } from './server/graphiql.js';
import { createGraphQLEngine } from './server/graphql.js';
import { sendHealth, sendReadiness } from './server/health.js';
import { createHttpServer } from './server/http.js';
import { listen } from './server/listen.js';
import { createMetrics, sendMetrics } from './server/metrics.js';
import type { OnFinished } from './server/operation.js';
import { operationNames, readOperationFiles } from './server/operation-files.js';
import { createSpanExporter } from './server/otlp.js';
import { persistedOperations } from './server/persisted-operations.js';
import { InterfaceWatch } from './server/readiness.js';
import { requestLog } from './server/request-log.js';
import { drain } from './server/shutdown.js';
import { createTracing } from './server/tracing.js';
import { sendWaveform } from './server/waveforms.js';
import { attachWebSockets } from './server/websocket.js';
import { aloneStore } from './store/memory.js';
import { openRedisStore } from './store/redis.js';
import { version } from './version.js';

/** A running gateway. */
export interface Gateway extends AsyncDisposable {
  /** With the port that was taken, without a path. */
  readonly url: string;
  readonly port: number;
  /** Leaves in order: see `drain`. */
  close(graceMs?: number): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly clock?: Clock;
  readonly log?: Log;
  /** From 0 to 1, for jitter. */
  readonly random?: () => number;
  readonly socketsPerClient?: number;
}

// contract 3.
const usualGraceMs = 10_000;

/** The composition root: the only place that puts the parts together. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, clock = realClock } = options;
  const sandbox = config.sandbox ? await startSandbox({ clock }) : null;
  try {
    return await startBefore(sandbox, options);
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

async function startBefore(sandbox: Sandbox | null, options: GatewayOptions): Promise<Gateway> {
  const { config, clock = realClock, random = Math.random } = options;
  const log = options.log ?? createLog({ level: config.logLevel, secrets: secretsOf(config) });
  const files = readOperationFiles();
  const metrics = createMetrics(operationNames(files), clock);
  const exporter =
    config.otlpEndpoint === null
      ? null
      : createSpanExporter({ endpoint: config.otlpEndpoint, version, clock, log });
  const tracing = exporter && createTracing(exporter, clock);
  const onRequest = tracing
    ? bothEnds(metrics.upstreamRequest, tracing.upstreamRequest)
    : metrics.upstreamRequest;
  const store = config.redisUrl === null ? aloneStore : openRedisStore({ url: config.redisUrl, clock, log });
  const keys = openKeys({ config, sandbox, store, clock, log, random, onRequest });
  const leaving = new AbortController();
  // Every open stream listens to it.
  setMaxListeners(0, leaving.signal);
  const { limits } = config;
  const persisted = persistedOperations({
    mode: config.persistedOperations,
    files,
    maxTokens: limits.maxTokens,
  });
  const shared = {
    engine: createGraphQLEngine({
      schema,
      limits,
      introspection: config.introspection,
      persisted,
      gateway: { version, sandbox: sandbox !== null },
      tracing,
      log,
    }),
    answers: config.answerCache ? createAnswerCache(keys.cache, clock) : noAnswerCache,
    access: keys.access,
    policy: browserPolicy({
      corsOrigins: config.corsOrigins,
      loopbackNamesOnly: config.auth.mode === 'none',
    }),
    clientRate: clientRate(config.clientRatePerMinute, clock),
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
      '/ready': (_request, response) => sendReadiness(response, watches, keys.feeds(), store.connection),
      '/metrics': (_request, response) =>
        sendMetrics(response, metrics, {
          interfaces: keys.interfaces(),
          cache: keys.cache,
          feeds: keys.feeds(),
          redis: store.connection,
          instances: store.instances,
          sockets: sockets.count,
          tenants: keys.tenantCount(),
        }),
    },
    waveforms: (request, response, operation) => sendWaveform(request, response, operation, log),
    leaving: leaving.signal,
  });
  const sockets = attachWebSockets(server, {
    ...shared,
    maxBodyBytes: limits.maxBodyBytes,
    socketsPerClient: options.socketsPerClient ?? 12_000,
  });

  async function release(): Promise<void> {
    sockets.close();
    metrics.close();
    await keys.close();
    await store.close();
    await exporter?.close();
    await sandbox?.close();
  }
  if (sandbox && store.connection)
    log.warn(
      {},
      'REDIS_URL is set on the sandbox, of which each instance has its own: there is nothing to share',
    );
  await store.settled;
  const { port, url } = await listen(server, config.port, config.host).catch(async (error) => {
    await release();
    throw error;
  });
  log.info({ url, version, sandbox: sandbox !== null, auth: config.auth.mode }, 'Listening');

  let closing: Promise<void> | null = null;
  function close(graceMs = usualGraceMs): Promise<void> {
    closing ??= drain({ server, sockets, leaving, graceMs }).finally(release);
    return closing;
  }
  return { url, port, close, [Symbol.asyncDispose]: () => close() };
}

function each(told: readonly (OnFinished | undefined)[]): OnFinished {
  return (operation, finished) => {
    for (const tell of told) tell?.(operation, finished);
  };
}

type OnRequest = KeysOptions['onRequest'];

function bothEnds(first: OnRequest, second: OnRequest): OnRequest {
  return (request) => {
    const ends = [first(request), second(request)];
    return (end) => {
      for (const tell of ends) tell(end);
    };
  };
}
