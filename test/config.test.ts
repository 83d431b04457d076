import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { misspeltSettings, parseConfig, unusedSettings } from '../src/config/config.js';
import { ConfigError } from '../src/config/environment.js';
import { secretsOf } from '../src/config/secrets.js';
import { settings } from '../src/config/settings.js';
import { renderHelp, renderMarkdownTable } from '../src/config/settings-text.js';

const folder = mkdtempSync(join(tmpdir(), 'seisgraph-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(content: string): string {
  const name = join(folder, `${Math.random()}`);
  writeFileSync(name, content);
  return name;
}

function refusal(env: Record<string, string>): ConfigError {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const project = { PROJECT_API_URL: 'https://one.example/api', PROJECT_API_KEY: 'svc_sk_secret1' };
const catalogue = { CATALOGUE_API_URL: 'http://two.example/', CATALOGUE_API_KEY: 'catalogue-secret' };
const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example/' };

describe('configuration', () => {
  it('serves the sandbox on loopback when nothing is set', () => {
    expect(parseConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      sandbox: true,
      project: null,
      catalogue: null,
      auth: { mode: 'none' },
      projectRate: { perMinute: 60, burst: 20 },
      catalogueTier: 'free',
      cacheMaxBytes: 67_108_864,
      corsOrigins: [],
      limits: { maxDepth: 15, maxAliases: 30, maxTokens: 2000, maxBodyBytes: 262_144, maxCost: 200 },
      clientRatePerMinute: null,
    });
  });

  it('uses the interfaces that are named, and then no sandbox', () => {
    expect(parseConfig({ ...project, ...catalogue })).toMatchObject({
      sandbox: false,
      project: { url: 'https://one.example/api', key: 'svc_sk_secret1' },
      catalogue: { url: 'http://two.example', key: 'catalogue-secret' },
    });
    expect(parseConfig(project).catalogue).toBeNull();
  });

  it('takes a variable that is set to nothing as not set', () => {
    expect(parseConfig({ PORT: '', PROJECT_API_URL: ' ' })).toMatchObject({ port: 4000, sandbox: true });
  });

  it.each([
    ['HOST', { HOST: '[::1]' }],
    ['HOST', { HOST: 'a\nb' }],
    ['PORT', { PORT: '70000' }],
    ['PORT', { PORT: '40x' }],
    ['PORT', { PORT: '-1' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'https://one.example/v1' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'https://one.example/api/v1/' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'one.example' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'file:///etc/passwd' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'https://user:pw@one.example' }],
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'https://one.example/?x=1' }],
    ['PROJECT_API_URL', { PROJECT_API_KEY: 'svc_sk_a' }],
    ['PROJECT_API_KEY', { PROJECT_API_URL: 'https://one.example' }],
    ['PROJECT_API_KEY', { ...project, PROJECT_API_KEY: 'sk_a' }],
    ['CATALOGUE_API_KEY', { CATALOGUE_API_URL: 'https://two.example' }],
    ['CATALOGUE_API_KEY', { ...catalogue, CATALOGUE_API_KEY: 'two words' }],
    ['SANDBOX', { SANDBOX: 'perhaps' }],
    ['SANDBOX', { SANDBOX: 'false' }],
    ['SANDBOX', { ...project, SANDBOX: 'true' }],
    ['AUTH_MODE', { AUTH_MODE: 'basic' }],
    ['AUTH_MODE', { HOST: '0.0.0.0' }],
    ['AUTH_MODE', { HOST: 'gateway.example' }],
    ['GATEWAY_TOKENS', { AUTH_MODE: 'token' }],
    ['GATEWAY_TOKENS', { AUTH_MODE: 'token', GATEWAY_TOKENS: ' , ' }],
    ['GATEWAY_TOKENS', { GATEWAY_TOKENS: 'token-that-is-long-enough' }],
    ['GATEWAY_TOKENS', { AUTH_MODE: 'token', GATEWAY_TOKENS: 'a' }],
    ['GATEWAY_TOKENS', { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-that-is-long-enough,fifteen-letters' }],
    [
      'GATEWAY_TOKENS',
      { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-that-is-long-enough, token-that-is-long-enough' },
    ],
    // Pasted over two lines: a client that sends the whole token would be refused.
    [
      'GATEWAY_TOKENS',
      { AUTH_MODE: 'token', GATEWAY_TOKENS: 'first-half-of-a-token\nsecond-half-of-a-token' },
    ],
    // An address loses its line breaks when it is parsed, and would be another one.
    ['PROJECT_API_URL', { ...project, PROJECT_API_URL: 'https://one.exam\nple' }],
    ['REDIS_URL_FILE', { REDIS_URL_FILE: fileWith('redis://local\r\nhost') }],
    [
      'JWT_AUDIENCE',
      { AUTH_MODE: 'jwt', JWT_JWKS_URL: 'https://id.example', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a\nb' },
    ],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://one.example,\nhttps://two.example' }],
    ['OTEL_SERVICE_NAME', { ...collector, OTEL_SERVICE_NAME: 'one\ntwo' }],
    ['REDIS_URL', { REDIS_URL: 'redis://localhost/first' }],
    ['REDIS_URL', { REDIS_URL: 'redis://localhost/0?family=6' }],
    ['REDIS_URL', { REDIS_URL: 'redis://:100%@localhost' }],
    ['JWT_JWKS_URL', { AUTH_MODE: 'jwt', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' }],
    ['JWT_ISSUER', { AUTH_MODE: 'jwt', JWT_JWKS_URL: 'https://id.example/jwks', JWT_AUDIENCE: 'a' }],
    ['JWT_AUDIENCE', { AUTH_MODE: 'jwt', JWT_JWKS_URL: 'https://id.example/jwks', JWT_ISSUER: 'i' }],
    ['JWT_ISSUER', { JWT_ISSUER: 'i' }],
    ['CATALOGUE_TIER', { CATALOGUE_TIER: 'gold' }],
    ['TRIGGER_POLL_INTERVAL_MS', { TRIGGER_POLL_INTERVAL_MS: '249' }],
    ['EVENT_POLL_INTERVAL_MS', { EVENT_POLL_INTERVAL_MS: '0' }],
    ['SENSOR_POLL_INTERVAL_MS', { SENSOR_POLL_INTERVAL_MS: '1e3' }],
    ['TRIGGER_LOOKBACK_S', { TRIGGER_LOOKBACK_S: '86401' }],
    ['UPSTREAM_TIMEOUT_MS', { UPSTREAM_TIMEOUT_MS: '0' }],
    ['CACHE_MAX_BYTES', { CACHE_MAX_BYTES: '0' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: ' , ' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'example.org' }],
    ['PERSISTED_OPERATIONS_FILE', { PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: ' , ' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://example.org/path' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://example.org,*' }],
    ['GRAPHIQL', { GRAPHIQL: 'on' }],
    ['PERSISTED_OPERATIONS', { PERSISTED_OPERATIONS: 'yes' }],
    ['MAX_COST', { MAX_COST: '0' }],
    ['CLIENT_RATE_PER_MINUTE', { CLIENT_RATE_PER_MINUTE: '0' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example/v1/traces' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example?key=x' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'grpc://c.example' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...collector, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', { ...collector, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' }],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', { ...collector, OTEL_EXPORTER_OTLP_CERTIFICATE: '/no/such' }],
    [
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
      { ...collector, OTEL_EXPORTER_OTLP_CLIENT_KEY: 'package.json' },
    ],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'api-key' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=%' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=%0A' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'api key=x' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'Content-Type=text/plain' }],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { ...collector, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0' }],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { ...collector, OTEL_BSP_MAX_QUEUE_SIZE: '100' }],
    ['OTEL_TRACES_EXPORTER', { ...collector, OTEL_TRACES_EXPORTER: 'zipkin' }],
    ['OTEL_SDK_DISABLED', { ...collector, OTEL_SDK_DISABLED: 'perhaps' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
    ['REDIS_URL', { REDIS_URL: 'localhost:6379' }],
    ['REDIS_URL', { REDIS_URL: 'http://localhost' }],
    ['HTTP_PROXY', { HTTP_PROXY: 'proxy.example:3128' }],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'socks5://proxy.example' }],
    ['https_proxy', { HTTPS_PROXY: 'http://proxy.example', https_proxy: 'http://proxy.example/path' }],
    ['http_proxy', { http_proxy: 'http://me@proxy.example' }],
    ['HTTP_PROXY', { HTTP_PROXY: 'http://me:100%@proxy.example' }],
    ['WORKERS', { WORKERS: '0' }],
    ['WORKERS', { WORKERS: '65' }],
    ['WORKERS', { WORKERS: 'all' }],
    ['DASHBOARD', { DASHBOARD: 'true', PERSISTED_OPERATIONS: 'only' }],
    ['FEDERATION', { FEDERATION: 'true', PERSISTED_OPERATIONS: 'only' }],
  ])('stops at a wrong %s with one line that names it: %o', (variable, env) => {
    const { message } = refusal(env);
    expect(message.split(' ')[0]).toBe(variable);
    expect(message).not.toContain('\n');
  });

  it('serves the dashboard with the sandbox, and otherwise where it is wanted', () => {
    const served = (env: Record<string, string>) => parseConfig(env).dashboard;
    expect(served({})).toBe(true);
    expect(served({ DASHBOARD: 'false' })).toBe(false);
    expect(served({ PERSISTED_OPERATIONS: 'only' })).toBe(false);
    expect(served(project)).toBe(false);
    expect(served({ ...project, DASHBOARD: 'true' })).toBe(true);
  });

  it('never repeats a secret in a refusal', () => {
    const refusals = [
      refusal({ ...project, PROJECT_API_KEY: 'hunter2' }),
      refusal({ ...catalogue, CATALOGUE_API_KEY: 'hunter2 hunter2' }),
      refusal({ AUTH_MODE: 'token', GATEWAY_TOKENS: 'a-token-that-is-good,hunter2-hunter2-hunter2\u00e9' }),
      refusal({ ...project, PROJECT_API_URL: 'https://me:hunter2@one.example' }),
      refusal({ REDIS_URL: 'http://:hunter2@localhost' }),
      refusal({ ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'key=hunter2,hunter2' }),
      refusal({ ...collector, OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'key=hunter2%00' }),
      refusal({ HTTPS_PROXY: 'socks5://me:hunter2@localhost' }),
      refusal({ http_proxy: 'http://hunter2@localhost' }),
    ];
    for (const { message } of refusals) expect(message).not.toContain('hunter2');
  });

  it('allows anyone on a public address only when told so', () => {
    expect(parseConfig({ HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true' }).host).toBe('0.0.0.0');
    expect(
      parseConfig({ HOST: '0.0.0.0', AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-that-is-long-enough' }).auth
        .mode,
    ).toBe('token');
    for (const host of ['::1', 'localhost', '127.8.9.1']) expect(parseConfig({ HOST: host }).host).toBe(host);
  });

  it('reads every secret from a file too, and refuses one that is given twice', () => {
    const config = parseConfig({
      PROJECT_API_URL: 'https://one.example',
      PROJECT_API_KEY_FILE: fileWith('svc_sk_from_file\n'),
      CATALOGUE_API_URL: 'https://two.example',
      CATALOGUE_API_KEY_FILE: fileWith('  from-file '),
      AUTH_MODE: 'token',
      GATEWAY_TOKENS_FILE: fileWith('first-token-of-three\nsecond-token-of-three, third-token-of-three\n'),
      REDIS_URL_FILE: fileWith('redis://me:p%40ss@redis:6379\n'),
      ...collector,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: fileWith('authorization=Basic%20aGVhZGVy, x-tenant=one\n'),
    });
    expect(config).toMatchObject({
      redisUrl: 'redis://me:p%40ss@redis:6379',
      project: { key: 'svc_sk_from_file' },
      catalogue: { key: 'from-file' },
      auth: { tokens: ['first-token-of-three', 'second-token-of-three', 'third-token-of-three'] },
    });
    expect(secretsOf(config)).toEqual([
      'svc_sk_from_file',
      'from-file',
      'p@ss',
      'p%40ss',
      btoa('me:p@ss'),
      'first-token-of-three',
      'second-token-of-three',
      'third-token-of-three',
      'Basic aGVhZGVy',
      'aGVhZGVy',
    ]);

    const twice = refusal({ ...project, PROJECT_API_KEY_FILE: fileWith('svc_sk_b') });
    expect(twice.message).toBe('PROJECT_API_KEY_FILE and PROJECT_API_KEY are both set: set one');
    expect(refusal({ ...catalogue, CATALOGUE_API_KEY: '', CATALOGUE_API_KEY_FILE: '/no/such' }).message).toBe(
      'CATALOGUE_API_KEY_FILE names a file that cannot be read (ENOENT)',
    );
    expect(refusal({ AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: fileWith('\n') }).variable).toBe(
      'GATEWAY_TOKENS_FILE',
    );
  });

  it('reads proxies as other programs do: in lower case too, which wins, also where it is empty', () => {
    expect(parseConfig({ HTTP_PROXY: '', NO_PROXY: 'one.example' }).proxies).toBeNull();
    expect(parseConfig({ HTTP_PROXY: 'http://proxy.example', http_proxy: '' }).proxies).toBeNull();
    const config = parseConfig({
      HTTP_PROXY: 'http://proxy.example',
      https_proxy: 'http://me:p%40ss@proxy.example:3128/',
      no_proxy: 'one.example',
      NO_PROXY: '*',
    });
    expect(config.proxies).toEqual({
      httpProxy: 'http://proxy.example',
      httpsProxy: 'http://me:p%40ss@proxy.example:3128/',
      noProxy: 'one.example',
    });
    expect(secretsOf(config)).toEqual(['p@ss', 'p%40ss', btoa('me:p@ss')]);
  });

  it('needs no key of its own in passthrough', () => {
    expect(parseConfig({ AUTH_MODE: 'passthrough', PROJECT_API_URL: 'https://one.example' })).toMatchObject({
      auth: { mode: 'passthrough' },
      project: { key: null },
    });
    expect(parseConfig({ AUTH_MODE: 'passthrough', ...project }).project?.key).toBeNull();
  });

  it('reads sizes as bytes or with a unit, origins as a list or a star', () => {
    expect(parseConfig({ CACHE_MAX_BYTES: '1 MiB', MAX_BODY_BYTES: '1000' })).toMatchObject({
      cacheMaxBytes: 1_048_576,
      limits: { maxBodyBytes: 1000 },
    });
    expect(parseConfig({ CORS_ORIGINS: 'https://a.example, http://localhost:3000' }).corsOrigins).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ]);
    expect(parseConfig({ CORS_ORIGINS: '*' }).corsOrigins).toBe('*');
    expect(parseConfig({ CLIENT_RATE_PER_MINUTE: 'off' }).clientRatePerMinute).toBeNull();
  });

  it('takes the settings of traces in their own variables first', () => {
    expect(parseConfig(collector).tracing).toEqual({
      url: 'http://c.example/v1/traces',
      protocol: 'http/json',
      headers: {},
    });
    const tracing = {
      ...collector,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in?to=here',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=2%2C3==',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=4;5',
    };
    expect(parseConfig(tracing).tracing).toEqual({
      url: 'https://traces.example/in?to=here',
      protocol: 'http/protobuf',
      headers: { a: '4;5', b: '2,3==' },
    });
    expect(parseConfig({ ...tracing, OTEL_SDK_DISABLED: 'true' }).tracing).toBeNull();
    expect(parseConfig({ ...tracing, OTEL_TRACES_EXPORTER: 'none' }).tracing).toBeNull();
  });

  it('either accepts or names the variable, whatever a variable holds', () => {
    const names = Object.keys(settings);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary' })), (env) => {
        try {
          parseConfig(env);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          expect(String((error as Error).message)).not.toMatch(/[\r\n]/);
          expect(names).toContain((error as ConfigError).variable);
        }
      }),
    );
  });
});

describe('a variable that is no setting', () => {
  it.each([
    ['PROJCT_API_URL', 'PROJECT_API_URL'],
    ['PROJECT_APIKEY', 'PROJECT_API_KEY'],
    ['CATALOG_API_URL', 'CATALOGUE_API_URL'],
    ['GATEWAY_TOKEN_FILE', 'GATEWAY_TOKENS_FILE'],
    ['GRAPHIQL_', 'GRAPHIQL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['cors_origins', 'CORS_ORIGINS'],
    ['WOKRERS', 'WORKERS'],
  ])('is named with the one that is meant: %s', (variable, setting) => {
    expect(misspeltSettings({ [variable]: 'x' })).toEqual([{ variable, setting }]);
  });

  it('is nobody’s business where it is like none', () => {
    // What shells, systemd, containers, CI, editors and others of our kind set.
    const ordinary =
      'PATH HOME HOSTNAME HOSTTYPE HOSTS POST PORTS PWD OLDPWD SHELL SHLVL TERM LANG LC_ALL TZ USER LOGNAME MAIL TMPDIR ' +
      'EDITOR VISUAL PAGER DISPLAY SSH_AUTH_SOCK XDG_RUNTIME_DIR INVOCATION_ID JOURNAL_STREAM MAINPID NODE_ENV ' +
      'NODE_OPTIONS NODE_VERSION YARN_VERSION npm_config_cache npm_package_version npm_lifecycle_event CI GITHUB_TOKEN ' +
      'GITHUB_WORKSPACE RUNNER_TEMP KUBERNETES_SERVICE_HOST KUBERNETES_PORT HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy ftp_proxy FTP_PROXY ALL_PROXY DEBUG ' +
      'FORCE_COLOR NO_COLOR OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_PROTOCOL AUTH_URL LOG_FILE ' +
      'LOG_FORMAT DATABASE_URL PROJECT_ID PROJECT_NAME PROJECT_ROOT JWT_SECRET REDIS_HOST REDIS_PORT API_KEY MAX_MEMORY ' +
      'WORKER_ID SANDBOX_ID REQUIRE_SERVICES COMPOSE_PROJECT_NAME _';
    const env = Object.fromEntries(
      [...ordinary.split(' '), ...Object.keys(settings)].map((name) => [name, 'x']),
    );
    expect(misspeltSettings(env)).toEqual([]);
  });
});

describe('the settings table', () => {
  it('shows every variable in the help and in the Markdown table', () => {
    for (const name of Object.keys(settings)) {
      expect(renderHelp()).toContain(`  ${name}`);
      expect(renderMarkdownTable()).toContain(`| \`${name}\``);
    }
  });

  it('has every default that it shows', () => {
    for (const { fallback, shownDefault } of Object.values(settings)) {
      if (typeof fallback === 'number' && !/MiB|KiB/.test(shownDefault)) {
        expect(shownDefault).toBe(String(fallback));
      }
    }
  });
});

describe('a setting that has no effect', () => {
  it.each([
    ['PROJECT_API_KEY', { SANDBOX: 'true', PROJECT_API_KEY: 'svc_sk_a' }, 'the sandbox'],
    ['CATALOGUE_API_KEY', { ...project, CATALOGUE_API_KEY: 'a-key' }, 'no URL'],
    [
      'PROJECT_API_KEY_FILE',
      { ...project, AUTH_MODE: 'passthrough', PROJECT_API_KEY: '', PROJECT_API_KEY_FILE: 'x' },
      'clients',
    ],
    ['CATALOGUE_TIER', { ...project, CATALOGUE_TIER: 'premium' }, 'no catalogue'],
    ['PROJECT_RATE_PER_MINUTE', { ...catalogue, PROJECT_RATE_PER_MINUTE: '30' }, 'no project'],
    ['TRIGGER_LOOKBACK_S', { ...catalogue, TRIGGER_LOOKBACK_S: '60' }, 'no project'],
    ['EVENT_POLL_INTERVAL_MS', { ...catalogue, EVENT_POLL_INTERVAL_MS: '5000' }, 'once a minute'],
    ['SENSOR_POLL_INTERVAL_MS', { ...catalogue, SENSOR_POLL_INTERVAL_MS: '5000' }, 'once a minute'],
    ['PROJECT_RATE_BURST', { ...project, PROJECT_RATE_PER_MINUTE: '10', PROJECT_RATE_BURST: '11' }, '10'],
    ['UPSTREAM_MAX_DEFERRED_WAIT_MS', { UPSTREAM_MAX_DEFERRED_WAIT_MS: '4999' }, 'UPSTREAM_MAX_WAIT_MS'],
    ['ALL_PROXY', { ...project, ALL_PROXY: 'http://proxy.example' }, 'HTTPS_PROXY'],
    ['all_proxy', { ...project, all_proxy: 'http://proxy.example' }, 'HTTPS_PROXY'],
    [
      'no_proxy',
      { ...project, HTTPS_PROXY: 'http://proxy.example', no_proxy: 'one.example, 10.0.0.0/8' },
      '10.0.0.0/8',
    ],
    ['ALLOW_ANONYMOUS', { ALLOW_ANONYMOUS: 'true' }, 'only this machine'],
    ['OTEL_SERVICE_NAME', { OTEL_SERVICE_NAME: 'gateway' }, 'OTEL_EXPORTER_OTLP_ENDPOINT is not set'],
    ['OTEL_EXPORTER_OLTP_ENDPOINT', { OTEL_EXPORTER_OLTP_ENDPOINT: 'http://c.example' }, 'is not set'],
    ['OTEL_TRACES_EXPORTER', { OTEL_TRACES_EXPORTER: 'otlp' }, 'is not set'],
    ['OTEL_METRICS_EXPORTER', { ...collector, OTEL_METRICS_EXPORTER: 'otlp' }, 'traces alone'],
    ['OTEL_PROPAGATORS', { ...collector, OTEL_PROPAGATORS: 'b3' }, 'no such setting'],
    ['OTEL_TRACES_SAMPLER_ARG', { ...collector, OTEL_TRACES_SAMPLER_ARG: '0.1' }, 'no traceidratio'],
    [
      'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
      { ...collector, OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: 'package.json' },
      'not reached over https',
    ],
  ])('is named: %s', (variable, env, because) => {
    const file = { PROJECT_API_KEY_FILE: undefined };
    const config = parseConfig({ ...env, ...('PROJECT_API_KEY_FILE' in env ? file : {}) });
    expect(unusedSettings(config, env)).toEqual([{ variable, because: expect.stringContaining(because) }]);
  });

  it('is none where each has one', () => {
    for (const env of [
      {},
      project,
      { ...project, ...catalogue, CATALOGUE_TIER: 'free', TRIGGER_LOOKBACK_S: '60' },
      { ...project, EVENT_POLL_INTERVAL_MS: '5000', PROJECT_RATE_PER_MINUTE: '10' },
      { UPSTREAM_MAX_DEFERRED_WAIT_MS: '5000', ALL_PROXY: 'http://proxy.example' },
      {
        ...project,
        HTTPS_PROXY: 'http://proxy.example',
        NO_PROXY: '10.0.0.7',
        ALL_PROXY: 'socks5://a.example',
      },
      { ...project, NO_PROXY: '10.0.0.0/8' },
      {
        ...collector,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=1',
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '100',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.1',
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '3',
      },
      { ...collector, OTEL_SDK_DISABLED: 'true', OTEL_SERVICE_NAME: 'gateway' },
    ])
      expect(unusedSettings(parseConfig(env), env)).toEqual([]);
  });
});
