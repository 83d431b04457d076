import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aHealthReport, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { addTrigger, quick } from '../live/live-gateway.js';
import { exampleLeftOut } from '../support/example.js';
import { startGateway } from '../support/gateway.js';
import { examples, type PageProcess, startPage } from './page-process.js';

interface Example {
  readonly script: string;
  readonly args?: readonly string[];
  /** Persisted operations as a site of this client would have them. */
  readonly env?: Readonly<Record<string, string>>;
  /** It shows what is known before what is read for each sensor. */
  readonly defers?: boolean;
  /** Headers that it adds by itself. */
  readonly headers?: readonly string[];
}

const wait = { timeout: 20_000 };
const device = '001A2B3C4D5E';
const origin = 'http://page.test';
const clientAwareness = ['apollographql-client-name', 'apollographql-client-version'];

const only = (manifest: string) => ({
  PERSISTED_OPERATIONS: 'only',
  PERSISTED_OPERATIONS_FILE: `${examples}${manifest}`,
});

const clients: Record<string, Example> = {
  'Apollo Client, with automatic persisted queries': {
    script: 'apollo/main.ts',
    env: { PERSISTED_OPERATIONS: 'allow' },
    headers: clientAwareness,
    defers: true,
  },
  'Apollo Client, with a manifest of its operations': {
    script: 'apollo/main.ts',
    args: ['manifest'],
    env: only('apollo/generated/manifest.json'),
    headers: clientAwareness,
    defers: true,
  },
  'urql with graphcache': { script: 'urql/main.ts' },
  'urql, whose operations alone are answered': {
    script: 'urql/main.ts',
    env: only('urql/generated/manifest.json'),
  },
  Relay: {
    script: 'relay/generated/main.mjs',
    env: only('relay/generated/manifest.json'),
    defers: true,
  },
  'the client preset of codegen': {
    script: 'codegen/main.ts',
    env: only('codegen/generated/persisted-documents.json'),
  },
};

/** Five closed triggers and a sensor with a battery. */
async function startWorld(): Promise<Sandbox> {
  const sandbox = await startSandbox({ live: false, rateLimits: false });
  const { project, catalogue } = sandbox.world;
  catalogue.sensors = [];
  project.sensors = [aSensor({ device_id: device, station: 'TEST' })];
  project.healthReports = {
    [device]: [aHealthReport({ timestamp: new Date().toISOString(), battery_volts: 3.9 })],
  };
  project.triggers = [1, 2, 3, 4, 5].map((id) =>
    aTrigger({ id, device_id: device, start_time: new Date(Date.now() - (10 - id) * 60_000).toISOString() }),
  );
  return sandbox;
}

const dayMs = 86_400_000;

const open = (example: Example, url: string): PageProcess =>
  startPage(example.script, [url, ...(example.args ?? [])]);

const leftOut = exampleLeftOut('clients');

