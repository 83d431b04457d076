import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { aTrigger } from '../src/sandbox/builders.js';
import { type Sandbox, startSandbox } from '../src/sandbox/server.js';
import { gateway } from './comparison/servers.js';
import { unlimitedIn } from './environment.js';
import type { Difference, Listeners, ListenersMessage } from './feed-listeners.js';
import { processorMs, residentMiB, urlOf } from './process-facts.js';

const intervalMs = 500;
const changesEach = 10;
const warmUps = 3;
const mostWarmUps = 10;
const openMs = 60_000;
const mostMs = 10_000;

const servers = {
  seisgraph: [...gateway.nodeOptions, gateway.script],
  plain: ['--import', 'tsx', fileURLToPath(new URL('./feed-plain.ts', import.meta.url))],
  bare: ['--import', 'tsx', fileURLToPath(new URL('./feed-bare.ts', import.meta.url))],
};

/** How soon a trigger is on screen, and what it takes to show one to ten thousand screens. */
export async function run(): Promise<void> {
  await delay();
  console.log(
    "\nDelivery of one change, from the gateway's `observedAt` to the client's socket; " +
      'all listeners in a second process on the same machine\n',
  );
  const rows: Record<string, object> = {};
  const audiences = [
    { count: 10_000, differ: 'in nothing' },
    { count: 1_000, differ: 'in their filters' },
    { count: 1_000, differ: 'in their selections' },
  ] as const;
  for (const { count, differ } of audiences) {
    for (const name of ['seisgraph', 'plain', 'bare'] as const) {
      rows[`${name}: ${count} that differ ${differ}`] = await fanOut(name, count, differ);
    }
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
  for (let id = 1; id <= 30; id++) {
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

export async function fanOut(name: keyof typeof servers, count: number, differ: Difference): Promise<object> {
  await using sandbox = await startSandbox({ live: false, rateLimits: false });
  await using server = await startServer(name, sandbox);
  const listeners = fork(fileURLToPath(new URL('./feed-listeners.ts', import.meta.url)));
  try {
    const order: Listeners = { url: server.url, count, differ };
    listeners.send(order);
    await received(listeners, ['ready'], openMs);
    let id = 0;
    const change = async () => {
      listeners.send('next');
      addTrigger(sandbox, ++id);
      const all = await received(listeners, ['everyone', 'report'], mostMs);
      // The next one comes when everyone has this one, so that none waits behind another, and never in step with the polls.
      await pause(intervalMs * (0.2 + Math.random()));
      return all;
    };
    // The first are for the compilers, and for those whose subscription was still on its way.
    for (
      let isReady = false, changes = 0;
      changes < warmUps || (!isReady && changes < mostWarmUps);
      changes++
    ) {
      isReady = (await change()).kind === 'everyone';
    }
    const memoryMiB = residentMiB(server.pid);
    const cpuBeforeMs = processorMs(server.pid);
    const tookMs: number[] = [];
    let missing = 0;
    let lost = 0;
    for (let number = 0; number < changesEach; number++) {
      const { delaysMs, ...all } = await change();
      missing += count - delaysMs.length;
      lost = all.lost;
      if (all.reason) console.error(`${name}: ${all.lost} sockets lost: ${all.reason}`);
      tookMs.push(...delaysMs);
    }
    const { p50, p99 } = percentiles(tookMs);
    return {
      'p50 ms': p50.toFixed(0),
      'p99 ms': p99.toFixed(0),
      'CPU ms each': ((processorMs(server.pid) - cpuBeforeMs) / changesEach).toFixed(0),
      missing,
      lost,
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

/** The next message of these kinds; what there is by then is asked for when the time is over. */
function received(
  listeners: ChildProcess,
  kinds: readonly ListenersMessage['kind'][],
  withinMs: number,
): Promise<ListenersMessage> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => listeners.send('report'), withinMs);
    const end = () => {
      clearTimeout(late);
      listeners.off('message', listen).off('exit', left);
    };
    const listen = (message: ListenersMessage) => {
      if (message.kind !== 'report' && !kinds.includes(message.kind)) return;
      end();
      resolve(message);
    };
    const left = () => {
      end();
      reject(new Error('The listeners have gone'));
    };
    listeners.on('message', listen).on('exit', left);
  });
}

function percentiles(values: number[]): { p50: number; p99: number } {
  values.sort((a, b) => a - b);
  const at = (part: number) => values[Math.floor(values.length * part)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
