import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { aTrigger } from '../src/sandbox/builders.js';
import { type Sandbox, startSandbox } from '../src/sandbox/server.js';
import { unlimitedIn } from './environment.js';
import type { Heard, Listeners } from './feed-listeners.js';
import { processorMs, residentMiB, urlOf } from './process-facts.js';

const intervalMs = 500;
const screens = 10_000;
const distinct = 1_000;
const changesEach = 20;
const betweenMs = 1_500;
const mostMs = 30_000;

const servers = {
  seisgraph: [fileURLToPath(new URL('../dist/main.js', import.meta.url))],
  plain: ['--import', 'tsx', fileURLToPath(new URL('./feed-plain.ts', import.meta.url))],
};

/** How soon a trigger is on screen, and what it takes to show one to ten thousand screens. */
export async function run(): Promise<void> {
  await delay();
  console.log(
    `\nDelivery of one change, from the gateway's \`observedAt\` to the client's socket; ${changesEach} changes, ` +
      'all listeners in a second process on the same machine\n',
  );
  const rows: Record<string, object> = {};
  for (const name of ['seisgraph', 'plain'] as const) {
    rows[`${name}: ${screens} of one operation`] = await fanOut(name, screens, 1);
    rows[`${name}: ${distinct} of ${distinct} operations`] = await fanOut(name, distinct, distinct);
  }
  console.table(rows);
}

/** From the moment at which upstream shows a trigger to the moment at which a client has it. */
async function delay(): Promise<void> {
  await using sandbox = await startSandbox({ live: false, rateLimits: false });
  await using gateway = await startServer('seisgraph', sandbox);
  const client = createClient({ url: gateway.url, webSocketImpl: WebSocket });
  const shownAtMs = new Map<string, number>();
  const tookMs: number[] = [];
  const stream = client.iterate<{ triggerChanges: { trigger: { triggerId: string } } }>({
    query: 'subscription { triggerChanges { trigger { triggerId } } }',
  });
  const listening = (async () => {
    for await (const { data } of stream) {
      const shownMs = shownAtMs.get(data?.triggerChanges.trigger.triggerId ?? '');
      if (shownMs !== undefined) tookMs.push(performance.now() - shownMs);
    }
  })();
  await pause(2_000);
  for (let id = 1; id <= 60; id++) {
    // Never in step with the polls.
    await pause(intervalMs * (0.5 + Math.random()));
    shownAtMs.set(String(id), performance.now());
    addTrigger(sandbox, id);
  }
  await pause(2_000);
  await client.dispose();
  await listening;
  const { p50, p99 } = percentiles(tookMs);
  console.log(
    `from visible upstream to the client, polling every ${intervalMs} ms, ${tookMs.length} triggers: ` +
      `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
  );
}

async function fanOut(name: keyof typeof servers, count: number, operations: number): Promise<object> {
  await using sandbox = await startSandbox({ live: false, rateLimits: false });
  await using server = await startServer(name, sandbox);
  const listeners = fork(fileURLToPath(new URL('./feed-listeners.ts', import.meta.url)));
  try {
    const order: Listeners = { url: server.url, count, operations };
    listeners.send(order);
    await heard(listeners, 'ready');
    await pause(2_000);
    const memoryMiB = residentMiB(server.pid);
    const tookMs: number[] = [];
    let missing = 0;
    const cpuBeforeMs = processorMs(server.pid);
    // The first are for the compilers.
    for (let id = 1; id <= changesEach + 3; id++) {
      addTrigger(sandbox, id);
      const delaysMs: number[] = [];
      // The next one comes when everyone has this one, so that none waits behind another.
      for (let waitedMs = 0; delaysMs.length < count && waitedMs < mostMs; waitedMs += betweenMs) {
        delaysMs.push(...(await heard(listeners, 'delivered', betweenMs)).delaysMs);
      }
      missing += count - delaysMs.length;
      if (id > 3) tookMs.push(...delaysMs);
    }
    const { p50, p99 } = percentiles(tookMs);
    return {
      'p50 ms': p50.toFixed(0),
      'p99 ms': p99.toFixed(0),
      'CPU ms each': ((processorMs(server.pid) - cpuBeforeMs) / (changesEach + 3)).toFixed(0),
      missing,
      'MiB, listening': memoryMiB,
      'MiB, after': residentMiB(server.pid),
    };
  } finally {
    listeners.kill('SIGKILL');
  }
}

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number | undefined;
}

async function startServer(name: keyof typeof servers, sandbox: Sandbox): Promise<Server> {
  const server = spawn(process.execPath, servers[name], {
    env: {
      ...process.env,
      ...unlimitedIn(sandbox),
      LOG_LEVEL: 'info',
      TRIGGER_POLL_INTERVAL_MS: String(intervalMs),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await urlOf(server.stdout);
  return {
    url: `${url.replace('http', 'ws')}/graphql`,
    pid: server.pid,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL');
    },
  };
}

function addTrigger({ world }: Sandbox, id: number): void {
  const sensor = world.project.sensors[id % world.project.sensors.length];
  if (!sensor) throw new Error('The sandbox has no sensors');
  const start_time = new Date().toISOString();
  const { device_id, station } = sensor;
  world.project.triggers.push(aTrigger({ id, device_id, station, start_time, end_time: start_time }));
}

/** The next message of this kind; with a time limit, what has come until then. */
function heard(listeners: ChildProcess, kind: Heard['kind'], withinMs?: number): Promise<Heard> {
  return new Promise((resolve) => {
    const listen = (message: Heard) => {
      if (message.kind !== kind) return;
      listeners.off('message', listen);
      resolve(message);
    };
    listeners.on('message', listen);
    if (withinMs !== undefined) setTimeout(() => listeners.send('report'), withinMs);
  });
}

function percentiles(values: number[]): { p50: number; p99: number } {
  values.sort((a, b) => a - b);
  const at = (part: number) => values[Math.floor(values.length * part)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
