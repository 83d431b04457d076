import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';

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

  it('takes the page size for the number as long as that is not known, and asks nobody', async () => {
    await using gw = await startGateway(unlimited);
    const { errors } = await gw.queryWithErrors(health);
    expect(errors?.[0]?.message).toContain('needs 502 upstream requests');
    expect(gw.sandbox.requests).toEqual([]);
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
    await using gw = await startGateway({ ...unlimited, env: { ...unlimited.env, MAX_COST: '20' } });
    const all = await gw.query('{ sensors(first: 500) { totalCount } }');
    for (let times = 0; times < 2; times++) {
      const { errors } = await gw.queryWithErrors(health);
      expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
      expect(errors?.[0]?.message).toContain(`needs ${all.sensors.totalCount + 2} upstream requests`);
    }
  });
});
