import { type DocumentNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { subscribeWithResume } from '../../src/client/index.js';
import { aSensor } from '../../src/sandbox/builders.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { noRedis, startRedis } from '../support/redis.js';
import { quick } from './live-gateway.js';

const document: DocumentNode = parse(
  'subscription ($after: String) { sensorStatusChanges(after: $after) { cursor previousStatus status sensor { stationCode } } }',
);
const seenNow = () => new Date().toISOString();

function startWorld() {
  const world = emptyWorld();
  world.project.sensors.push(
    ...['AA', 'BB', 'CC'].map((station) =>
      aSensor({ device_id: `0000000000${station}`, station, status: 'online', last_seen: seenNow() }),
    ),
  );
  return startSandbox({ world, live: false, rateLimits: false });
}

type Sandbox = Awaited<ReturnType<typeof startWorld>>;

function set({ world }: Sandbox, station: string, status: string): void {
  Object.assign(world.project.sensors.find((one) => one.station === station) ?? {}, {
    status,
    last_seen: seenNow(),
  });
}

/** Follows the list of the gateway; the lines are what it showed, then each change. */
async function follow(gw: TestGateway, transport: 'ws' | 'sse') {
  const { sensors } = await gw.query('{ sensors(first: 50) { changesCursor nodes { stationCode status } } }');
  const lines: string[] = sensors.nodes.map(
    ({ stationCode, status }: { stationCode: string; status: string }) => `${stationCode} ${status}`,
  );
  let cursor: string | null = sensors.changesCursor;
  const connect = (to: Pick<TestGateway, 'url'>) => {
    const leaving = new AbortController();
    const options = {
      url: `${to.url}/graphql`,
      transport,
      cursor,
      webSocketImpl: WebSocket,
      signal: leaving.signal,
    };
    const done = (async () => {
      for await (const { data } of subscribeWithResume(document, options)) {
        const change = (data as { sensorStatusChanges: Change }).sensorStatusChanges;
        cursor = change.cursor;
        lines.push(`${change.sensor.stationCode} ${change.previousStatus} ${change.status}`);
      }
    })();
    done.catch(() => {});
    return { done, leave: () => leaving.abort() };
  };
  return { lines, connect };
}

interface Change {
  readonly cursor: string;
  readonly previousStatus: string;
  readonly status: string;
  readonly sensor: { readonly stationCode: string };
}

const showing = (lines: readonly string[], expected: readonly string[]) =>
  expect.poll(() => lines, { timeout: 30_000 }).toEqual(expected);

describe.each(['ws', 'sse'] as const)('sensor status over %s', (transport) => {
  it('continues the list, through a restart of the gateway', async () => {
    await using sandbox = await startWorld();
    let gateway = await startGateway({ behind: sandbox, env: quick });
    const { port } = new URL(gateway.url);
    const { lines, connect } = await follow(gateway, transport);
    set(sandbox, 'BB', 'offline');
    const { done, leave } = connect(gateway);
    const expected = ['AA ONLINE', 'BB ONLINE', 'CC ONLINE', 'BB ONLINE OFFLINE'];
    await showing(lines, expected);
    await gateway.close();
    set(sandbox, 'CC', 'offline');
    gateway = await startGateway({ behind: sandbox, env: { ...quick, PORT: port } });
    expected.push('CC ONLINE OFFLINE');
    await showing(lines, expected);
    set(sandbox, 'BB', 'online');
    expected.push('BB OFFLINE ONLINE');
    await showing(lines, expected);
    leave();
    await done;
    await gateway.close();
  }, 60_000);
});

describe('a cursor of another deployment', () => {
  it('has expired where none of its sensors is there, and brings no silence', async () => {
    await using theirs = await startWorld();
    await using ours = await startWorld();
    for (const sensor of ours.world.project.sensors)
      Object.assign(sensor, { device_id: `F${sensor.device_id.slice(1)}`, station: `X${sensor.station}` });
    await using other = await startGateway({ behind: theirs, env: quick });
    await using gw = await startGateway({ behind: ours, env: quick });
    const { lines, connect } = await follow(other, 'sse');
    const { done } = connect(gw);
    await expect(done).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
    expect(lines).toHaveLength(3);
  });
});

if (noRedis) console.warn(`Sensor status of several instances on Redis: ${noRedis}`);

describe('sensor status of several instances', () => {
  /** A client that comes to another of them behind each change. */
  async function travel(sandbox: Sandbox, gateways: readonly TestGateway[]) {
    const [first] = gateways as [TestGateway];
    const { lines, connect } = await follow(first, 'ws');
    const expected = ['AA ONLINE', 'BB ONLINE', 'CC ONLINE'];
    for (let round = 0; round < 6; round++) {
      const { done, leave } = connect(gateways[round % gateways.length] ?? first);
      const [station, from, to] = [
        ['AA', 'BB'][round % 2] ?? 'AA',
        ...(round % 4 < 2 ? ['ONLINE', 'OFFLINE'] : ['OFFLINE', 'ONLINE']),
      ];
      set(sandbox, station, String(to).toLowerCase());
      expected.push(`${station} ${from} ${to}`);
      await showing(lines, expected);
      leave();
      await done;
    }
  }

  it('is continued by every worker', async () => {
    await using sandbox = await startWorld();
    await using gateway = await startGateway({ behind: sandbox, env: { ...quick, WORKERS: '3' } });
    await travel(sandbox, [gateway]);
  }, 120_000);

  it.skipIf(noRedis)(
    'is continued by another instance on Redis',
    async () => {
      await using sandbox = await startWorld();
      const redis = await startRedis();
      const start = () =>
        startGateway({ behind: sandbox, env: { ...quick, REDIS_URL: redis.url }, isAlone: true });
      const gateways = await Promise.all([start(), start()]);
      await travel(sandbox, gateways);
      for (const gateway of gateways) await gateway.close();
      await redis.close();
    },
    120_000,
  );
});
