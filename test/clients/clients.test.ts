import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
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
  /** It shows the list after each change that is delivered; a cache shows only what differs. */
  readonly hasNoCache?: boolean;
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
  },
  'Apollo Client, with a manifest of its operations': {
    script: 'apollo/main.ts',
    args: ['manifest'],
    env: only('apollo/generated/manifest.json'),
    headers: clientAwareness,
  },
  'urql with graphcache': { script: 'urql/main.ts' },
  Relay: { script: 'relay/generated/main.mjs', env: only('relay/generated/manifest.json') },
  'the client preset of codegen': {
    script: 'codegen/main.ts',
    hasNoCache: true,
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

      page.press('open');
      await expect.poll(rows, wait).toEqual(['5 CLOSED', '4 CLOSED']);
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

      const requestCount = page.requests.length;
      page.press('refetch');
      // With automatic persisted queries a gateway that has started again asks for the text as well.
      await expect.poll(() => page.requests.length, wait).toBeGreaterThan(requestCount);
      await expect.poll(rows, wait).toEqual(['7 CLOSED', '6 CLOSED']);
      addTrigger(sandbox, { id: 8, device_id: device });
      await expect.poll(rows, wait).toEqual(['8 CLOSED', '7 CLOSED', '6 CLOSED']);
      for (const shown of page.shown('triggers')) expect(new Set(shown).size).toBe(shown.length);
      // A subscription that began again where it first did would be sent what it had.
      if (example.hasNoCache)
        expect(new Set(page.shown('triggers').map(String)).size).toBe(page.shown('triggers').length);
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
});
