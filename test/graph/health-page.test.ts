import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openParts, type Payload } from '../support/parts.js';
import { openSocket } from '../support/raw-socket.js';

const nowMs = Date.UTC(2026, 2, 8, 12);

const page = `query HealthPage {
  sensors(first: 100) {
    nodes {
      stationCode
      status
      ... @defer {
        healthReports(last: 20) { nodes { timestamp batteryVolts } }
        healthHistory(buckets: 96) { reportCount buckets { reportCount batteryVolts { min mean max } temperatureC { mean } } }
      }
    }
  }
}`;

interface Station {
  readonly stationCode: string;
  readonly status: string;
  readonly healthReports?: { readonly nodes: readonly object[] } | null;
  readonly healthHistory?: { readonly reportCount: number; readonly buckets: readonly object[] } | null;
}

const merged = (stations: Station[], payload: Payload) => {
  for (const { path, data } of payload.incremental ?? []) {
    const at = path.at(-1);
    stations[at] = { ...(stations[at] as Station), ...data };
  }
};
const errorsOf = (payload: Payload) => [
  ...(payload.errors ?? []),
  ...(payload.incremental ?? []).flatMap(({ errors = [] }: Payload) => errors),
];

/** The stations of the sandbox as it is served, behind the project's rate limit of 60 a minute. */
const start = (clock: ManualClock): Promise<TestGateway> => startGateway({ clock, sandbox: { live: true } });

/** Opens the page, and drives the clock until it is complete. */
async function open(gw: TestGateway, clock: ManualClock) {
  const before = gw.sandbox.seen('project').length;
  const startedMs = clock.wallMs();
  const parts = await openParts(gw, page);
  const first = await parts.next();
  const stations: Station[] = first.data.sensors.nodes;
  const firstPaint = { afterMs: clock.wallMs() - startedMs, statuses: stations.map(({ status }) => status) };
  const problems = errorsOf(first);
  let isOver = false;
  const taking = (async () => {
    for (const payload of await parts.rest()) {
      merged(stations, payload);
      problems.push(...errorsOf(payload));
    }
    isOver = true;
  })();
  for (const endMs = startedMs + 120_000; !isOver && clock.wallMs() < endMs; await clock.advance(250))
    await new Promise(setImmediate);
  await taking;
  const requests = gw.sandbox.seen('project').slice(before);
  return { firstPaint, stations, problems, requests, startedMs };
}

/** The sandbox has 55 stations, of which 44 are of the project and send reports. */
function expectComplete({ stations, problems, requests, startedMs }: Awaited<ReturnType<typeof open>>): void {
  expect(problems).toEqual([]);
  expect(stations).toHaveLength(55);
  const shown = stations.filter(({ healthReports, healthHistory }) => healthReports && healthHistory);
  expect(shown).toHaveLength(44);
  expect(shown.every(({ healthHistory }) => healthHistory?.buckets.length === 96)).toBe(true);
  const health = requests.filter(({ path }) => path.endsWith('/soh'));
  expect(health).toHaveLength(44);
  expect(Math.max(...health.map(({ atMs }) => atMs)) - startedMs).toBeLessThan(60_000);
  expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
}

describe('a page of the health of all stations', () => {
  it('shows what is cached at once, and is complete within a minute of the rate limit', async () => {
    const clock = new ManualClock(nowMs);
    await using gw = await start(clock);
    await gw.query('{ sensors(first: 100) { nodes { stationCode } } }');
    await clock.advance(5_000);
    const opened = await open(gw, clock);
    // The clock stands as long as nothing waits for the rate limit.
    expect(opened.firstPaint.afterMs).toBe(0);
    expect(opened.firstPaint.statuses).toHaveLength(55);
    expectComplete(opened);
  }, 60_000);

  it('is complete within a minute while the feeds are followed, too', async () => {
    const clock = new ManualClock(nowMs);
    await using gw = await start(clock);
    await using socket = await openSocket(gw, { init: {} });
    for (const feed of ['triggerChanges { kind }', 'eventChanges { kind }', 'sensorStatusChanges { status }'])
      socket.send({ id: feed, type: 'subscribe', payload: { query: `subscription { ${feed} }` } });
    await gw.query('{ sensors(first: 100) { nodes { stationCode } } }');
    await clock.advance(5_000);
    expectComplete(await open(gw, clock));
  }, 60_000);
});
