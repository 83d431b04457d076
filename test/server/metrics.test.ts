import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

async function scrape(gw: TestGateway): Promise<string> {
  const response = await gw.fetch('/metrics');
  expect(response.headers.get('content-type')).toContain('text/plain');
  return response.text();
}

/** The value of one series; undefined when it is not there. */
function sample(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('/metrics', () => {
  it('counts operations by outcome, and upstream requests by status and priority', async () => {
    await using gw = await startGateway();
    await gw.query('{ project { name } }');
    await gw.queryWithErrors('{ nothing }');
    const text = await scrape(gw);
    const operations = (outcome: string, kind = 'query') =>
      sample(text, `seisgraph_operations_total{operation="anonymous",kind="${kind}",outcome="${outcome}"}`);
    expect(operations('ok')).toBe(1);
    expect(operations('GRAPHQL_VALIDATION_FAILED')).toBe(1);
    const sent = gw.sandbox.seen('project').length;
    expect(
      sample(text, 'seisgraph_upstream_requests_total{interface="PROJECT",status="200",priority="query"}'),
    ).toBe(sent);
    expect(sample(text, 'seisgraph_operation_duration_seconds_count{operation="anonymous"}')).toBe(2);
    expect(sample(text, 'seisgraph_interface_up{interface="PROJECT"}')).toBe(1);
    expect(sample(text, 'seisgraph_interface_up{interface="CATALOGUE"}')).toBeUndefined();
    expect(sample(text, 'seisgraph_rate_limit_remaining{interface="PROJECT"}')).toBeLessThan(20);
    expect(sample(text, 'seisgraph_cache_entries')).toBeGreaterThan(0);
    expect(sample(text, 'seisgraph_memory_bytes{kind="rss"}')).toBeGreaterThan(1e6);
    expect(text).toContain('seisgraph_event_loop_delay_seconds{quantile="0.99"}');
  });

  it('has no more series for a thousand names that clients make up', async () => {
    await using gw = await startGateway();
    for (let n = 0; n < 50; n++) await gw.query(`query Made_up_${n} { __typename }`);
    const text = await scrape(gw);
    expect(text).not.toContain('Made_up');
    expect(sample(text, 'seisgraph_operations_total{operation="other",kind="query",outcome="ok"}')).toBe(50);
  });

  it('shows who listens, and that nobody does any more', async () => {
    await using gw = await startGateway();
    const socket = await openSocket(gw, { init: {} });
    socket.send({
      id: '1',
      type: 'subscribe',
      payload: { query: 'subscription { triggerChanges { cursor } }' },
    });
    await vi.waitFor(async () => {
      const text = await scrape(gw);
      expect(sample(text, 'seisgraph_websockets')).toBe(1);
      expect(sample(text, 'seisgraph_feed_subscribers{feed="triggerChanges"}')).toBe(1);
      expect(sample(text, 'seisgraph_feed_active{feed="triggerChanges"}')).toBe(1);
    });
    socket.socket.terminate();
    await vi.waitFor(async () => {
      const text = await scrape(gw);
      expect(sample(text, 'seisgraph_websockets')).toBe(0);
      expect(sample(text, 'seisgraph_feed_subscribers{feed="triggerChanges"}')).toBe(0);
    });
  });

  it('tells no key, address or name of a client', async () => {
    await using gw = await startGateway({ env: { AUTH_MODE: 'passthrough' } });
    const { projectKey, catalogueKey } = gw.sandbox;
    const headers = { authorization: `Bearer ${projectKey}`, 'x-catalogue-key': catalogueKey };
    await gw.query('{ project { name } networks { name } }', {}, { headers });
    const text = await scrape(gw);
    expect(sample(text, 'seisgraph_tenants')).toBe(1);
    expect(text).not.toMatch(/svc_sk|127\.0\.0\.1/);
    expect(text).not.toContain(catalogueKey);
  });

  it('has every series that the dashboard in examples/ draws', async () => {
    // A Redis that is away has its series, too.
    await using gw = await startGateway({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    await using socket = await openSocket(gw, { init: {} });
    socket.send({
      id: '1',
      type: 'subscribe',
      payload: { query: 'subscription { triggerChanges { cursor } }' },
    });
    await gw.query('{ project { name } networks { name } }');
    const text = await scrape(gw);
    const dashboard = readFileSync(new URL('../../examples/grafana-dashboard.json', import.meta.url), 'utf8');
    const drawn = new Set(dashboard.match(/seisgraph_\w+/g));
    expect(drawn.size).toBeGreaterThan(15);
    for (const name of drawn) expect(text).toContain(name);
  });
});
