import { describe, expect, it, vi } from 'vitest';
import { aHealthReport, aSensor } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { clockFasterBy } from '../support/clock.js';
import { startGateway } from '../support/gateway.js';
import { openSocket, type RawSocket } from '../support/raw-socket.js';

const idOf = (n: number) => `00000000000${n}`;
const query = (filter = '') => `subscription { sensorHealthChanges${filter && `(filter: ${filter})`} {
  replayed roundS sensor { stationCode } report { batteryVolts } } }`;
const subscribe = (id: string, filter?: string) => ({
  id,
  type: 'subscribe',
  payload: { query: query(filter) },
});

/** Sensors S0 to S`count - 1`, each with one report. A minute of the gateway's takes a second. */
async function open(count: number, env: Record<string, string> = {}) {
  const clock = clockFasterBy(60);
  const world = emptyWorld();
  const at = () => new Date(clock.wallMs()).toISOString();
  const ids = Array.from({ length: count }, (_, n) => idOf(n));
  const reports = Object.fromEntries(ids.map((id) => [id, [] as ReturnType<typeof aHealthReport>[]]));
  const sensors = ids.map((id, n) => aSensor({ device_id: id, station: `S${n}` }));
  world.project.sensors.push(...sensors);
  world.project.healthReports = reports;
  const report = (n: number, volts: number) => {
    reports[idOf(n)]?.push(aHealthReport({ timestamp: at(), battery_volts: volts }));
    Object.assign(sensors[n] ?? {}, { last_seen: at() });
  };
  for (let n = 0; n < count; n++) report(n, n);
  const gw = await startGateway({
    clock,
    env: { UPSTREAM_TIMEOUT_MS: '600000', PROJECT_RATE_PER_MINUTE: '600', PROJECT_RATE_BURST: '100', ...env },
    sandbox: { world, rateLimits: false },
    isAlone: true,
  });
  const socket = await openSocket(gw, { init: {} });
  return {
    gw,
    socket,
    report,
    seen: (n: number) => gw.sandbox.seen('project', `/v1/sensors/${idOf(n)}/soh`).length,
    async [Symbol.asyncDispose]() {
      await socket[Symbol.asyncDispose]();
      await gw.close();
    },
  };
}

async function changesOf(socket: RawSocket, count: number) {
  const changes: Record<string, unknown>[] = [];
  while (changes.length < count) {
    const { id, payload } = await socket.next();
    const { replayed, roundS, sensor, report } = payload.data.sensorHealthChanges;
    changes.push({ id, replayed, roundS, station: sensor.stationCode, volts: report.batteryVolts });
  }
  return changes.sort((one, other) => (String(one.station) < String(other.station) ? -1 : 1));
}

describe('sensorHealthChanges', () => {
  it('delivers the latest report of each selected sensor, then later ones, and reads no other sensor', async () => {
    await using world = await open(4);
    const { socket, report, seen } = world;
    socket.send(subscribe('a', `{ deviceIds: ["${idOf(0)}", "${idOf(2)}"] }`));
    const first = { id: 'a', replayed: false, roundS: 60 };
    expect(await changesOf(socket, 2)).toEqual([
      { ...first, station: 'S0', volts: 0 },
      { ...first, station: 'S2', volts: 2 },
    ]);
    report(2, 12.5);
    expect(await changesOf(socket, 1)).toEqual([{ ...first, station: 'S2', volts: 12.5 }]);
    expect([seen(1), seen(3)]).toEqual([0, 0]);
  });

  it('gives a later subscriber what is known, without a request', async () => {
    await using world = await open(2);
    const { gw, socket, seen } = world;
    socket.send(subscribe('a'));
    await changesOf(socket, 2);
    const before = seen(0) + seen(1);
    await using other = await openSocket(gw, { init: {} });
    other.send(subscribe('b', '{ stationCodes: ["S1"] }'));
    expect(await changesOf(other, 1)).toEqual([
      { id: 'b', replayed: true, roundS: 60, station: 'S1', volts: 1 },
    ]);
    expect(seen(0) + seen(1) - before).toBeLessThanOrEqual(2);
  });

  it('comes back sooner to a sensor that has been in contact since than to one that is silent', async () => {
    await using world = await open(2);
    const { socket, report, seen } = world;
    socket.send(subscribe('a'));
    await changesOf(socket, 2);
    for (const volts of [11, 12, 13]) {
      report(1, volts);
      expect(await changesOf(socket, 1)).toMatchObject([{ station: 'S1', volts }]);
    }
    expect(seen(0)).toBe(1);
  });

  it('says how often it comes back: less often the more are watched', async () => {
    await using world = await open(9, { PROJECT_RATE_PER_MINUTE: '6' });
    world.socket.send(subscribe('a'));
    const [change] = await changesOf(world.socket, 1);
    expect(change?.roundS).toBeGreaterThanOrEqual(90);
  });

  it('reads after queries and other feeds, and holds none of their budget back', async () => {
    await using world = await open(2);
    const { gw, socket } = world;
    socket.send(subscribe('a'));
    await changesOf(socket, 2);
    const reads = gw.logLines.filter(({ endpoint }) => /sensors$|soh$/.test(String(endpoint)));
    expect(reads.map(({ endpoint, priority }) => [endpoint, priority])).toEqual([
      ['/v1/sensors', 'background'],
      ['/v1/sensors/{id}/soh', 'background'],
      ['/v1/sensors/{id}/soh', 'background'],
    ]);
  });

  it('does not wait for a sensor that cannot be read', async () => {
    await using world = await open(3);
    const { gw, socket } = world;
    gw.sandbox.faults.add({ source: 'project', path: `/v1/sensors/${idOf(0)}/soh`, status: 500 });
    socket.send(subscribe('a'));
    expect(await changesOf(socket, 2)).toMatchObject([{ station: 'S1' }, { station: 'S2' }]);
  });

  it('reads nothing once nobody watches', async () => {
    await using world = await open(1);
    const { gw, socket } = world;
    socket.send(subscribe('a'));
    await changesOf(socket, 1);
    socket.send({ id: 'a', type: 'complete' });
    const feed = async () => {
      const { gateway } = await gw.query('{ gateway { feeds { name active } } }');
      return gateway.feeds.find(({ name }: { name: string }) => name === 'sensorHealthChanges')?.active;
    };
    await vi.waitFor(async () => expect(await feed()).toBe(false), 10_000);
  });

  it('has no source where only the catalogue is configured', async () => {
    await using gw = await startGateway({ project: false, sandbox: { world: emptyWorld() } });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('a'));
    expect((await socket.next()).payload.errors[0].extensions.code).toBe('NOT_CONFIGURED');
  });
});
