import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.js';
import { listen } from '../../src/server/http/listen.js';
import { addTrigger, quick } from '../live/live-gateway.js';
import { startGateway } from '../support/gateway.js';
import { build, startProcess } from '../support/gateway-process.js';
import { openSocket } from '../support/raw-socket.js';
import { noRedis, startRedis } from '../support/redis.js';
import { bothAnswered, hasEnded, LastingFollower, startWorkers, subscribed } from './workers-process.js';

// Three processes take their time to start, on a busy machine above all.
vi.setConfig({ testTimeout: 180_000 });

let removeBuild: () => void;
beforeAll(() => {
  removeBuild = build();
}, 120_000);
afterAll(() => removeBuild());

describe('two workers', () => {
  it('keep to one budget, and upstream never has to refuse a request', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox, { CATALOGUE_API_URL: '', CATALOGUE_API_KEY: '' });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        gateway.query(
          `query Ask { events(first: 1, filter: { minMagnitude: ${n / 100} }) { nodes { id } } }`,
        ),
      ),
    );
    await bothAnswered(gateway, 'Ask');
    const seen = sandbox.seen('project', '/v1/events');
    expect(seen.map(({ status }) => status)).not.toContain(429);
    expect(seen.length).toBeGreaterThanOrEqual(16);
    const codes = answers.flatMap(({ body }) => body.errors ?? []).map(({ extensions }) => extensions.code);
    expect(new Set(codes)).toEqual(new Set(['UPSTREAM_RATE_LIMITED']));
  });

  it('ask upstream once for what both are asked for, and each has it then', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox);
    sandbox.faults.add({ source: 'project', path: '/v1/project', latencyMs: 500 });
    const ask = () =>
      Promise.all(Array.from({ length: 8 }, () => gateway.query('query Ask { project { name } }')));
    for (const { body } of [...(await ask()), ...(await ask())]) {
      expect(body.data.project.name).toBe(sandbox.world.project.project.name);
    }
    await bothAnswered(gateway, 'Ask');
    expect(sandbox.seen('project', '/v1/project')).toHaveLength(1);
  });

  it('poll each feed as one, and count as one', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gateway = await startWorkers(sandbox, quick);
    const followers = Array.from({ length: 6 }, () => new LastingFollower(gateway.url));
    await subscribed(gateway, 6);
    const expected: string[] = [];
    const polls = () => gateway.metric('seisgraph_feed_polls_total{feed="triggerChanges"}');
    const fromMs = Date.now();
    const before = Number(await polls());
    for (let id = 1; id <= 30; id++) expected.push(`CLOSED ${addTrigger(sandbox, { id }).id}`);
    for (const { lines } of followers) {
      await vi.waitFor(() => expect([...lines].sort()).toEqual([...expected].sort()), 20_000);
    }
    await vi.waitFor(async () => expect(Number(await polls()) - before).toBeGreaterThan(8), 20_000);
    const polled = Number(await polls()) - before;
    expect(polled).toBeLessThanOrEqual((Date.now() - fromMs) / 250 + 2);
    expect(await gateway.metric('seisgraph_websockets')).toBe(6);
    expect(await gateway.metric('seisgraph_feed_active{feed="triggerChanges"}')).toBe(1);
    await vi.waitFor(async () => {
      const { status, feeds } = await (await fetch(`${gateway.url}/ready`)).json();
      expect(status).toBe('ok');
      expect(feeds[0]).toMatchObject({ name: 'triggerChanges', active: true, ok: true });
    }, 20_000);
    for (const follower of followers) await follower.leave();
    const counted = await polls();
    expect(counted).toBeGreaterThan(5);
    // The sweep asks for triggers, too.
    expect(counted).toBeLessThanOrEqual(sandbox.seen('project', '/v1/triggers').length);
  });

  it('allow a client its operations once, and show the metrics of both whichever is asked', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox, { CLIENT_RATE_PER_MINUTE: '3' });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gateway.query('query Ask { __typename }')),
    );
    // Those that are refused are not even read.
    await bothAnswered(gateway, null);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(3).fill(200), ...Array(9).fill(429)]);
    const ok = 'seisgraph_operations_total{operation="other",kind="query",outcome="ok"}';
    for (let scrape = 0; scrape < 4; scrape++) expect(await gateway.metric(ok)).toBe(3);
    expect(await gateway.metric('seisgraph_processes')).toBe(2);
  });

  it('serve one sandbox, and say once where', async () => {
    await using gateway = await startWorkers(null);
    // The newest ones change while the sandbox lives.
    const to = new Date(Date.now() - 3 * 86_400_000).toISOString();
    const ask = async () => {
      const query = `query Ask { events(first: 3, filter: { to: "${to}" }) { nodes { id originTime } } }`;
      const { body } = await gateway.query(query, { 'cache-control': 'no-cache' });
      return body.data.events.nodes;
    };
    const first = await ask();
    expect(first).toHaveLength(3);
    for (let count = 0; count < 3; count++) expect(await ask()).toEqual(first);
    await bothAnswered(gateway, 'Ask');
    const listening = gateway.lines().filter(({ msg }) => msg === 'Listening');
    expect(listening).toEqual([expect.objectContaining({ url: gateway.url, workers: 2, sandbox: true })]);
  });

  it('heed a token file that changes, both of them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'seisgraph-workers-'));
    const file = join(folder, 'tokens');
    await writeFile(file, 'first-token-of-two');
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox, { AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: file });
    const statuses = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => gateway.query('query Ask { __typename }', headers)),
      );
      return new Set(answers.map(({ status }) => status));
    };
    expect(await statuses('first-token-of-two')).toEqual(new Set([200]));
    await bothAnswered(gateway, 'Ask');
    await writeFile(file, 'second-token-of-two');
    await vi.waitFor(async () => {
      expect(await statuses('second-token-of-two')).toEqual(new Set([200]));
      expect(await statuses('first-token-of-two')).toEqual(new Set([401]));
    }, 30_000);
    await rm(folder, { recursive: true });
  });

  it('let a client have its sockets once, and those of a worker that has gone again', async () => {
    await using gw = await startGateway({ env: { WORKERS: '2' }, socketsPerClient: 3 });
    const sockets = await Promise.all([1, 2, 3].map(() => openSocket(gw, { init: {} })));
    const refused = await openSocket(gw, {});
    refused.send({ type: 'connection_init' });
    expect((await refused.closed).code).toBe(1013);
    sockets[0]?.socket.terminate();
    await vi.waitFor(async () => {
      await using again = await openSocket(gw, { init: {} });
      expect(again.socket.readyState).toBe(again.socket.OPEN);
    });
  });

  it.skipIf(noRedis)('are an instance each where there is Redis', async () => {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox, { REDIS_URL: redis.url });
    await vi.waitFor(async () => {
      expect(await gateway.metric('seisgraph_instances')).toBe(2);
      expect(await gateway.metric('seisgraph_redis_up')).toBe(1);
    }, 30_000);
    await Promise.all(Array.from({ length: 6 }, () => gateway.query('query Ask { project { name } }')));
    await bothAnswered(gateway, 'Ask');
    expect(sandbox.seen('project', '/v1/project')).toHaveLength(1);
  });
});