describe.skipIf(leftOut)(`The clients of examples/clients${leftOut ? `: ${leftOut}` : ''}`, () => {
  beforeAll(() => {
    execFileSync(process.execPath, ['generate.mjs'], {
      cwd: examples,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }, 120_000);

  it('have types that hold', () => {
    const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
    const check = () => execFileSync(process.execPath, [tsc, '-p', examples], { encoding: 'utf8' });
    expect(check).not.toThrow();
  });

  it.each(Object.entries(clients))(
    '%s shows a list, its pages, and each change once, over a restart of the gateway',
    async (_name, example) => {
      await using sandbox = await startWorld();
      const env = { ...quick, ...example.env };
      const first = await startGateway({ behind: sandbox, env });
      await using page = open(example, first.url);
      const rows = () => page.shown('triggers').at(-1);
      const older = sandbox.world.project.triggers.find(({ id }) => id === 2);
      if (older) older.status = 'open';

      page.press('open');
      await expect.poll(rows, wait).toEqual(['5 CLOSED', '4 CLOSED']);
      // A trigger of a page that has not been read is not put before the first one.
      if (older) older.status = 'closed';
      await expect.poll(() => page.changes.length, wait).toBe(1);
      page.press('more');
      const twoPages = ['5 CLOSED', '4 CLOSED', '3 CLOSED', '2 CLOSED'];
      await expect.poll(rows, wait).toEqual(twoPages);

      const trigger = addTrigger(sandbox, { id: 6, device_id: device, status: 'open' });
      await expect.poll(rows, wait).toEqual(['6 OPEN', ...twoPages]);
      trigger.status = 'closed';
      await expect.poll(rows, wait).toEqual(['6 CLOSED', ...twoPages]);

      await first.close();
      addTrigger(sandbox, { id: 7, device_id: device });
      await using _second = await startGateway({
        behind: sandbox,
        env: { ...env, PORT: new URL(first.url).port },
      });
      await expect.poll(rows, wait).toEqual(['7 CLOSED', '6 CLOSED', ...twoPages]);
      // A subscription that began again where it first did would be sent what it had: a cache would not show it.
      expect(page.changes.map(({ triggerId, status }) => `${triggerId} ${status}`)).toEqual([
        '2 CLOSED',
        '6 OPEN',
        '6 CLOSED',
        '7 CLOSED',
      ]);

      const requestCount = page.requests.length;
      page.press('refetch');
      // With automatic persisted queries a gateway that has started again asks for the text as well.
      await expect.poll(() => page.requests.length, wait).toBeGreaterThan(requestCount);
      await expect.poll(rows, wait).toEqual(['7 CLOSED', '6 CLOSED']);
      addTrigger(sandbox, { id: 8, device_id: device });
      await expect.poll(rows, wait).toEqual(['8 CLOSED', '7 CLOSED', '6 CLOSED']);
      for (const shown of page.shown('triggers')) expect(new Set(shown).size).toBe(shown.length);
      expect(page.stderr).toBe('');
    },
    120_000,
  );

  it.each(Object.entries(clients))(
    '%s shows what could be read and why the rest could not, with headers that pages may send',
    async (_name, example) => {
      await using sandbox = await startWorld();
      const env = { ...quick, CORS_ORIGINS: origin, ...example.env };
      await using gw = await startGateway({ behind: sandbox, env });
      await using page = open(example, gw.url);
      const fault = sandbox.faults.add({
        source: 'project',
        path: /\/soh$/,
        times: 10,
        status: 429,
        headers: { 'retry-after': '7' },
        body: '{}',
      });
      page.press('batteries');
      if (example.defers) await expect.poll(() => page.shown('batteries').at(0), wait).toEqual(['TEST: …']);
      await expect
        .poll(() => page.shown('batteries').at(-1), wait)
        .toEqual([expect.stringMatching(/^TEST: busy, again in [67] s$/)]);
      fault.remove();
      // Beside those that a browser lets pass without asking, and those that it sets itself.
      const sent = page.requests.flatMap(({ headers }) => Object.keys(headers));
      const preflight = await gw.fetch('/graphql', { method: 'OPTIONS', headers: { origin } });
      const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ') ?? [];
      expect(sent.filter((name) => !allowed.includes(name))).toEqual([]);
      expect(sent).toEqual(expect.arrayContaining([...(example.headers ?? [])]));
      expect(page.stderr).toBe('');
    },
    120_000,
  );

  it.each(Object.entries(clients))(
    '%s reads its list again and follows it where its cursor has expired',
    async (_name, example) => {
      await using sandbox = await startWorld();
      const { triggers } = sandbox.world.project;
      const thenMs = Date.now() - 8 * dayMs;
      for (const trigger of triggers)
        trigger.start_time = new Date(thenMs - 60_000 / trigger.id).toISOString();
      const env = { ...quick, ...example.env };
      const first = await startGateway({ behind: sandbox, env, clock: new ManualClock(thenMs) });
      await using page = open(example, first.url);
      const rows = () => page.shown('triggers').at(-1);
      page.press('open');
      await expect.poll(rows, wait).toEqual(['5 CLOSED', '4 CLOSED']);
      const metrics = async () => (await first.fetch('/metrics')).text();
      await expect.poll(metrics, wait).toMatch(/feed_subscribers\{feed="trigger\w*"\} 1$/m);

      await first.close();
      addTrigger(sandbox, { id: 6, device_id: device });
      await using _second = await startGateway({
        behind: sandbox,
        env: { ...env, PORT: new URL(first.url).port },
      });
      await expect.poll(rows, wait).toEqual(['6 CLOSED', '5 CLOSED']);
      addTrigger(sandbox, { id: 7, device_id: device });
      await expect.poll(rows, wait).toEqual(['7 CLOSED', '6 CLOSED', '5 CLOSED']);
      expect(page.changes.map(({ triggerId }) => triggerId)).toEqual(['7']);
      expect(page.stderr).toBe('');
    },
    120_000,
  );

  it.each(['relay/generated/main.mjs', 'codegen/main.ts'])(
    '%s says what to do where the gateway does not know its operations',
    async (script) => {
      await using gw = await startGateway();
      await using page = startPage(script, [gw.url]);
      page.press('open');
      expect(await page.ended).toBe(1);
      expect(page.stderr).toMatch(/start it with PERSISTED_OPERATIONS and PERSISTED_OPERATIONS_FILE/);
      expect(page.stderr).not.toMatch(/^ +at /m);
    },
    60_000,
  );

  it('urql says what to do where the gateway answers nothing but operations that it knows', async () => {
    await using gw = await startGateway({ env: { PERSISTED_OPERATIONS: 'only' } });
    await using page = startPage('urql/main.ts', [gw.url]);
    page.press('open');
    expect(await page.ended).toBe(1);
    expect(page.stderr).toMatch(/start it with PERSISTED_OPERATIONS and PERSISTED_OPERATIONS_FILE/);
  }, 60_000);
});
