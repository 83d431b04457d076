import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { type ServerProcess, startHelper, startServer } from './child.js';
import { answerOf } from './comparison/answer.js';
import type { LoadOrder, LoadReport } from './comparison/load.js';
import { bodyOf, operations } from './comparison/operations.js';
import { buildGateway, environmentOf, gateway } from './comparison/servers.js';
import type { UpstreamOrder, UpstreamReady, UpstreamReport } from './comparison/upstream.js';
import { markdownTable } from './markdown.js';
import type { BenchOptions } from './options.js';
import { type CpuProfile, layers, sharesOf } from './profile-layers.js';

const folder = fileURLToPath(new URL('./profiles/', import.meta.url));
const sampleEveryUs = 500;

/** Where a busy gateway's time goes, for each operation and with whole answers cached and computed. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const [warmUpS, profiledS] = quick ? [0.5, 1] : [5, 8];
  buildGateway();
  mkdirSync(folder, { recursive: true });
  using upstream = startHelper<UpstreamOrder, UpstreamReport>(
    new URL('./comparison/upstream.ts', import.meta.url),
  );
  using load = startHelper<LoadOrder, LoadReport>(new URL('./comparison/load.ts', import.meta.url));
  const env = environmentOf(await upstream.received<UpstreamReady>());
  for (const answerCache of ['true', 'false']) {
    const columns: Map<string, number>[] = [];
    for (const [name, query] of Object.entries(operations)) {
      await using server = await startServer({
        ...gateway,
        env: { ...env, ANSWER_CACHE: answerCache },
        // Opened by a signal, on a free port.
        nodeOptions: [...gateway.nodeOptions, '--inspect-port=127.0.0.1:0'],
      });
      const body = bodyOf(query);
      const answerBytes = Buffer.byteLength(await answerOf(server, body));
      const drive = async (seconds: number) => {
        const { failed } = await load.ask({ url: server.url, body, seconds, answerBytes, perSecond: null });
        if (failed !== null) throw new Error(`${name}: ${failed}`);
      };
      await drive(warmUpS);
      const profile = await profileDuring(server, () => drive(profiledS));
      const kind = answerCache === 'true' ? 'cached' : 'computed';
      const file = `${name.replace(/\W+/g, '-').replace(/^-|-$/g, '')}-${kind}.cpuprofile`;
      writeFileSync(`${folder}${file}`, JSON.stringify(profile));
      columns.push(sharesOf(profile));
    }
    console.log(`\nShare of busy time in %, ANSWER_CACHE=${answerCache}\n`);
    console.log(
      markdownTable(
        ['layer', ...Object.keys(operations)],
        layers.map((layer) => [layer, ...columns.map((shares) => (shares.get(layer) ?? 0).toFixed(0))]),
      ),
    );
  }
  console.log(`\nProfiles for Chrome's developer tools: ${folder}`);
}

/** By the process's own profiler, so that neither its start nor its end is in it. */
async function profileDuring(server: ServerProcess, work: () => Promise<void>): Promise<CpuProfile> {
  const socket = new WebSocket(await inspectorOf(server), { perMessageDeflate: false });
  await once(socket, 'open');
  try {
    const call = caller(socket);
    await call('Profiler.enable');
    await call('Profiler.setSamplingInterval', { interval: sampleEveryUs });
    await call('Profiler.start');
    await work();
    const { profile } = (await call('Profiler.stop')) as { profile: CpuProfile };
    return profile;
  } finally {
    socket.terminate();
  }
}

async function inspectorOf({ process: child }: ServerProcess): Promise<string> {
  const { stderr } = child;
  if (!stderr) throw new Error('The server has no standard error to name its inspector on');
  child.kill('SIGUSR1');
  let written = '';
  for (;;) {
    const [chunk] = (await once(stderr, 'data')) as [Buffer];
    written += chunk;
    const url = /ws:\/\/\S+/.exec(written)?.[0];
    if (url) return url;
  }
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

function caller(socket: WebSocket) {
  let lastId = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.on('message', (data: Buffer) => {
    const reply: Reply = JSON.parse(data.toString());
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  return (method: string, params: object = {}) =>
    new Promise<unknown>((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      socket.send(JSON.stringify({ id, method, params }));
    });
}