describe('a worker that is killed', () => {
  it('leaves the connections that it had not taken yet to another', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox);
    await gateway.query('{ __typename }');
    const pid = Number(gateway.pids().get(1));
    process.kill(pid, 'SIGSTOP');
    // The one that is stopped is handed one of them, and cannot take it.
    const answers = Array.from({ length: 6 }, () => gateway.query('{ __typename }'));
    let answered = 0;
    for (const answer of answers) void answer.then(() => answered++);
    await vi.waitFor(() => expect(answered).toBe(5), 20_000);
    process.kill(pid, 'SIGKILL');
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  });

  it('is replaced, and its subscribers resume: nothing is lost, nothing delivered twice, no count goes back', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gateway = await startWorkers(sandbox, quick);
    const followers = Array.from({ length: 8 }, () => new LastingFollower(gateway.url));
    await subscribed(gateway, 8);
    const expected: string[] = [];
    const all = (ids: readonly string[]) =>
      vi.waitFor(() => {
        for (const { lines } of followers) expect([...lines].sort()).toEqual([...ids].sort());
      }, 30_000);
    const add = () => void expected.push(`CLOSED ${addTrigger(sandbox, { id: expected.length + 1 }).id}`);
    for (let count = 0; count < 5; count++) add();
    await all(expected);
    const polls = 'seisgraph_feed_polls_total{feed="triggerChanges"}';
    for (const number of [1, 2]) {
      const before = await gateway.metric(polls);
      const pid = Number(gateway.pids().get(number));
      process.kill(pid, 'SIGKILL');
      for (let count = 0; count < 10; count++) {
        add();
        await vi.waitFor(
          () => expect(followers.some(({ lines }) => lines.length === expected.length)).toBe(true),
          30_000,
        );
      }
      await all(expected);
      await vi.waitFor(() => expect(gateway.pids().get(number)).not.toBe(pid), 30_000);
      expect(await gateway.metric(polls)).toBeGreaterThanOrEqual(Number(before));
    }
    await subscribed(gateway, 8);
    expect(await gateway.metric('seisgraph_processes')).toBe(2);
    for (const { lines } of followers) expect(lines).toHaveLength(25);
    // Each of them had its socket broken, and not each twice.
    const broken = followers.flatMap(({ closeCodes }) => closeCodes);
    expect(broken.length).toBeGreaterThanOrEqual(4);
    expect(gateway.lines().filter(({ msg }) => msg === 'A worker has ended')).toHaveLength(2);
    for (const follower of followers) await follower.leave();
  });

  it('is replaced after a fault of its own too, when it has let its sockets go elsewhere', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox, {}, ['./test/support/fault-on-signal.mjs']);
    const sockets = await Promise.all([1, 2, 3, 4].map(() => openSocket({ url: gateway.url }, { init: {} })));
    process.kill(Number(gateway.pids().get(1)), 'SIGUSR2');
    const code = await Promise.race(sockets.map(async (socket) => (await socket.closed).code));
    expect(code).toBe(1012);
    await vi.waitFor(() => {
      expect(gateway.lines().map(({ msg }) => msg)).toContain('Another worker has taken its place');
    }, 60_000);
    const faults = gateway.lines().filter(({ msg }) => msg === 'Uncaught fault: leaving');
    expect(faults).toEqual([expect.objectContaining({ worker: 1 })]);
    expect(gateway.process.stdout).not.toContain('svc_sk_secret');
  });
});

