import type { LogLevel } from '../log.js';
import { ConfigError, type Environment, readSettings } from './environment.js';
import { type Misspelt, misspelt } from './misspelt.js';
import type { SettingName, Settings } from './settings.js';
import { isLoopback, settingsWithoutEffect, type WithoutEffect } from './without-effect.js';

export { ConfigError };

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Null where the interface is not configured, and with the sandbox, which has its own addresses and keys. */
  readonly project: InterfaceConfig | null;
  readonly catalogue: InterfaceConfig | null;
  readonly sandbox: boolean;
  readonly auth: AuthConfig;
  readonly projectRate: { readonly perMinute: number; readonly burst: number };
  readonly catalogueTier: Settings['CATALOGUE_TIER'];
  readonly upstreamTimeoutMs: number;
  readonly upstreamMaxWaitMs: number;
  readonly upstreamMaxDeferredWaitMs: number;
  readonly feeds: FeedConfig;
  readonly cacheMaxBytes: number;
  readonly corsOrigins: readonly string[] | '*';
  readonly corsHeaders: readonly string[];
  readonly graphiql: boolean;
  readonly dashboard: boolean;
  readonly introspection: boolean;
  readonly persistedOperations: Settings['PERSISTED_OPERATIONS'];
  readonly persistedOperationsFiles: readonly string[];
  readonly limits: LimitConfig;
  /** Serve the graph as a subgraph of a federation. */
  readonly federation: boolean;
  /** Null: no limit. */
  readonly clientRatePerMinute: number | null;
  /** Cache whole GraphQL answers. */
  readonly answerCache: boolean;
  /** Processes behind the port. */
  readonly workers: number;
  /** Null: instances share nothing. Can hold a password. */
  readonly redisUrl: string | null;
  /** Null: upstream is asked without a proxy. Can hold passwords. */
  readonly proxies: Proxies | null;
  /** Null: no tracing. */
  readonly tracing: TracingConfig | null;
  readonly logLevel: LogLevel;
}

export interface InterfaceConfig {
  /** Without `/v1` and without a slash at the end. */
  readonly url: string;
  /** Null in `passthrough`, where clients send their own. */
  readonly key: string | null;
}

/** Addresses of proxies, as undici takes them: empty where there is none. */
export interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  /** Hosts that are asked without a proxy. */
  readonly noProxy: string;
}

export type AuthConfig =
  | { readonly mode: 'none' }
  /** `file` is read again when it changes. */
  | { readonly mode: 'token'; readonly tokens: readonly string[]; readonly file: string | null }
  | { readonly mode: 'jwt'; readonly jwksUrl: string; readonly issuer: string; readonly audience: string }
  | { readonly mode: 'passthrough' };

export interface FeedConfig {
  readonly triggerPollIntervalMs: number;
  readonly triggerLookbackS: number;
  readonly eventPollIntervalMs: number;
  readonly sensorPollIntervalMs: number;
}

