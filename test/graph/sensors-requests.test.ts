import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aTrigger } from '../../src/sandbox/builders.js';
import type { World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addSensor, deviceId, secondsAgo, stationCode, worldOf } from './sensors-world.js';

/** `count` triggers, of one sensor after the other. */
function addTriggers(world: World, count: number, sensors: number): void {
  for (let n = 0; n < count; n++) {
    const of = n % sensors;
    world.project.triggers.push(
      aTrigger({
        id: n,
        device_id: deviceId(of),
        station: stationCode(of),
        start_time: secondsAgo(3600 + n),
      }),
    );
  }
}

const paths = (gw: TestGateway) => gw.sandbox.requests.map(({ source, path }) => `${source} ${path}`).sort();

const triggersWithSensors = `query ($first: Int!) {
  triggers(first: $first) { nodes { deviceId sensor { stationCode firmwareVersion } } }
}`;

interface TriggerNode {
  readonly deviceId: string;
  readonly sensor: { readonly stationCode: string } | null;
}

describe('the sensors of triggers', () => {
  it('of 100 are one request, without the catalogue and without the project', async () => {
    const world = worldOf(40);
    addTriggers(world, 100, 40);
    await using gw = await startGateway({ sandbox: { world } });
    const { triggers } = await gw.query(triggersWithSensors, { first: 100 });
    expect(triggers.nodes).toHaveLength(100);
    for (const [n, node] of (triggers.nodes as TriggerNode[]).entries()) {
      expect(node.sensor?.stationCode).toBe(stationCode(n % 40));
    }
    expect(paths(gw)).toEqual(['project /v1/sensors', 'project /v1/triggers']);
  });

  it('of 500 triggers of 300 sensors are at most two', async () => {
    const world = worldOf(700);
    addTriggers(world, 500, 300);
    await using gw = await startGateway({ sandbox: { world } });
    const { triggers } = await gw.query(triggersWithSensors, { first: 500 });
    for (const [n, node] of (triggers.nodes as TriggerNode[]).entries()) {
      expect(node.sensor?.stationCode).toBe(stationCode(n % 300));
    }
    expect(gw.sandbox.requests.length).toBeLessThanOrEqual(3);
  });

  it('of few in a list of many pages are read one by one', async () => {
    const world = worldOf(2_600);
    for (const n of [2_597, 2_598, 2_599]) {
      world.project.triggers.push(aTrigger({ id: n, device_id: deviceId(n), start_time: secondsAgo(n) }));
    }
    await using gw = await startGateway({ sandbox: { world } });
    const { triggers } = await gw.query(triggersWithSensors, { first: 100 });
    expect((triggers.nodes as TriggerNode[]).map(({ sensor }) => sensor?.stationCode)).toEqual(
      [2_597, 2_598, 2_599].map(stationCode),
    );
    // The triggers, the page that told how many pages there are, and the three.
    await expect.poll(() => gw.sandbox.inFlight('project')).toBe(0);
    expect(gw.sandbox.requests).toHaveLength(5);
  });

  it('are each their own: shuffled, missing and failing ones do not shift the others', async () => {
    const world = worldOf(5_000);
    const wanted = [4_990, 17, 4_500, 20_000, 4_999, 3, 2_000, 20_001];
    for (const [index, n] of wanted.entries()) {
      world.project.triggers.push(
        aTrigger({ id: index, device_id: deviceId(n), start_time: secondsAgo(index + 60) }),
      );
    }
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({
      source: 'project',
      path: `/v1/sensors/${deviceId(4_500)}`,
      status: 500,
      times: 9,
    });
    const { data, errors } = await gw.queryWithErrors(triggersWithSensors, { first: 100 });
    const shown = (data.triggers.nodes as TriggerNode[]).map(({ sensor }) => sensor?.stationCode ?? null);
    expect(shown).toEqual(wanted.map((n) => (n === 4_500 || n >= 5_000 ? null : stationCode(n))));
    expect(errors?.map(({ path }) => path)).toEqual([['triggers', 'nodes', 2, 'sensor']]);
  });

  it('asked for one by one are read from the list from the second on', async () => {
    // Each process learns by itself how it is asked.
    await using gw = await startGateway({ sandbox: { world: worldOf(40) }, isAlone: true });
    for (let n = 0; n < 40; n++) {
      const query = `{ sensor(by: { deviceId: "${deviceId(n)}" }) { stationCode } }`;
      expect(await gw.query(query)).toEqual({ sensor: { stationCode: stationCode(n) } });
    }
    expect(paths(gw)).toEqual(['project /v1/sensors', `project /v1/sensors/${deviceId(0)}`]);
  });

  it('that the project no longer has are null, and cost nothing more', async () => {
    const world = worldOf(3);
    addTriggers(world, 20, 10);
    await using gw = await startGateway({ sandbox: { world } });
    const { triggers } = await gw.query(triggersWithSensors, { first: 100 });
    expect((triggers.nodes as TriggerNode[]).filter(({ sensor }) => sensor)).toHaveLength(6);
    expect(gw.sandbox.requests).toHaveLength(2);
  });
});

