import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import type { TestGateway } from '../support/gateway.js';
import { gatewayOf, idsOf, listed, listQuery, quake, startMs } from './events-world.js';

/** p1+c1 is known to both, p2 to the project alone, c3 to the catalogue alone. */
const mixed = () => ({
  project: [quake('p1', 0), quake('p2', 600)],
  catalogue: [listed('c1', 2), listed('c3', 1200)],
});

const list = async (gw: TestGateway, variables: object = {}) => {
  const { data, errors } = await gw.queryWithErrors(listQuery, variables);
  return { events: data?.events, errors };
};

describe('the list of events while an interface is unavailable', () => {
  it('has what the project knows when the catalogue is unavailable, and names it', async () => {
    await using gw = await gatewayOf(mixed());
    gw.sandbox.faults.add({ source: 'catalogue', status: 503, times: 100 });
    const { events, errors } = await list(gw);
    expect(errors).toBeUndefined();
    expect(idsOf(events.nodes)).toEqual(['p2', 'p1']);
    expect(events.unavailableSources).toMatchObject([{ source: 'CATALOGUE', code: 'UPSTREAM_UNAVAILABLE' }]);
    expect(events.pageInfo.hasNextPage).toBe(false);
  });

  it('has what the catalogue knows when the project is unavailable, and names it', async () => {
    await using gw = await gatewayOf(mixed());
    gw.sandbox.revoke(gw.sandbox.projectKey);
    const { events, errors } = await list(gw);
    expect(errors).toBeUndefined();
    expect(idsOf(events.nodes)).toEqual(['c3', 'c1']);
    expect(events.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'UPSTREAM_UNAUTHORIZED' }]);
  });

  it('is null with the error when neither can answer', async () => {
    await using gw = await gatewayOf(mixed());
    gw.sandbox.faults.add({ source: 'catalogue', wrongBody: true, times: 100 });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const { events, errors } = await list(gw);
    expect(events).toBeNull();
    expect(errors).toMatchObject([{ path: ['events'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  it('is what both knew, up to a day', async () => {
    const clock = new ManualClock(startMs + 86_400_000);
    await using gw = await gatewayOf(mixed(), { clock });
    const before = await list(gw);
    const headers = { 'retry-after': '3000' };
    for (const source of ['project', 'catalogue'] as const) {
      gw.sandbox.faults.add({ source, status: 429, headers, times: 100_000 });
    }
    for (const hours of [0.1, 2, 20]) {
      await clock.advance(hours * 3_600_000);
      expect(await list(gw)).toEqual(before);
    }
  });

  it('does not name an interface that is not configured', async () => {
    await using gw = await gatewayOf(mixed(), { project: false });
    const { events } = await list(gw);
    expect(idsOf(events.nodes)).toEqual(['c3', 'c1']);
    expect(events.unavailableSources).toEqual([]);
  });

  it.each([
    ['source', { source: 'PROJECT' }, 'project'],
    ['issue time', { issuedFrom: '2026-03-08' }, 'project'],
    ['network', { networkId: 'net_1' }, 'catalogue'],
    ['source', { source: 'CATALOGUE' }, 'catalogue'],
  ])('is null by a filter of %s that only the interface away could answer', async (_, filter, away) => {
    await using gw = await gatewayOf(mixed());
    gw.sandbox.faults.add({ source: away as 'project' | 'catalogue', status: 503, times: 100 });
    const { events, errors } = await list(gw, { filter });
    expect(events).toBeNull();
    expect(errors).toMatchObject([{ path: ['events'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    await using without = await gatewayOf(mixed(), { [away]: false });
    const unconfigured = await list(without, { filter });
    expect(unconfigured.events).toBeNull();
    expect(unconfigured.errors).toMatchObject([{ extensions: { code: 'NOT_CONFIGURED' } }]);
  });

  it.each([403, 404] as const)(
    'never shows a plan without event detection (%i) as an empty list',
    async (status) => {
      const world = mixed();
      await using gw = await gatewayOf(world);
      gw.sandbox.world.project.eventsStatus = status;
      const { events } = await list(gw);
      expect(idsOf(events.nodes)).toEqual(['c3', 'c1']);
      expect(events.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'FORBIDDEN' }]);

      await using alone = await gatewayOf(world, { catalogue: false });
      alone.sandbox.world.project.eventsStatus = status;
      const refused = await list(alone);
      expect(refused.events).toBeNull();
      expect(refused.errors).toMatchObject([{ path: ['events'], extensions: { code: 'FORBIDDEN' } }]);
    },
  );

  it.each([
    ['a bare array', (body: unknown) => (body as { data: unknown }).data],
    ['an empty object', () => ({})],
    ['no data', (body: unknown) => ({ ...(body as object), data: null })],
  ])('does not take a page that is %s for the end of a list', async (_, rewrite) => {
    const project = Array.from({ length: 1200 }, (_, index) => quake(`p${index}`, index * 60));
    await using gw = await gatewayOf({ project }, { catalogue: false });
    gw.sandbox.faults.add({ source: 'project', path: '/v1/events', after: 2, times: 100, rewrite });
    const ids: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { events, errors } = await list(gw, { first: 300, after });
      if (!events) {
        expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
        break;
      }
      ids.push(...idsOf(events.nodes));
      expect(events.pageInfo.hasNextPage).toBe(true);
      after = events.pageInfo.endCursor;
    }
    expect(ids.length).toBeGreaterThan(0);
    gw.sandbox.faults.clear();
    await gw.close();
  });

  it('keeps the other events of a page that has one without an id, and says that it is missing', async () => {
    await using gw = await gatewayOf(mixed());
    const rewrite = (body: unknown) => {
      const { data, ...rest } = body as { data: object[] };
      return { ...rest, data: data.map((event, index) => (index === 0 ? { ...event, id: null } : event)) };
    };
    gw.sandbox.faults.add({ source: 'project', path: '/v1/events', rewrite });
    const { events } = await list(gw);
    expect(idsOf(events.nodes)).toEqual(['c3', 'p1+c1']);
    expect(events.unavailableSources).toMatchObject([{ source: 'PROJECT', code: 'UPSTREAM_UNAVAILABLE' }]);
  });
});
