import { type Gateway, startGateway as startApp } from '../../src/app.js';
import type { Clock } from '../../src/clock.js';
import { parseConfig } from '../../src/config/config.js';
import { secretsOf } from '../../src/config/secrets.js';
import { createLog } from '../../src/log.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.js';
import { cleanUpAfterTests } from './clean-up.js';
import { SecretScan } from './secret-scan.js';
import { startSeveral } from './several-apps.js';

export interface TestGatewayOptions {
  /** Of the sandbox behind; `live: false` and the gateway's clock unless stated otherwise. */
  readonly sandbox?: SandboxOptions;
  /** A sandbox that the test started itself: it outlives the gateway. */
  readonly behind?: Sandbox;
  /** Which interfaces are configured; both unless stated otherwise. */
  readonly project?: boolean;
  readonly catalogue?: boolean;
  /** Settings on top, as the environment would give them; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** For jitter; none unless given. */
  readonly random?: () => number;
  readonly socketsPerClient?: number;
  /** Of `buildDashboard`. */
  readonly dashboardFolder?: URL;
  /** Only one process, also where the suite is run with WORKERS: the test looks at what one has in its memory. */
  readonly isAlone?: boolean;
}

export interface TestGateway extends AsyncDisposable {
  /** Without a path. */
  readonly url: string;
  readonly sandbox: Sandbox;
  /** What was logged, one parsed line each. */
  readonly logLines: readonly Record<string, unknown>[];
  /** The same as text, as it was written. */
  readonly logText: string;
  /** The answer's data; throws when the answer has errors. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by the shape of their own query
  query(document: string, variables?: object, options?: RequestOptions): Promise<any>;
  queryWithErrors(document: string, variables?: object, options?: RequestOptions): Promise<Answer>;
  /** Any request to the gateway, by path. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Reads PERSISTED_OPERATIONS_FILE again, as SIGHUP does. */
  reload(): void;
  /** With the time that what is in flight may take; none unless given. Fails when it has disclosed a secret. */
  close(graceMs?: number): Promise<void>;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly data?: any;
  readonly errors?: readonly AnswerError[];
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly extensions?: any;
  readonly status: number;
  readonly headers: Headers;
}

export interface AnswerError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly extensions: any;
}

/** A gateway on a free port, in front of a sandbox that the test holds: `await using gw = await startGateway();` */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { clock } = options;
  const sandbox =
    options.behind ?? (await startSandbox({ live: false, ...(clock && { clock }), ...options.sandbox }));
  const logTexts: string[] = [];
  const scan = new SecretScan(secretsUsed(sandbox, options.env));
  const config = parseConfig({ WORKERS: workersOf(options), ...environment(sandbox, options) });
  const log = createLog({
    level: config.logLevel,
    secrets: secretsOf(config),
    write(line) {
      logTexts.push(line);
      scan.add(line);
    },
  });
  const start = config.workers > 1 ? startSeveral : startApp;
  const gateway: Gateway = await start({
    config,
    log,
    random: options.random ?? (() => 0.5),
    ...(clock && { clock }),
    ...(options.socketsPerClient !== undefined && { socketsPerClient: options.socketsPerClient }),
    ...(options.dashboardFolder && { dashboardFolder: options.dashboardFolder }),
  });
  scan.scanServer(gateway.port);
  if (config.tracing !== null) scan.scanRequestsTo(Number(new URL(config.tracing.url).port));
  let closing: Promise<void> | null = null;
  const close = (graceMs = 0) => {
    closing ??= (async () => {
      await gateway.close(graceMs);
      if (!options.behind) await sandbox.close();
      scan.expectNone();
    })();
    return closing;
  };
  cleanUpAfterTests(() => close());

  const send = (path: string, init?: RequestInit) => fetch(`${gateway.url}${path}`, init);

  async function queryWithErrors(
    document: string,
    variables?: object,
    { headers, signal }: RequestOptions = {},
  ): Promise<Answer> {
    const response = await send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: document, variables }),
      ...(signal && { signal }),
    });
    const body = (await response.json()) as Omit<Answer, 'status' | 'headers'>;
    return { ...body, status: response.status, headers: response.headers };
  }

  return {
    url: gateway.url,
    sandbox,
    get logLines() {
      return logTexts.map((line) => JSON.parse(line));
    },
    get logText() {
      return logTexts.join('');
    },
    async query(document, variables, requestOptions) {
      const { data, errors } = await queryWithErrors(document, variables, requestOptions);
      if (errors) throw new Error(`The answer has errors: ${JSON.stringify(errors, null, 1)}`);
      return data;
    },
    queryWithErrors,
    fetch: send,
    reload: gateway.reload,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** `WORKERS=2 npm test` runs the whole suite with two processes' worth of gateway behind each port. */
function workersOf({ isAlone = false }: TestGatewayOptions): string {
  return isAlone ? '1' : (process.env.WORKERS ?? '1');
}

/** Keys, tokens and upstream addresses. */
function secretsUsed(sandbox: Sandbox, env: TestGatewayOptions['env'] = {}): readonly string[] {
  const { projectKey, maskedProjectKey, catalogueKey, projectUrl, catalogueUrl } = sandbox;
  const tokens = (env.GATEWAY_TOKENS ?? '').split(',');
  const { password } = new URL(env.REDIS_URL ?? 'redis:');
  const hosts = [projectUrl, catalogueUrl].map((url) => new URL(url).host);
  return [projectKey, maskedProjectKey, catalogueKey, password, ...tokens, ...hosts];
}

/** The environment of a gateway in front of this sandbox, on a free port. */
export function environment(
  sandbox: Sandbox,
  { project = true, catalogue = true, env = {} }: TestGatewayOptions = {},
): Record<string, string | undefined> {
  const withKeys = env.AUTH_MODE !== 'passthrough';
  return {
    PORT: '0',
    LOG_LEVEL: 'debug',
    // The suite holds with cached answers and without.
    ...(process.env.ANSWER_CACHE !== undefined && { ANSWER_CACHE: process.env.ANSWER_CACHE }),
    ...(project && { PROJECT_API_URL: sandbox.projectUrl }),
    ...(project && withKeys && { PROJECT_API_KEY: sandbox.projectKey }),
    ...(catalogue && { CATALOGUE_API_URL: sandbox.catalogueUrl }),
    ...(catalogue && withKeys && { CATALOGUE_API_KEY: sandbox.catalogueKey }),
    ...env,
  };
}
