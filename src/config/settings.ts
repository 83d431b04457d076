import { dayMs, minuteMs } from '../clock.js';
import { limits } from '../limits.js';
import { logLevels } from '../log.js';
import { inLowerCaseToo, perSignal, secret, setting } from './setting.js';
import {
  baseUrl,
  bytes,
  fileList,
  flag,
  headerNames,
  headerPairs,
  headerText,
  hostName,
  httpUrl,
  integer,
  offOr,
  oneOf,
  originList,
  projectKey,
  proxyUrl,
  readableFile,
  redisUrl,
  text,
  tokenList,
} from './value-parsers.js';

/**
 * The one table of settings (docs/behaviour.md 2): parsing, defaults, checks, `--help` and the table of
 * docs/operations.md all come from it. Rules across several settings are checked in `config.ts`.
 */
export const settings = {
  HOST: setting('Address to listen on', hostName, '127.0.0.1'),
  PORT: setting(
    'Port to listen on; 0 takes a free one, which the log line at the start names',
    integer(0, 65535),
    4000,
  ),
  PROJECT_API_URL: setting(
    'Address of the key-scoped (project) interface, without `/v1`; it can have a path prefix',
    baseUrl('/v1'),
    null,
  ),
  PROJECT_API_KEY: secret('Its key, which starts with `svc_sk_`', projectKey),
  CATALOGUE_API_URL: setting('Address of the catalogue interface, without `/v1`', baseUrl('/v1'), null),
  CATALOGUE_API_KEY: secret('Its key', headerText),
  SANDBOX: setting(
    'Serve the embedded sandbox interfaces and use them',
    flag,
    null,
    'true when neither URL is set',
  ),
  AUTH_MODE: setting(
    'Who may read: `none` (anyone), `token`, `jwt`, or `passthrough` (clients bring upstream keys)',
    oneOf('none', 'token', 'jwt', 'passthrough'),
    'none',
  ),
  ALLOW_ANONYMOUS: setting('Allow `AUTH_MODE=none` on a HOST that is not loopback', flag, false),
  GATEWAY_TOKENS: secret(
    'Client tokens for `AUTH_MODE=token`, comma-separated, of at least 16 characters',
    tokenList,
  ),
  JWT_JWKS_URL: setting('Where the keys of the token issuer are, for `AUTH_MODE=jwt`', httpUrl, null),
  JWT_ISSUER: setting('The `iss` that a JWT must have', text, null),
  JWT_AUDIENCE: setting('The `aud` that a JWT must have', text, null),
  PROJECT_RATE_PER_MINUTE: setting('Upstream requests per minute and project key', integer(1, 1e6), 60),
  PROJECT_RATE_BURST: setting('Upstream requests at once per project key', integer(1, 1e6), 20),
  CATALOGUE_TIER: setting(
    'Rate limit of the catalogue: `free` 60/min and 10,000/day, `standard` 300/min and 100,000/day, `premium` 1,000/min; ' +
      "upstream's own rate headers win over it",
    oneOf('free', 'standard', 'premium'),
    'free',
  ),
  UPSTREAM_TIMEOUT_MS: setting(
    'Longest time of one upstream attempt, in ms',
    integer(1, 10 * minuteMs),
    10_000,
  ),
  UPSTREAM_MAX_WAIT_MS: setting(
    'Longest wait for the rate limit before a client gets UPSTREAM_RATE_LIMITED, in ms',
    integer(0, 10 * minuteMs),
    5_000,
  ),
  UPSTREAM_MAX_DEFERRED_WAIT_MS: setting(
    'The same for a part of an answer that its client deferred (`@defer`, `@stream`); UPSTREAM_MAX_WAIT_MS where that is longer',
    integer(0, 10 * minuteMs),
    minuteMs,
  ),
  TRIGGER_POLL_INTERVAL_MS: setting(
    'Trigger feed while someone listens, in ms; 3 s at most while a young trigger is open',
    integer(250, dayMs),
    5_000,
  ),
  TRIGGER_LOOKBACK_S: setting('Look-back window of each trigger poll, in s', integer(1, dayMs / 1000), 600),
  EVENT_POLL_INTERVAL_MS: setting('Event feed, in ms', integer(250, dayMs), 10_000),
  SENSOR_POLL_INTERVAL_MS: setting('Sensor status feed, in ms', integer(250, dayMs), 30_000),
  CACHE_MAX_BYTES: setting(
    'Upper bound of all that is cached, as a number of bytes or with a unit (`64 MiB`)',
    bytes,
    64 * 1024 * 1024,
    '64 MiB',
  ),
  REDIS_URL: secret(
    'Redis (`redis://` or `rediss://`) through which instances share cache, budget and feeds',
    redisUrl,
  ),
  HTTPS_PROXY: inLowerCaseToo(
    secret(
      'Proxy for upstream and `JWT_JWKS_URL` where their addresses are https; `HTTP_PROXY` when unset',
      proxyUrl,
    ),
  ),
  HTTP_PROXY: inLowerCaseToo(secret('Proxy for the addresses that are http', proxyUrl)),
  NO_PROXY: inLowerCaseToo(
    setting(
      'Hosts that are asked without a proxy, comma-separated, with their subdomains; `*` is all',
      text,
      '',
      'none',
    ),
  ),
  CORS_ORIGINS: setting(
    'Origins whose pages may read, comma-separated, or `*`; also for WebSocket upgrades. With `AUTH_MODE=none` their hosts may be in `Host`, as no other DNS name may',
    originList,
    [],
    'none',
  ),
  CORS_HEADERS: setting(
    'Request headers that pages of these origins may send, comma-separated, beside those of common clients',
    headerNames,
    [],
    'none',
  ),
  GRAPHIQL: setting('Serve GraphiQL to browsers at `/graphql`', flag, true),
  INTROSPECTION: setting('Answer introspection, and suggest names in errors', flag, true),
  PERSISTED_OPERATIONS: setting(
    'Operations by SHA-256 id from `schema/operations/`: `off`, `allow` (others too, and APQ), `only`',
    oneOf('off', 'allow', 'only'),
    'off',
  ),
  PERSISTED_OPERATIONS_FILE: setting(
    'Manifests of further operations, comma-separated: of Relay, Apollo or the client preset; read again on SIGHUP',
    fileList,
    [],
    'none',
  ),
  MAX_DEPTH: setting('Deepest nesting of a query; introspection is exempt', integer(1, 1_000), limits.depth),
  MAX_ALIASES: setting('Most aliases in a query', integer(0, 100_000), limits.aliases),
  MAX_TOKENS: setting('Most lexical tokens in a document', integer(1, 1_000_000), limits.tokens),
  MAX_BODY_BYTES: setting(
    'Largest request body or WebSocket message, as a number of bytes or with a unit (`256 KiB`)',
    bytes,
    limits.bodyBytes,
    '256 KiB',
  ),
  MAX_COST: setting(
    'Most upstream requests that one operation may need at worst',
    integer(1, 1e6),
    limits.upstreamRequests,
  ),
  CLIENT_RATE_PER_MINUTE: setting(
    'Operations per minute and client (token, subject, key or address)',
    offOr(integer(1, 1e6)),
    null,
    'off',
  ),
  ANSWER_CACHE: setting(
    'Cache whole answers, for as long as computing them again would give the same',
    flag,
    true,
  ),
  WORKERS: setting('Processes behind the port, which share cache, budget and feeds', integer(1, 64), 1),
  FEDERATION: setting('Serve the graph as a subgraph of Apollo Federation 2', flag, false),
  DASHBOARD: setting('Serve the dashboard at `/dashboard`', flag, null, 'true with the sandbox'),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    'Collector of traces (OTLP over HTTP), without `/v1/traces`; no tracing when unset',
    baseUrl('/v1/traces'),
    null,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(
    'Collector of traces with the whole path, in place of the other',
    httpUrl,
    null,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    'Headers for the collector, as `name=value,name=value`, URL-encoded',
    headerPairs,
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: secret(
    'Headers for the collector that win over the others',
    headerPairs,
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: perSignal(
    'Encoding of traces: `http/json` or `http/protobuf`',
    oneOf('http/json', 'http/protobuf'),
    'http/json',
  ),
  // The SDK reads the following, and objects at the start to most wrong values.
  OTEL_EXPORTER_OTLP_COMPRESSION: perSignal('Compression of traces: `none` or `gzip`', text, 'none'),
  OTEL_EXPORTER_OTLP_TIMEOUT: perSignal(
    'Longest time to send a batch of spans, retries included, in ms',
    text,
    '10000',
  ),
  OTEL_EXPORTER_OTLP_CERTIFICATE: perSignal(
    'File of the certificates (PEM) to trust a collector by, over https',
    readableFile,
    null,
  ),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: perSignal(
    'File of a client certificate (PEM) for the collector',
    readableFile,
    null,
  ),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: perSignal(
    'File of the key (PEM) of this client certificate',
    readableFile,
    null,
  ),
  OTEL_SERVICE_NAME: setting('Name of this service in traces', text, 'seisgraph'),
  OTEL_RESOURCE_ATTRIBUTES: setting(
    'Attributes of this service in traces, as `name=value,name=value`, URL-encoded',
    text,
    null,
  ),
  OTEL_TRACES_SAMPLER: setting(
    'Operations to trace: `always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`, which ' +
      "follows the client's `traceparent` where there is one",
    text,
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: setting('The part that a `traceidratio` traces, from 0 to 1', text, null),
  OTEL_BSP_SCHEDULE_DELAY: setting('Time between two batches of spans, in ms', integer(1, 600_000), 5_000),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: setting('Most spans in a batch', integer(1, 100_000), 512),
  OTEL_BSP_MAX_QUEUE_SIZE: setting('Most spans that wait; more are dropped', integer(1, 1e6), 2_048),
  OTEL_BSP_EXPORT_TIMEOUT: setting(
    'Time after which the next batch of spans no longer waits for the one before, in ms',
    integer(1, 600_000),
    30_000,
  ),
  OTEL_TRACES_EXPORTER: setting('`otlp`, or `none` for no tracing', oneOf('otlp', 'none'), 'otlp'),
  OTEL_SDK_DISABLED: setting('`true` for no tracing', flag, false),
  LOG_LEVEL: setting(
    'Lines on standard output: `silent`, `error`, `warn`, `info`, `debug`',
    oneOf(...logLevels),
    'info',
  ),
};

export type SettingName = keyof typeof settings;
export type Settings = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['parse']> };
