import { readFileSync } from 'node:fs';
import { createClient } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { aTrigger } from '../../src/sandbox/builders.js';
import { deviceId, stationCode, worldOf } from '../graph/sensors-world.js';
import { exampleLeftOut, startExample } from '../support/example.js';
import { startGateway } from '../support/gateway.js';

const leftOut = exampleLeftOut('federation');

describe.skipIf(leftOut)(`a router over two subgraphs${leftOut ? ` (${leftOut})` : ''}`, () => {
  async function open() {
    const gw = await startGateway({
      sandbox: { world: worldOf(4) },
      env: { FEDERATION: 'true', TRIGGER_POLL_INTERVAL_MS: '500' },
    });
    const visits = await startExample('federation', 'visits.js', {
      DEVICE_IDS: [deviceId(2), deviceId(0)].join(),
    });
    const router = await startExample('federation', 'router.js', {
      SEISGRAPH_URL: `${gw.url}/graphql`,
      VISITS_URL: visits.url,
    });
    return {
      gw,
      router,
      visits,
      url: router.url,
      async [Symbol.asyncDispose]() {
        for (const server of [router, visits, gw]) await server[Symbol.asyncDispose]();
      },
    };
  }

  it('answers one query from both, in either direction', async () => {
    await using servers = await open();
    const { gw, url } = servers;
    const query = `{
      visits { day sensor { stationCode } }
      sensors(first: 3) { nodes { stationCode visits { keeper } } }
    }`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await response.json()).toEqual({
      data: {
        visits: [
          { day: '2026-01-01', sensor: { stationCode: stationCode(2) } },
          { day: '2026-01-02', sensor: { stationCode: stationCode(0) } },
        ],
        sensors: {
          nodes: [
            { stationCode: stationCode(0), visits: [{ keeper: 'Inge' }] },
            { stationCode: stationCode(1), visits: [] },
            { stationCode: stationCode(2), visits: [{ keeper: 'Ada' }] },
          ],
        },
      },
    });
    // The list of sensors, once from each interface: the visited sensors were found in it.
    expect(gw.sandbox.seen('project', /^\/v1\/sensors/)).toHaveLength(1);
  });

  it('follows a feed of one subgraph with fields of the other', async () => {
    await using servers = await open();
    const { gw, url } = servers;
    const client = createClient({ url });
    const changes = client.iterate<{ triggerChanges: unknown }>({
      query: 'subscription { triggerChanges { kind trigger { sensor { stationCode visits { keeper } } } } }',
    });
    const next = changes.next();
    // A feed begins with its first poll: what it finds then is not a change.
    const polls = () => gw.sandbox.seen('project', '/v1/triggers').length;
    await expect.poll(polls, { timeout: 30_000 }).toBeGreaterThan(0);
    gw.sandbox.world.project.triggers.push(
      aTrigger({ id: 1, device_id: deviceId(2), station: stationCode(2), status: 'open' }),
    );
    expect((await next).value.data).toEqual({
      triggerChanges: {
        kind: 'OPENED',
        trigger: { sensor: { stationCode: stationCode(2), visits: [{ keeper: 'Ada' }] } },
      },
    });
    client.dispose();
  });

  it('answers the query of docs/operations.md', async () => {
    await using servers = await open();
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, body = ''] = /:4002\/graphql[^`]*?-d '([^']+)'/.exec(page) ?? [];
    const response = await fetch(servers.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await response.json()).toMatchObject({
      data: { visits: [{ keeper: 'Ada' }, { keeper: 'Inge' }], sensors: { nodes: [{ visits: [{}] }, {}] } },
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends at %s, with a feed open', async (signal) => {
    await using servers = await open();
    const { url, router, visits } = servers;
    const client = createClient({ url, retryAttempts: 0 });
    const changes = client.iterate({ query: 'subscription { triggerChanges { kind } }' }).next();
    changes.catch(() => {});
    const subscribers = async () => (await servers.gw.fetch('/metrics')).text();
    await expect
      .poll(subscribers, { timeout: 30_000 })
      .toMatch(/feed_subscribers\{feed="triggerChanges"\} 1/);
    expect([await router.end(signal), await visits.end(signal)]).toEqual([0, 0]);
    client.dispose();
  });
});
