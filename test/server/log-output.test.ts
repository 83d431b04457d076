import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { build, buildFolder } from '../support/gateway-process.js';

vi.setConfig({ testTimeout: 180_000 });

const folder = mkdtempSync(join(tmpdir(), 'seisgraph-log-'));
let removeBuild: () => void;
beforeAll(() => {
  removeBuild = build();
}, 120_000);
afterAll(() => {
  removeBuild();
  rmSync(folder, { recursive: true });
});

/** A pipe as a shell makes one: Node's own are sockets. */
function openPipe(name: string) {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}

interface StartOptions {
  readonly stdout: number;
  readonly stderr?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly preload?: string;
}

/** A gateway whose output the test does not read: the port comes on descriptor 3. */
async function start({ stdout, stderr = stdout, env = {}, preload }: StartOptions) {
  const imports = ['./test/support/tell-port.mjs', ...(preload ? [preload] : [])];
  const child = spawn(
    process.execPath,
    [...imports.flatMap((module) => ['--import', module]), join(buildFolder, 'main.js')],
    { stdio: ['ignore', stdout, stderr, 'pipe'], env: { PATH: process.env.PATH ?? '', PORT: '0', ...env } },
  );
  const exit = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
  let ports = '';
  child.stdio[3]?.on('data', (chunk) => {
    ports += chunk;
  });
  // The sandbox's two come first.
  const listening = vi.waitFor(() => expect(ports.trim().split('\n')).toHaveLength(3), { timeout: 60_000 });
  expect(await Promise.race([exit, listening.then(() => 'listening')])).toBe('listening');
  return {
    child,
    exit,
    url: `http://127.0.0.1:${ports.trim().split('\n')[2]}`,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

const signal = () => AbortSignal.timeout(20_000);

/** Every operation writes one line. */
async function operate(url: string, count: number): Promise<void> {
  const query = `query ${'N'.repeat(100)} { __typename }`;
  for (let done = 0; done < count; done += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(`${url}/graphql?query=${encodeURIComponent(query)}`, {
          signal: signal(),
        });
        expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
      }),
    );
  }
}

async function droppedLines(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { signal: signal() })).text();
  return Number(/^seisgraph_log_lines_dropped_total (\d+)/m.exec(text)?.[1]);
}

async function expectServesAndLeaves({
  child,
  exit,
  url,
}: {
  child: ChildProcess;
  exit: Promise<unknown>;
  url: string;
}) {
  await operate(url, 1_000);
  expect((await fetch(`${url}/health`, { signal: signal() })).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
}

describe('the log', () => {
  it('drops lines that nobody reads from a pipe, counts them, and neither stops nor keeps the gateway', async () => {
    const { reader, writer } = openPipe('unread');
    using gateway = await start({ stdout: writer });
    while ((await droppedLines(gateway.url)) === 0) await operate(gateway.url, 500);
    await expectServesAndLeaves(gateway);
    closeSync(reader);
    closeSync(writer);
  });

  it('survives a pipe that nobody reads in each of several processes', async () => {
    const { reader, writer } = openPipe('unread-by-workers');
    using gateway = await start({ stdout: writer, env: { WORKERS: '2' } });
    await expectServesAndLeaves(gateway);
    closeSync(reader);
    closeSync(writer);
  });

  it.each(['1', '2'])('survives a pipe that is closed, with WORKERS=%s', async (workers) => {
    const { reader, writer } = openPipe(`closed-${workers}`);
    using gateway = await start({ stdout: writer, env: { WORKERS: workers } });
    closeSync(reader);
    await expectServesAndLeaves(gateway);
    closeSync(writer);
  });

  it('survives a full disk', async () => {
    using gateway = await start({ stdout: openSync('/dev/full', 'w') });
    await expectServesAndLeaves(gateway);
  });

  it('ends with an error, and not otherwise, at a fault that cannot be shown while nothing can be written', async () => {
    using gateway = await start({
      stdout: openSync('/dev/full', 'w'),
      preload: './test/support/odd-fault-on-signal.mjs',
    });
    gateway.child.kill('SIGUSR2');
    expect(await gateway.exit).toBe(1);
  });
});

describe('output that cannot be written', () => {
  it.each([
    ['--help', 0],
    ['--nonsense', 1],
  ])('leaves the exit code of %s alone', async (argument, code) => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [join(buildFolder, 'main.js'), argument], {
      stdio: ['ignore', full, full],
    });
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(code);
  });
});