describe('the primary', () => {
  it('has all workers finish what is in flight at SIGTERM, and exits 0', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    await using gateway = await startWorkers(sandbox);
    const { url } = gateway;
    const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket({ url }, { init: {} })));
    sandbox.faults.add({ source: 'catalogue', path: /networks/, latencyMs: 2_000, times: 100 });
    const slow = Array.from({ length: 6 }, (_, n) =>
      gateway.query(`query Ask { network(networkId: "n${n}") { name } }`),
    );
    await vi.waitFor(() => expect(sandbox.inFlight('catalogue')).toBe(6), 10_000);
    gateway.process.child.kill('SIGTERM');
    const codes = await Promise.all(sockets.map(async (socket) => (await socket.closed).code));
    expect(codes).toEqual(Array(10).fill(1012));
    for (const { body } of await Promise.all(slow)) expect(body).toEqual({ data: { network: null } });
    expect(await gateway.process.exit).toEqual({ code: 0, signal: null });
    await bothAnswered(gateway, 'Ask');
    expect(gateway.process.stderr).toBe('');
    expect(gateway.lines().map(({ msg }) => msg)).not.toContain('A worker has ended');
  });

  it('ends at once, with its workers, when it is told twice', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox);
    sandbox.faults.add({ source: 'project', hang: true, times: 10 });
    const hanging = gateway.query('{ project { name } }').catch(() => null);
    await vi.waitFor(() => expect(sandbox.inFlight('project')).toBe(1), 10_000);
    gateway.process.child.kill('SIGTERM');
    await vi.waitFor(() => expect(gateway.process.stdout).toContain('"Leaving"'), 10_000);
    gateway.process.child.kill('SIGTERM');
    expect(await gateway.process.exit).toEqual({ code: 0, signal: null });
    await hanging;
    for (const pid of gateway.pids().values())
      await vi.waitFor(() => expect(hasEnded(pid)).toBe(true), 10_000);
  });

  it('leaves no worker behind when it is killed', async () => {
    await using sandbox = await startSandbox({ live: false });
    await using gateway = await startWorkers(sandbox);
    gateway.process.child.kill('SIGKILL');
    for (const pid of gateway.pids().values())
      await vi.waitFor(() => expect(hasEnded(pid)).toBe(true), 20_000);
  });

  it('stops with one line at a wrong number of workers, and when the port is taken', async () => {
    await using none = startProcess({ env: { WORKERS: '0' } });
    expect(await none.exit).toMatchObject({ code: 1 });
    expect(none.stderr).toBe('seisgraph: WORKERS must be a whole number from 1 to 64, not "0"\n');
    const other = createServer();
    const { port } = await listen(other, 0, '127.0.0.1');
    await using taken = startProcess({ env: { WORKERS: '2', PORT: String(port) } });
    expect(await taken.exit).toMatchObject({ code: 1 });
    expect(taken.stderr).toMatch(new RegExp(`^seisgraph: PORT ${port} is taken: [^\\n]*\\n$`));
    expect(taken.stdout).toBe('');
    other.close();
  });
});
