import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const health = '{ sensors(first: 500) { nodes { stationCode latestHealthReport { timestamp } } } }';
const unlimited = {
  sandbox: { rateLimits: false },
  env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '600' },
};

describe('the estimate of a list of sensors', () => {
  it('counts the sensors that there are, not the page size', async () => {
    await using gw = await startGateway(unlimited);
    const all = await gw.query('{ sensors(first: 500) { totalCount } }');
    const { sensors } = await gw.query(health);
    expect(sensors.nodes).toHaveLength(all.sensors.totalCount);
  });

  it('learns the number from the list where the first operation depends on it, at no further request', async () => {
    await using gw = await startGateway({ ...unlimited, isAlone: true });
    const { sensors } = await gw.query(health);
    expect(sensors.nodes.length).toBeGreaterThan(50);
    const first = gw.sandbox.requests.length;
    await using other = await startGateway({ ...unlimited, isAlone: true });
    await other.query('{ sensors(first: 1) { totalCount } }');
    await other.query(health);
    expect(first).toBe(other.sandbox.requests.length);
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
  });

  it('is learnt for a demand of fresh data and over a WebSocket alike', async () => {
    await using gw = await startGateway({ ...unlimited, isAlone: true });
    const demanding = await gw.queryWithErrors(health, {}, { headers: { 'cache-control': 'no-cache' } });
    expect(demanding.errors).toBeUndefined();
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
    await using other = await startGateway(unlimited);
    await using socket = await openSocket(other, { init: {} });
    socket.send({ type: 'subscribe', id: '1', payload: { query: health } });
    expect(await socket.next()).toMatchObject({ type: 'next', payload: { data: { sensors: {} } } });
  });

  it('asks nobody where the operation is too much for any number of sensors', async () => {
    await using gw = await startGateway(unlimited);
    const tooMuch = 'triggers(first: 500) { nodes { sensor { latestHealthReport { timestamp } } } }';
    const { errors } = await gw.queryWithErrors(`{ ${tooMuch} ${health.slice(1)}`);
    expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(gw.sandbox.requests).toEqual([]);
  });

  it('is asked for once a minute while the list cannot be read, however often an operation is refused', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ ...unlimited, clock, isAlone: true });
    gw.sandbox.faults.add({ source: 'project', path: '/v1/sensors', times: 100, status: 403 });
    for (let times = 0; times < 3; times++) {
      const { errors } = await gw.queryWithErrors(health);
      expect(errors?.[0]?.message).toContain('needs 502 upstream requests');
    }
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
    gw.sandbox.faults.clear();
    await clock.advance(60_000);
    expect((await gw.query(health)).sensors.nodes.length).toBeGreaterThan(50);
  });

  it('is asked for once by those who are refused for it', async () => {
    await using gw = await startGateway({
      ...unlimited,
      env: { ...unlimited.env, MAX_COST: '20' },
      isAlone: true,
    });
    for (let times = 0; times < 3; times++) {
      const { errors } = await gw.queryWithErrors(health, {}, { headers: { 'cache-control': 'no-cache' } });
      expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
    }
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
  });

  it('is right for several pages and for the sensors of a network', async () => {
    await using gw = await startGateway(unlimited);
    await gw.query('{ sensors(first: 1) { totalCount } }');
    const ofNetworks = '{ networks { sensors(first: 500) { nodes { id } } } }';
    expect(await gw.query(ofNetworks)).toBeTruthy();
    const { sensors } = await gw.query(health.replace('500', '5'));
    expect(sensors.nodes).toHaveLength(5);
  });

  it('still refuses what is too much for those that there are, and names that number', async () => {
    // A worker that has not learnt the networks' codes counts a sensor of both interfaces twice.
    await using gw = await startGateway({
      ...unlimited,
      env: { ...unlimited.env, MAX_COST: '20' },
      isAlone: true,
    });
    const all = await gw.query('{ sensors(first: 500) { totalCount } }');
    for (let times = 0; times < 2; times++) {
      const { errors } = await gw.queryWithErrors(health);
      expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
      expect(errors?.[0]?.message).toContain(`needs ${all.sensors.totalCount + 2} upstream requests`);
    }
  });
});