describe('lists of sensors', () => {
  it('with the names of their networks are the pages and one more', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(250, ['net_1', 'net_2', 'net_3']) } });
    const { sensors } = await gw.query('{ sensors(first: 250) { nodes { deviceId network { name } } } }');
    expect(sensors.nodes).toHaveLength(250);
    expect(sensors.nodes[1].network).toEqual({ name: 'Name of net_2' });
    // One page of the project, three of the catalogue.
    expect(gw.sandbox.requests).toHaveLength(5);
  });

  it('with statistics are one more per network, with codes one more, then known for a day', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({
      clock,
      sandbox: { world: worldOf(40, ['net_1', 'net_2', 'net_3']) },
    });
    const query = '{ sensors(first: 40) { nodes { network { name code statistics { totalSensors } } } } }';
    const { sensors } = await gw.query(query);
    expect(sensors.nodes[2].network).toEqual({
      name: 'Name of net_3',
      code: 'N3',
      statistics: { totalSensors: 13 },
    });
    expect(gw.sandbox.requests).toHaveLength(2 + 1 + 3 + 3);
    gw.sandbox.forget();
    await clock.advance(23 * 3_600_000);
    await gw.query('{ sensors(first: 40) { nodes { network { code } } } }');
    expect(gw.sandbox.seen('catalogue', /^\/v1\/sensors\/./)).toEqual([]);
    await clock.advance(2 * 3_600_000);
    await gw.query('{ sensors(first: 40) { nodes { network { code } } } }');
    expect(gw.sandbox.seen('catalogue', /^\/v1\/sensors\/./)).toHaveLength(3);
  });

  it('ask for a network’s code where two sensors share a station code on the page, to order them', async () => {
    const world = worldOf(3);
    addSensor(world, 5, {
      project: null,
      catalogue: { station_code: stationCode(1), network_id: 'net_2', network_code: 'A2' },
    });
    await using gw = await startGateway({ sandbox: { world } });
    const first = await gw.query('{ sensors(first: 1) { nodes { stationCode } } }');
    expect(first.sensors.nodes).toEqual([{ stationCode: stationCode(0) }]);
    expect(gw.sandbox.requests).toHaveLength(2);
    const { sensors } = await gw.query('{ sensors { nodes { catalogueId } } }');
    const ids = sensors.nodes.map(({ catalogueId }: { catalogueId: string }) => catalogueId);
    expect(ids).toEqual(['sen_0', 'sen_5', 'sen_1', 'sen_2']);
    expect(gw.sandbox.requests.slice(2).map(({ path }) => path)).toEqual(['/v1/sensors/sen_5']);
  });

  it('read a detail only where a field that only the detail has was selected, one each', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(5) } });
    await gw.query(
      '{ sensors { nodes { deviceId catalogueId location { latitude name } networkCode model status } } }',
    );
    // Both lists, and the masking setting for the positions.
    expect(gw.sandbox.requests).toHaveLength(3);
    await gw.query('{ sensors(first: 2) { nodes { locationCode createdAt } } }');
    expect(gw.sandbox.requests).toHaveLength(5);
  });

  it('are read once for a hundred clients who ask at the same time, cold and when they are no longer fresh', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: worldOf(150) } });
    const ask = () =>
      Promise.all(Array.from({ length: 100 }, () => gw.query('{ sensors(first: 1) { nodes { id } } }')));
    await ask();
    expect(gw.sandbox.requests).toHaveLength(3);
    await clock.advance(30_000);
    await ask();
    await expect.poll(() => gw.sandbox.requests.length).toBe(6);
    await ask();
    expect(gw.sandbox.requests).toHaveLength(6);
  });

  it('that are long are read again so seldom that three quarters of the budget are left', async () => {
    const clock = new ManualClock();
    const world = worldOf(0);
    for (let n = 0; n < 1_100; n++) addSensor(world, n, { catalogue: null });
    // The clock of the test does not wait for messages between processes: refreshes would be few.
    await using gw = await startGateway({ clock, sandbox: { world }, catalogue: false, isAlone: true });
    const ask = () => gw.query('{ sensors(first: 1) { totalCount } }');
    expect((await ask()).sensors.totalCount).toBe(1_100);
    await clock.advance(60_000);
    gw.sandbox.forget();
    // Three pages at 60 a minute: every 12 seconds.
    for (let second = 0; second < 240; second += 5) {
      await ask();
      // A cached answer is there before the reading behind it has begun: by the next answer it has, and then it ends.
      await gw.fetch('/health');
      await expect
        .poll(() => [gw.sandbox.inFlight('project'), gw.sandbox.requests.length % 3])
        .toEqual([0, 0]);
      await clock.advance(5_000);
    }
    expect(gw.sandbox.requests.length).toBeGreaterThan(30);
    expect(gw.sandbox.requests.length).toBeLessThanOrEqual(60);
    expect(gw.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('from the project alone do not ask the catalogue', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    const { sensors } = await gw.query(
      '{ sensors(filter: { source: PROJECT }) { totalCount nodes { stationCode status } } }',
    );
    expect(sensors.totalCount).toBe(3);
    expect(paths(gw)).toEqual(['project /v1/sensors']);
  });
});

