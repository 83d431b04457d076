import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { settings } from '../../src/config/settings.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { listen } from '../../src/server/http/listen.js';
import { version } from '../../src/version.js';
import { environment } from '../support/gateway.js';
import { build, buildFolder, startProcess } from '../support/gateway-process.js';
import { openSocket } from '../support/raw-socket.js';

// A process takes its time to start, on a busy machine above all.
vi.setConfig({ testTimeout: 120_000 });

let removeBuild: () => void;
beforeAll(() => {
  removeBuild = build();
}, 120_000);
afterAll(() => removeBuild());

describe('the process', () => {
  it('explains itself with --help, and tells its version', async () => {
    await using help = startProcess({ args: ['--help'], env: { PORT: 'wrong' } });
    expect(await help.exit).toEqual({ code: 0, signal: null });
    for (const name of Object.keys(settings)) expect(help.stdout).toContain(name);
    await using tells = startProcess({ args: ['--version'] });
    expect(await tells.exit).toMatchObject({ code: 0 });
    expect(tells.stdout).toBe(`${version}\n`);
    await using unknown = startProcess({ args: ['--nonsense'] });
    expect(await unknown.exit).toMatchObject({ code: 1 });
    expect(unknown.stderr).toBe('seisgraph: There is no option --nonsense: see seisgraph --help\n');
  });

  it.skipIf(process.platform !== 'linux')(
    'says on a terminal, in plain words, which address to open',
    async () => {
      const program = `${process.execPath} ${join(buildFolder, 'main.js')}`;
      // util-linux's script gives the program a terminal.
      const terminal = spawn('script', ['-qec', program, '/dev/null'], {
        env: { PATH: process.env.PATH ?? '', PORT: '0' },
      });
      let said = '';
      terminal.stdout.on('data', (text) => {
        said += text;
      });
      await vi.waitFor(() => expect(said).toContain('Ctrl+C'), { timeout: 60_000 });
      const [first, second, ...rest] = said.trim().split(/\r?\n/);
      expect(first).toMatch(/^seisgraph \S+ is ready: open http:\/\/127\.0\.0\.1:\d+\/graphql in a browser/);
      expect(second).toContain('sandbox');
      expect(rest).toEqual([]);
      const ended = once(terminal, 'close');
      terminal.kill('SIGTERM');
      await ended;
    },
  );

  it('stops at a wrong setting with one line', async () => {
    await using wrong = startProcess({ env: { AUTH_MODE: 'tokens' } });
    expect(await wrong.exit).toMatchObject({ code: 1 });
    expect(wrong.stderr).toBe(
      'seisgraph: AUTH_MODE must be one of none, token, jwt, passthrough, not "tokens"\n',
    );
    expect(wrong.stdout).toBe('');
  });

  it('stops with one line when the port is taken', async () => {
    const other = createServer();
    const { port } = await listen(other, 0, '127.0.0.1');
    await using second = startProcess({ env: { PORT: String(port) } });
    expect(await second.exit).toMatchObject({ code: 1 });
    expect(second.stderr).toBe(
      `seisgraph: PORT ${port} is taken: something else listens on it at HOST 127.0.0.1; set another, or 0 for a free one\n`,
    );
    expect(second.stdout).toBe('');
    other.close();
  });

  it('stops with one line when the address is another machine’s', async () => {
    // RFC 5737: nobody has it.
    const env = { HOST: '192.0.2.1', ALLOW_ANONYMOUS: 'true' };
    await using elsewhere = startProcess({ env });
    expect(await elsewhere.exit).toMatchObject({ code: 1 });
    expect(elsewhere.stderr).toBe('seisgraph: HOST 192.0.2.1 is no address of this machine\n');
  });

  it('ends with one line when something is missing, whatever has started before', async () => {
    await using broken = startProcess({ preload: ['./test/support/without-operations.mjs'] });
    expect(await broken.exit).toEqual({ code: 1, signal: null });
    expect(broken.stderr).toMatch(/^seisgraph: ENOENT: no such file[^\n]*\n$/);
    expect(broken.stdout).toBe('');
  });

  it('serves the sandbox without any setting, and says where', async () => {
    await using gateway = startProcess();
    const url = await gateway.url;
    const response = await fetch(`${url}/graphql?query={gateway{sandbox}}`);
    expect(await response.json()).toEqual({ data: { gateway: { sandbox: true } } });
    for (const line of gateway.stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('names a setting that was misspelt, and not what it was set to', async () => {
    await using gateway = startProcess({ env: { PROJCT_API_KEY: 'svc_sk_x' } });
    await gateway.url;
    const warnings = gateway.stdout.split('\n').filter((line) => line.includes('"warn"'));
    expect(warnings.map((line) => JSON.parse(line).msg)).toEqual([
      'PROJCT_API_KEY sets nothing: is PROJECT_API_KEY meant?',
    ]);
    expect(gateway.stdout).not.toContain('svc_sk_x');
  });

  it('starts while upstream is down, and answers once it is up', async () => {
    const upstream = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'p',
          name: 'Back again',
          network_code: 'XX',
          sensor_count: 0,
          location_masked: false,
          api_key_id: 'k',
        }),
      );
    });
    const { port } = await listen(upstream, 0, '127.0.0.1');
    await new Promise((resolve) => upstream.close(resolve));
    await using gateway = startProcess({
      env: { PROJECT_API_URL: `http://127.0.0.1:${port}`, PROJECT_API_KEY: 'svc_sk_x' },
    });
    const url = await gateway.url;
    const ask = async () => (await fetch(`${url}/graphql?query={project{name}}`)).json();
    expect((await ask()).errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    await listen(upstream, port, '127.0.0.1');
    await vi.waitFor(async () => expect((await ask()).data.project.name).toBe('Back again'), 60_000);
    upstream.close();
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('leaves at %s with exit code 0', async (signal) => {
    await using gateway = startProcess();
    await gateway.url;
    gateway.child.kill(signal);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    expect(gateway.stderr).toBe('');
  });

  it('logs a fault that nobody caught, lets sockets come back elsewhere, and ends with an error', async () => {
    await using gateway = startProcess({ preload: ['./test/support/fault-on-signal.mjs'] });
    await using socket = await openSocket({ url: await gateway.url }, { init: {} });
    gateway.child.kill('SIGUSR2');
    expect((await socket.closed).code).toBe(1012);
    expect(await gateway.exit).toEqual({ code: 1, signal: null });
    const line = gateway.stdout.split('\n').find((text) => text.includes('Uncaught fault'));
    expect(JSON.parse(line ?? '{}').fault).toContain('A fault with [secret] in its message');
    expect(gateway.stdout).not.toContain('svc_sk_secret');
  });
});

const live = 'subscription { triggerChanges { cursor } }';

describe('SIGTERM', () => {
  it('ends 50 sockets and 10 streams, finishes 5 slow queries, and exits 0', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gateway = startProcess({ env: environment(sandbox) as Record<string, string> });
    const url = await gateway.url;
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket({ url }, { init: {} })));
    for (const socket of sockets) socket.send({ id: '1', type: 'subscribe', payload: { query: live } });
    const streams = await Promise.all(
      Array.from({ length: 10 }, () =>
        fetch(`${url}/graphql?query=${encodeURIComponent(live)}`, {
          headers: { accept: 'text/event-stream' },
        }),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200));
    sandbox.faults.add({ source: 'catalogue', path: /networks/, latencyMs: 2_000, times: 100 });
    const slow = Array.from({ length: 5 }, async (_, n) => {
      const response = await fetch(`${url}/graphql?query={network(networkId:"n${n}"){name}}`);
      return response.json();
    });
    await vi.waitFor(() => expect(sandbox.inFlight('catalogue')).toBe(5), 10_000);
    gateway.child.kill('SIGTERM');
    const codes = await Promise.all(sockets.map(async (socket) => (await socket.closed).code));
    expect(codes).toEqual(Array(50).fill(1012));
    const texts = await Promise.all(streams.map((stream) => stream.text()));
    // Without `complete`: a client of server-sent events then comes back by itself.
    for (const text of texts) expect(text).not.toContain('event: complete');
    expect(await Promise.all(slow)).toEqual(Array(5).fill({ data: { network: null } }));
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
  });
});
