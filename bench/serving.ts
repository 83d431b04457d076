import { spawn } from 'node:child_process';
import { Pool } from 'undici';
import { startSandbox } from '../src/sandbox/server.js';
import { gateway as built } from './comparison/servers.js';
import { unlimitedIn } from './environment.js';
import { processorMs, residentMiB, urlOf } from './process-facts.js';

const operations = {
  // The baseline: what HTTP, parsing and an empty execution cost by themselves.
  __typename: '{ __typename }',
  'sensors(first: 100), 10 fields': `{ sensors(first: 100) { nodes {
    id deviceId stationCode networkCode model firmwareVersion status lastSeenAt
    power { batteryVolts } connectivity { type }
  } } }`,
  'triggers(first: 100) with sensors': `{ triggers(first: 100) { nodes {
    id startTime status pgaHorizontal sensor { stationCode firmwareVersion }
  } } }`,
};

const inFlight = 16;
const warmUpSeconds = 3;
const secondsEach = 5;

/**
 * Cold start to the first answer, then requests per second, p99, processor time and upstream requests of ready operations.
 * Where other things run on the machine, the processor time is what compares.
 */
export async function run(): Promise<void> {
  await using sandbox = await startSandbox({ live: false, rateLimits: false });
  const startedMs = performance.now();
  const gateway = spawn(process.execPath, [...built.nodeOptions, built.script], {
    env: {
      ...process.env,
      ...unlimitedIn(sandbox),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await urlOf(gateway.stdout);
    await using pool = disposable(new Pool(url, { connections: inFlight }));
    await ask(pool.it, operations['sensors(first: 100), 10 fields']);
    console.log(`cold start to the first answer: ${((performance.now() - startedMs) / 1000).toFixed(2)} s`);
    console.log(`resident memory after it: ${residentMiB(gateway.pid)} MiB\n`);
    const rows: Record<string, object> = {};
    let baseline = 0;
    for (const [name, query] of Object.entries(operations)) {
      await load(pool.it, query, warmUpSeconds);
      sandbox.forget();
      const beforeMs = processorMs(gateway.pid);
      const { answered, p50Ms, p99Ms } = await load(pool.it, query, secondsEach);
      const tookMs = processorMs(gateway.pid) - beforeMs;
      baseline ||= answered;
      rows[name] = {
        'per s': Math.round(answered / secondsEach),
        'of baseline': (answered / baseline).toFixed(2),
        'p50 ms': p50Ms.toFixed(1),
        'p99 ms': p99Ms.toFixed(1),
        'processor ms': (tookMs / answered).toFixed(2),
        'upstream per operation': (sandbox.requests.length / answered).toFixed(4),
      };
    }
    console.table(rows);
    console.log(`resident memory after: ${residentMiB(gateway.pid)} MiB`);
  } finally {
    gateway.kill('SIGKILL');
  }
}

async function load(pool: Pool, query: string, seconds: number) {
  const untilMs = performance.now() + seconds * 1000;
  const tookMs: number[] = [];
  const one = async () => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      await ask(pool, query);
      tookMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  tookMs.sort((a, b) => a - b);
  const at = (part: number) => tookMs[Math.floor(tookMs.length * part)] ?? Number.NaN;
  return { answered: tookMs.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function ask(pool: Pool, query: string): Promise<void> {
  const { body } = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const text = await body.text();
  if (text.includes('"errors"')) throw new Error(`The gateway answered with errors: ${text.slice(0, 500)}`);
}

function disposable(it: Pool) {
  return { it, [Symbol.asyncDispose]: () => it.destroy() };
}
