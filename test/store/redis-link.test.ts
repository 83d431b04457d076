import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { realClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { RedisLink } from '../../src/store/redis/link.js';
import { StoreUnavailable } from '../../src/store/store.js';
import { noRedis, startRedis } from '../support/redis.js';
import { isUp, linkTo } from './links.js';

if (noRedis) console.warn(`The connection to Redis: ${noRedis}`);

const asking = `return {redis.call('TIME'), 'answer'}`;

async function connectionCount(admin: Redis): Promise<number> {
  const [, count] = /total_connections_received:(\d+)/.exec(await admin.info('stats')) ?? [];
  return Number(count);
}

describe.skipIf(noRedis)(`the connection to Redis${noRedis ? ` (${noRedis})` : ''}`, () => {
  it('is not given up because this process was busy for longer than an answer may take', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    const answer = link.run(asking, [], []);
    // The command has left, and its answer lies unread.
    await vi.waitFor(async () => {
      const raw = new Redis(redis.url);
      expect(await raw.info('commandstats')).toMatch(/cmdstat_eval(sha)?:calls=[1-9]/);
      await raw.quit();
    });
    const untilMs = Date.now() + 2_000;
    while (Date.now() < untilMs);
    expect((await answer).map(String)).toEqual(['answer']);
    const next = link.run(asking, [], []);
    while (Date.now() < untilMs + 2_000);
    expect((await next).map(String)).toEqual(['answer']);
    expect(link.isUp).toBe(true);
  });

  it('is given up when Redis hangs, and made anew when it goes on', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    redis.pause();
    await expect(link.run(asking, [], [])).rejects.toBeInstanceOf(StoreUnavailable);
    expect(link.isUp).toBe(false);
    // At once, from then on.
    await expect(link.run(asking, [], [])).rejects.toBeInstanceOf(StoreUnavailable);
    redis.resume();
    await isUp(link);
    expect((await link.run(asking, [], [])).map(String)).toEqual(['answer']);
  });

  it('is given up when it is taken and nothing is said on it, so that the next can be of use', async () => {
    const taken: Socket[] = [];
    const silent = createServer((socket) => void taken.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const log = createLog({ level: 'silent', secrets: [] });
    const link = new RedisLink({ url: `redis://127.0.0.1:${port}`, clock: realClock, log });
    await link.settled;
    expect(link.isUp).toBe(false);
    // Both connections, and both anew.
    await vi.waitFor(() => expect(taken.length).toBeGreaterThanOrEqual(4), 15_000);
    link.close();
    for (const socket of taken) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('is given up when Redis refuses what it is asked', async () => {
    await using redis = await startRedis();
    const link = await linkTo(redis);
    await expect(link.run('this is no script', [], [])).rejects.toBeInstanceOf(StoreUnavailable);
    await isUp(link);
  });

  it('logs once, and in one line, that Redis asks for no password though its address has one', async () => {
    await using redis = await startRedis();
    const written = vi.spyOn(console, 'warn');
    const admin = new Redis(redis.url);
    await admin.call(
      'ACL',
      'SETUSER',
      'quiet',
      'on',
      '>secret-of-quiet',
      '~*',
      '&*',
      '+@all',
      '-info',
      '-client',
    );
    for (const [user, lines] of [
      [':secret%2Fof-all', [/"reason"/, /REDIS_URL has a password, but this Redis asks for none/]],
      ['quiet:secret-of-quiet', []],
      ['quiet:another', [/"reason":"it does not take the password: WRONGPASS/]],
    ] as const) {
      const logged: string[] = [];
      const log = createLog({ level: 'warn', secrets: [], write: (line) => logged.push(line) });
      const url = redis.url.replace('redis://', `redis://${user}@`);
      const link = new RedisLink({ url, clock: realClock, log });
      await link.settled;
      expect(link.isUp).toBe(user !== 'quiet:another');
      expect(logged.join('')).not.toContain('secret');
      const kept = logged.filter((line) => lines.some((text) => text.test(line)));
      expect(kept, user).toHaveLength(lines.length ? 1 : 0);
      expect(logged).toEqual(kept);
      link.close();
    }
    expect(written).not.toHaveBeenCalled();
    await admin.quit();
  });

  it('is none where the database cannot be selected, and never one to another database', async () => {
    await using redis = await startRedis();
    const admin = new Redis(redis.url);
    await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>secret-of-narrow', '~*', '&*', '+@all', '-select');
    const narrow = redis.url.replace('redis://', 'redis://narrow:secret-of-narrow@');
    for (const [url, reason] of [
      [`${redis.url}/16`, /database 16 cannot be selected: .*out of range/],
      [`${narrow}/1`, /database 1 cannot be selected: .*NOPERM/],
    ] as const) {
      const lines: string[] = [];
      const log = createLog({ level: 'info', secrets: [], write: (line) => lines.push(line) });
      const link = new RedisLink({ url, clock: realClock, log });
      await link.settled;
      expect(link.isUp).toBe(false);
      expect(lines.join('')).toMatch(reason);
      // Later connections too: a failure that nobody catches there ends the process, and this test.
      const accepted = await connectionCount(admin);
      await vi.waitFor(
        async () => expect(await connectionCount(admin)).toBeGreaterThanOrEqual(accepted + 4),
        15_000,
      );
      expect(link.isUp).toBe(false);
      await expect(
        link.run(`redis.call('SET', 'x', '1') return {redis.call('TIME')}`, [], []),
      ).rejects.toThrow();
      link.close();
    }
    expect(await admin.dbsize()).toBe(0);
    await admin.quit();
  });

  it('is none to a replica, which takes no writes, until that is promoted', async () => {
    await using redis = await startRedis();
    await using replica = await startRedis();
    const admin = new Redis(replica.url);
    const { hostname, port } = new URL(redis.url);
    await admin.replicaof(hostname, Number(port));
    const lines: string[] = [];
    const log = createLog({ level: 'info', secrets: [], write: (line) => lines.push(line) });
    const link = new RedisLink({ url: replica.url, clock: realClock, log });
    const accepted = await connectionCount(admin);
    await vi.waitFor(
      async () => expect(await connectionCount(admin)).toBeGreaterThanOrEqual(accepted + 4),
      15_000,
    );
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual([
      expect.stringMatching(/written: READONLY/),
    ]);
    await admin.replicaof('NO', 'ONE');
    await isUp(link);
    link.close();
    await admin.quit();
  });

  it('is to the database that its address names, also after the connection was lost', async () => {
    await using redis = await startRedis();
    const log = createLog({ level: 'silent', secrets: [] });
    const link = new RedisLink({ url: `${redis.url}/3`, clock: realClock, log });
    await isUp(link);
    await redis.restart();
    await isUp(link);
    await link.run(`redis.call('SET', 'x', '1') return {redis.call('TIME')}`, [], []);
    const admin = new Redis(`${redis.url}/3`);
    expect(await admin.dbsize()).toBe(1);
    await admin.select(0);
    expect(await admin.dbsize()).toBe(0);
    await admin.quit();
    link.close();
  });
});
