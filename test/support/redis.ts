import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUpAfterTests } from './clean-up.js';
import { service } from './service.js';

const redis = service('redis-server', ['redis-server']);

/** Why tests that need Redis are left out; null where they run. */
export const noRedis = redis.leftOut;

/** A Redis of the test's own, that forgets everything when it ends. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** On the same port, empty. */
  restart(): Promise<void>;
  /** It hangs: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  let { port, server } = await onFreePort(folder);
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  };
  const close = async () => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  cleanUpAfterTests(close);
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill();
      const again = await start(port, folder);
      if (!again) throw new Error(`Redis does not come back on port ${port}`);
      server = again;
    },
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    close,
    [Symbol.asyncDispose]: close,
  };
}

// Redis has no port 0. One that is free now can be taken by the time it listens: then another is tried.
async function onFreePort(folder: string): Promise<{ port: number; server: ChildProcess }> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const port = await freePort();
    const server = await start(port, folder);
    if (server) return { port, server };
  }
  throw new Error('Redis finds no free port');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Null where the port was taken. */
async function start(port: number, folder: string): Promise<ChildProcess | null> {
  const settings = { port: `${port}`, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
  const server = spawn(
    redis.executable(),
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const { promise, resolve } = settling<boolean>();
  let said = '';
  server.stdout.on('data', (text: Buffer) => {
    said += text;
    if (said.includes('Ready to accept connections')) resolve(true);
  });
  server.on('exit', () => resolve(false));
  return (await promise) ? server : null;
}

function settling<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
