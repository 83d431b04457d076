import { startSandbox } from '../src/sandbox/server.js';
import { type ServerProcess, startServer } from './child.js';
import { buildGateway, gateway } from './comparison/servers.js';
import { unlimitedIn } from './environment.js';
import { denseWorld } from './events-world.js';
import type { BenchOptions } from './options.js';
import { quantile } from './statistics.js';

/**
 * How long others wait while ten clients ask for the largest answers that are permitted: the delay of the gateway's event
 * loop by its own metrics, and what `{ __typename }` takes meanwhile. Beside it the same without the ten. Nothing of it is
 * answered by cached answers.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  buildGateway();
  const { world } = denseWorld(12_000, 30);
  await using sandbox = await startSandbox({ world, live: false, rateLimits: false });
  const env = { ...unlimitedIn(sandbox), LOG_LEVEL: 'error', ANSWER_CACHE: 'false' };
  const seconds = quick ? 3 : 20;
  const rows: Record<string, object> = {};
  for (const clients of [0, 10]) {
    await using server = await startServer({ ...gateway, env });
    // Everything is read from upstream before it is measured.
    await ask(server, largest);
    await delays(server);
    rows[`${clients} clients with large answers`] = await measured(server, clients, seconds);
  }
  console.log(`${listsEach} lists of some 490 earthquakes each, milliseconds\n`);
  console.table(rows);
}

const listsEach = 20;
const largest = `{ ${Array.from({ length: listsEach }, (_, number) => {
  const fields = 'nodes { id originTime magnitude latitude longitude depthKm place }';
  return `list${number}: events(first: ${500 - number}) { ${fields} }`;
}).join(' ')} }`;

async function measured(server: ServerProcess, clients: number, seconds: number): Promise<object> {
  const untilMs = performance.now() + seconds * 1000;
  let largeAnswers = 0;
  const asking = Array.from({ length: clients }, async () => {
    while (performance.now() < untilMs) {
      await ask(server, largest);
      largeAnswers++;
    }
  });
  const waitedMs: number[] = [];
  while (performance.now() < untilMs) {
    const startedMs = performance.now();
    await ask(server, '{ __typename }');
    waitedMs.push(performance.now() - startedMs);
  }
  const delay = await delays(server);
  await Promise.all(asking);
  return {
    'large answers': largeAnswers,
    'delay p50': delay['0.50'],
    'delay p99': delay['0.99'],
    '__typename p50': rounded(quantile(waitedMs, 0.5)),
    '__typename p99': rounded(quantile(waitedMs, 0.99)),
  };
}

/** Of the event loop since the last look, in milliseconds by quantile. */
async function delays({ url }: ServerProcess): Promise<Record<string, number>> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const samples = page.matchAll(/event_loop_delay_seconds\{[^}]*quantile="([\d.]+)"[^}]*\} (\S+)/g);
  return Object.fromEntries([...samples].map(([, quantile, s]) => [quantile, rounded(Number(s) * 1000)]));
}

async function ask({ url }: ServerProcess, query: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors } = (await response.json()) as { errors?: object[] };
  if (errors) throw new Error(JSON.stringify(errors).slice(0, 500));
}

const rounded = (ms: number) => Math.round(ms * 10) / 10;