describe('a first query that the budget cannot pay', () => {
  it('answers what it has and names the interface; the reading goes on behind', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: worldOf(10_000) } });
    const ask = () =>
      gw.queryWithErrors(
        '{ sensors(first: 500) { totalCount unavailableSources { source code retryAfterS } nodes { id } } }',
      );
    const answering = ask();
    for (let second = 0; second < 6; second++) await clock.advance(1_000);
    const { data, errors } = await answering;
    expect(errors).toBeUndefined();
    expect(data.sensors.nodes).toHaveLength(500);
    expect(data.sensors.totalCount).toBeNull();
    expect(data.sensors.unavailableSources).toMatchObject([
      { source: 'CATALOGUE', code: 'UPSTREAM_RATE_LIMITED' },
    ]);
    await expect
      .poll(
        async () => {
          await clock.advance(10_000);
          return gw.sandbox.seen('catalogue', '/v1/sensors').length;
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThanOrEqual(100);
    const whole = await gw.query('{ sensors(first: 1) { totalCount unavailableSources { code } } }');
    expect(whole.sensors).toEqual({ totalCount: 10_000, unavailableSources: [] });
    expect(gw.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  });
});

describe('a client that goes away', () => {
  it('ends the reading of a list that only it was waiting for', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', hang: true });
    const leaving = new AbortController();
    const asked = gw.queryWithErrors('{ sensors { nodes { id } } }', undefined, { signal: leaving.signal });
    await expect.poll(() => gw.sandbox.inFlight('catalogue', '/v1/sensors')).toBe(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => gw.sandbox.inFlight('catalogue', '/v1/sensors')).toBe(0);
    expect((await gw.query('{ sensors { totalCount } }')).sensors.totalCount).toBe(3);
  });

  it('does not end it for another who waits as well', async () => {
    // A request ends with the process whose clients have all left; another that waits for it asks anew.
    await using gw = await startGateway({ sandbox: { world: worldOf(3) }, isAlone: true });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', latencyMs: 700 });
    const leaving = new AbortController();
    const asked = gw.queryWithErrors('{ sensors { nodes { id } } }', undefined, { signal: leaving.signal });
    await expect.poll(() => gw.sandbox.inFlight('catalogue', '/v1/sensors')).toBe(1);
    const other = gw.query('{ project { name } sensors { totalCount } }');
    // Then the other one is waiting too.
    await expect.poll(() => gw.sandbox.seen('project', '/v1/project')).toHaveLength(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    expect((await other).sensors.totalCount).toBe(3);
    expect(gw.sandbox.seen('catalogue', '/v1/sensors')).toHaveLength(1);
  });
});

it('that many fields wait for at once gives no warning of a leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
  const fields = Array.from(
    { length: 20 },
    (_, n) => `s${n}: sensors(filter: { search: "S${n}" }) { totalCount }`,
  );
  await gw.query(`{ ${fields.join(' ')} }`);
  // Node emits warnings in the next iteration of the event loop.
  await new Promise(setImmediate);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
