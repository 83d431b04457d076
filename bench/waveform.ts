import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gateway } from './comparison/servers.js';

const sampleCount = 1_000_000;
const runsEach = 5;

/** A waveform of a million samples through the gateway, beside a plain one that gives a list of Float. */
export async function run(): Promise<void> {
  const upstream = await startUpstream();
  const rows: Record<string, object> = {};
  const built = [...gateway.nodeOptions, gateway.script];
  const plain = fileURLToPath(new URL('./waveform-plain.ts', import.meta.url));
  const env = {
    ...process.env,
    PORT: '0',
    CATALOGUE_API_URL: upstream.url,
    CATALOGUE_API_KEY: 'key',
    CATALOGUE_TIER: 'premium',
  };
  try {
    await measure(rows, env, built, 'seisgraph, envelope(points: 1000)', 'envelope { min max }', next);
    await measure(rows, env, built, 'seisgraph, samples', 'samples', next);
    await measure(rows, env, built, 'seisgraph, both, from memory', 'samples envelope { min max }', () => 0);
    await measure(rows, env, ['--import', 'tsx', plain], 'plain, samples: [Float!]!', 'samples', next);
  } finally {
    upstream.close();
  }
  console.log(
    `${sampleCount} samples, ${upstream.mib.toFixed(1)} MiB from upstream; medians of ${runsEach}\n`,
  );
  console.table(rows);
}

let windows = 0;
/** A window that has not been asked for yet, so that nothing comes from memory. */
const next = () => ++windows;

async function measure(
  rows: Record<string, object>,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  name: string,
  fields: string,
  windowOf: () => number,
): Promise<void> {
  const gateway = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const query =
    () => `{ sensor(by: { catalogueId: "s" }) { waveform(channel: HNZ, start: "2026-01-01T00:00:00Z",
    end: "2026-01-01T02:46:40.${String(windowOf()).padStart(3, '0')}Z") { ${fields} } } }`;
  try {
    const url = await urlOf(gateway);
    await ask(url, '{ __typename }');
    const idleMiB = memoryMiB(gateway, 'VmRSS');
    // The first is left out: code is compiled, and what can come from memory is read.
    await ask(url, query());
    // Resets VmHWM.
    writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5');
    const tookMs: number[] = [];
    const heldUpMs: number[] = [];
    let bytes = 0;
    for (let run = 0; run < runsEach; run++) {
      const startedMs = performance.now();
      let isAnswered = false;
      const heldUp = longestAsk(url, () => isAnswered);
      bytes = await ask(url, query());
      tookMs.push(performance.now() - startedMs);
      isAnswered = true;
      heldUpMs.push(await heldUp);
    }
    rows[name] = {
      ms: Math.round(median(tookMs)),
      'other queries held up, ms': Math.round(median(heldUpMs)),
      'peak memory above idle, MiB': memoryMiB(gateway, 'VmHWM') - idleMiB,
      'answer, MiB': (bytes / 2 ** 20).toFixed(2),
    };
  } finally {
    gateway.kill('SIGKILL');
  }
}

/** A catalogue of one sensor with one waveform, whatever the window. */
async function startUpstream() {
  const samples = Array.from(
    { length: sampleCount },
    (_, index) => Math.round(Math.sin(index / 50) * 1e6) / 1e4,
  );
  const answer = (data: unknown) => Buffer.from(JSON.stringify({ data, meta: { request_id: 'r' } }));
  const sensor = { id: 's', station_code: 'S', network_id: 'n', network_code: 'N', status: 'online' };
  const waveform = answer({
    sensor_id: 's',
    channel: 'HNZ',
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-01-01T02:46:39.990Z',
    sample_rate: 100,
    samples,
  });
  const list = Buffer.from(JSON.stringify({ data: [sensor], pagination: { page: 1, limit: 100, total: 1 } }));
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://upstream').pathname;
    response.setHeader('content-type', 'application/json');
    response.end(path.endsWith('/data') ? waveform : path === '/v1/sensors' ? list : answer(sensor));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    mib: waveform.length / 2 ** 20,
    close: () => server.closeAllConnections(),
  };
}

/** Bytes of the answer, which is not parsed: it is the gateway's work that is measured. */
async function ask(url: string, query: string): Promise<number> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const body = Buffer.from(await response.arrayBuffer());
  if (body.includes('"errors"'))
    throw new Error(`The gateway answered with errors: ${body.subarray(0, 500)}`);
  return body.length;
}

async function longestAsk(url: string, isOver: () => boolean): Promise<number> {
  let longestMs = 0;
  while (!isOver()) {
    const startedMs = performance.now();
    await ask(url, '{ __typename }');
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  return longestMs;
}

/** From the start's log line. */
function urlOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    stdout?.on('data', (chunk: Buffer) => {
      if (seen.length < 100_000) seen += chunk;
      const url = /"url":"([^"]+)"/.exec(seen)?.[1];
      if (url) resolve(new URL(url).origin);
    });
    stdout?.once('end', () => reject(new Error(`The gateway did not start: ${seen}`)));
  });
}

function memoryMiB({ pid }: ChildProcess, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