/** The SDK of OpenTelemetry reads the other settings of traces from the environment itself. */
export interface TracingConfig {
  /** With its path. */
  readonly url: string;
  readonly protocol: Settings['OTEL_EXPORTER_OTLP_PROTOCOL'];
  /** Can hold keys. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface LimitConfig {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxTokens: number;
  readonly maxBodyBytes: number;
  readonly maxCost: number;
}

/** The environment as a checked configuration; throws `ConfigError`. The only reader of `process.env`. */
export function parseConfig(env: Environment = process.env): Config {
  const values = readSettings(env);
  const sandbox = sandboxWanted(values);
  return {
    host: values.HOST,
    port: values.PORT,
    project: interfaceConfig('PROJECT', values),
    catalogue: interfaceConfig('CATALOGUE', values),
    sandbox,
    auth: authConfig(values, env),
    projectRate: { perMinute: values.PROJECT_RATE_PER_MINUTE, burst: values.PROJECT_RATE_BURST },
    catalogueTier: values.CATALOGUE_TIER,
    upstreamTimeoutMs: values.UPSTREAM_TIMEOUT_MS,
    upstreamMaxWaitMs: values.UPSTREAM_MAX_WAIT_MS,
    upstreamMaxDeferredWaitMs: Math.max(values.UPSTREAM_MAX_WAIT_MS, values.UPSTREAM_MAX_DEFERRED_WAIT_MS),
    feeds: {
      triggerPollIntervalMs: values.TRIGGER_POLL_INTERVAL_MS,
      triggerLookbackS: values.TRIGGER_LOOKBACK_S,
      eventPollIntervalMs: values.EVENT_POLL_INTERVAL_MS,
      sensorPollIntervalMs: values.SENSOR_POLL_INTERVAL_MS,
    },
    cacheMaxBytes: values.CACHE_MAX_BYTES,
    corsOrigins: values.CORS_ORIGINS,
    corsHeaders: corsHeaders(values),
    graphiql: values.GRAPHIQL,
    dashboard: dashboard(values, sandbox),
    introspection: values.INTROSPECTION,
    persistedOperations: values.PERSISTED_OPERATIONS,
    persistedOperationsFiles: manifestFiles(values),
    limits: {
      maxDepth: values.MAX_DEPTH,
      maxAliases: values.MAX_ALIASES,
      maxTokens: values.MAX_TOKENS,
      maxBodyBytes: values.MAX_BODY_BYTES,
      maxCost: values.MAX_COST,
    },
    federation: federation(values),
    clientRatePerMinute: values.CLIENT_RATE_PER_MINUTE,
    answerCache: values.ANSWER_CACHE,
    workers: values.WORKERS,
    redisUrl: values.REDIS_URL,
    proxies: proxies(values),
    tracing: tracingConfig(values),
    logLevel: values.LOG_LEVEL,
  };
}

/** Variables that set nothing but look like a misspelt setting. */
export function misspeltSettings(env: Environment = process.env): readonly Misspelt[] {
  return misspelt(Object.keys(env));
}

/** Variables that are set and that the other settings leave without effect. */
export function unusedSettings(config: Config, env: Environment = process.env): readonly WithoutEffect[] {
  return settingsWithoutEffect(config, env);
}

function sandboxWanted(values: Settings): boolean {
  const urls = (['PROJECT_API_URL', 'CATALOGUE_API_URL'] as const).filter((name) => values[name] !== null);
  if (values.SANDBOX === true && urls.length > 0) {
    throw new ConfigError('SANDBOX', `is true and ${urls.join(' and ')} is set: choose one`);
  }
  if (urls.length > 0) return false;
  if (values.SANDBOX === false) {
    throw new ConfigError('SANDBOX', 'is false: then PROJECT_API_URL or CATALOGUE_API_URL must be set');
  }
  // A key without a URL is a mistake: falling back to the sandbox would pass sandbox data off as real.
  for (const source of ['PROJECT', 'CATALOGUE'] as const) {
    if (values[`${source}_API_KEY`] !== null && values.SANDBOX === null) {
      throw new ConfigError(`${source}_API_URL`, `must be set where ${source}_API_KEY is`);
    }
  }
  return true;
}

function manifestFiles(values: Settings): readonly string[] {
  const { PERSISTED_OPERATIONS: mode, PERSISTED_OPERATIONS_FILE: files } = values;
  if (files.length > 0 && mode === 'off')
    throw new ConfigError('PERSISTED_OPERATIONS_FILE', 'has no effect while PERSISTED_OPERATIONS is off');
  return files;
}

function federation({ FEDERATION: isSubgraph, PERSISTED_OPERATIONS: mode }: Settings): boolean {
  if (isSubgraph && mode === 'only')
    throw new ConfigError(
      'FEDERATION',
      'is true, and a router writes its operations itself: PERSISTED_OPERATIONS must not be only',
    );
  return isSubgraph;
}

function dashboard({ DASHBOARD: wanted, PERSISTED_OPERATIONS: mode }: Settings, sandbox: boolean): boolean {
  if (wanted === true && mode === 'only')
    throw new ConfigError(
      'DASHBOARD',
      'is true, and its operations are not in schema/operations: PERSISTED_OPERATIONS must not be only',
    );
  return wanted ?? (sandbox && mode !== 'only');
}

function proxies({ HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: noProxy }: Settings): Proxies | null {
  if (http === null && https === null) return null;
  return { httpProxy: http ?? '', httpsProxy: https ?? '', noProxy };
}

function corsHeaders({ CORS_ORIGINS: origins, CORS_HEADERS: headers }: Settings): readonly string[] {
  if (headers.length > 0 && origins.length === 0)
    throw new ConfigError('CORS_HEADERS', 'has no effect unless CORS_ORIGINS names an origin');
  return headers;
}

function tracingConfig(values: Settings): TracingConfig | null {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base === null ? null : `${base}/v1/traces`);
  if (url === null || values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none') return null;
  const most = values.OTEL_BSP_MAX_QUEUE_SIZE;
  if (values.OTEL_BSP_MAX_EXPORT_BATCH_SIZE > most)
    throw new ConfigError(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      `must be at most OTEL_BSP_MAX_QUEUE_SIZE, ${most}`,
    );
  const [key, certificate] = [
    'OTEL_EXPORTER_OTLP_CLIENT_KEY',
    'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  ] as const;
  if ((values[key] === null) !== (values[certificate] === null))
    throw new ConfigError(
      values[key] === null ? key : certificate,
      'must be set too: a key goes with its certificate',
    );
  return {
    url,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: { ...values.OTEL_EXPORTER_OTLP_HEADERS, ...values.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
  };
}

function interfaceConfig(source: 'PROJECT' | 'CATALOGUE', values: Settings): InterfaceConfig | null {
  const url = values[`${source}_API_URL`];
  if (url === null) return null;
  if (values.AUTH_MODE === 'passthrough') return { url, key: null };
  const key = values[`${source}_API_KEY`];
  if (key === null) throw new ConfigError(`${source}_API_KEY`, `must be set where ${source}_API_URL is`);
  return { url, key };
}

function authConfig(values: Settings, env: Environment): AuthConfig {
  const { AUTH_MODE: mode, GATEWAY_TOKENS: tokens } = values;
  const jwt = ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const;
  // Ignoring these silently would leave an operator believing that clients are authenticated.
  if (mode !== 'token') refuseIn(mode, 'token', ['GATEWAY_TOKENS'], values);
  if (mode !== 'jwt') refuseIn(mode, 'jwt', jwt, values);
  switch (mode) {
    case 'none':
      if (!isLoopback(values.HOST) && !values.ALLOW_ANONYMOUS) {
        throw new ConfigError(
          'AUTH_MODE',
          `must not be none on HOST ${values.HOST}, which others can reach, unless ALLOW_ANONYMOUS=true`,
        );
      }
      return { mode };
    case 'token':
      if (tokens === null) throw new ConfigError('GATEWAY_TOKENS', 'must be set for AUTH_MODE=token');
      return { mode, tokens, file: env.GATEWAY_TOKENS_FILE?.trim() || null };
    case 'jwt':
      return {
        mode,
        jwksUrl: needed('JWT_JWKS_URL', values),
        issuer: needed('JWT_ISSUER', values),
        audience: needed('JWT_AUDIENCE', values),
      };
    case 'passthrough':
      return { mode };
  }
}

function needed(name: 'JWT_JWKS_URL' | 'JWT_ISSUER' | 'JWT_AUDIENCE', values: Settings): string {
  const value = values[name];
  if (value === null) throw new ConfigError(name, 'must be set for AUTH_MODE=jwt');
  return value;
}

function refuseIn(mode: string, owner: string, names: readonly SettingName[], values: Settings): void {
  for (const name of names) {
    if (values[name] !== null) {
      throw new ConfigError(name, `is only for AUTH_MODE=${owner}, and AUTH_MODE is ${mode}`);
    }
  }
}
