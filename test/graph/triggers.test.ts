import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aSensor, aTrigger } from '../../src/sandbox/builders.js';
import type { ProjectTrigger } from '../../src/sandbox/project/records.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

const startMs = Date.UTC(2026, 2, 8, 12);
const timeOf = (afterS: number) => new Date(startMs + afterS * 1000).toISOString();

function worldOf(triggers: readonly ProjectTrigger[]): World {
  const world = emptyWorld();
  world.project.sensors.push(aSensor());
  world.project.triggers.push(...triggers);
  return world;
}

/** The clock stands an hour after the first trigger; budget is not what these tests are about. */
function gatewayOf(
  triggers: readonly ProjectTrigger[],
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  return startGateway({
    clock: new ManualClock(startMs + 3_600_000),
    sandbox: { world: worldOf(triggers), rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '1000' },
    ...options,
  });
}

function manyTriggers(count: number, everyS = 1): ProjectTrigger[] {
  return Array.from({ length: count }, (_, index) =>
    aTrigger({ id: index + 1, start_time: timeOf(index * everyS), end_time: timeOf(index * everyS + 10) }),
  );
}

const listQuery = `query ($first: Int, $after: String, $last: Int, $before: String,
  $orderBy: TriggerOrder! = START_TIME_DESC, $filter: TriggerFilter) {
  triggers(first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy, filter: $filter) {
    totalCount
    nodes { triggerId startTime }
    edges { cursor }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

describe('the list of triggers', () => {
  it('loses and repeats nothing while new triggers arrive between its pages', async () => {
    await using gw = await gatewayOf(manyTriggers(1000));
    const ids: string[] = [];
    let after: string | null = null;
    for (let page = 0, arrived = 1000; page < 20; page++) {
      const { triggers } = await gw.query(listQuery, { first: 100, after });
      ids.push(...triggers.nodes.map((node: { triggerId: string }) => node.triggerId));
      if (!triggers.pageInfo.hasNextPage) break;
      after = triggers.pageInfo.endCursor;
      for (const _ of [1, 2, 3]) {
        arrived++;
        gw.sandbox.world.project.triggers.push(aTrigger({ id: arrived, start_time: timeOf(arrived) }));
      }
    }
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => String(1000 - index)));
  });

  it.each(['START_TIME_DESC', 'START_TIME_ASC'])(
    'is paged from its end by `last` and `before`, in the order %s',
    async (orderBy) => {
      await using gw = await gatewayOf(manyTriggers(250));
      const page = async (args: string) =>
        (
          await gw.query(`{ triggers(orderBy: ${orderBy}, ${args}) { totalCount nodes { triggerId } edges { cursor }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`)
        ).triggers;
      const idsOf = ({ nodes }: { nodes: { triggerId: string }[] }) =>
        nodes.map(({ triggerId }) => triggerId);
      const all = idsOf(await page('first: 500'));
      gw.sandbox.forget();
      const last = await page('last: 100');
      expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
      expect(idsOf(last)).toEqual(all.slice(-100));
      expect(last).toMatchObject({ totalCount: 250 });
      expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
      expect(last.pageInfo.startCursor).toBe(last.edges[0].cursor);
      const before = await page(`last: 100, before: "${last.pageInfo.startCursor}"`);
      expect(idsOf(before)).toEqual(all.slice(-200, -100));
      expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
      const forward = await page(`first: 500, after: "${before.pageInfo.endCursor}"`);
      expect(idsOf(forward)).toEqual(all.slice(-100));
      const rest = await page(`last: 100, before: "${before.pageInfo.startCursor}"`);
      expect(idsOf(rest)).toEqual(all.slice(0, 50));
      expect(rest.pageInfo.hasPreviousPage).toBe(false);
    },
  );

  it('of a filter that nothing can match continues where its cursor is', async () => {
    await using gw = await gatewayOf(manyTriggers(3));
    const page = async (args: string) =>
      (
        await gw.query(`{ triggers(${args}) { nodes { triggerId }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`)
      ).triggers;
    const { startCursor, endCursor } = (await page('first: 2')).pageInfo;
    const none = 'filter: { stationCodes: [] }';
    for (const [args, hasNextPage, hasPreviousPage] of [
      [none, false, false],
      [`${none}, after: "${endCursor}"`, false, true],
      [`${none}, before: "${startCursor}"`, true, false],
    ]) {
      expect(await page(String(args))).toEqual({
        nodes: [],
        pageInfo: { hasNextPage, hasPreviousPage, startCursor: null, endCursor: null },
      });
    }
  });

  it('has a page of 100 from one upstream request, and one of 500 too', async () => {
    await using gw = await gatewayOf(manyTriggers(1000));
    const { triggers } = await gw.query(listQuery, { first: 100 });
    expect(triggers.nodes).toHaveLength(100);
    expect(triggers.totalCount).toBe(1000);
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
    const { triggers: most } = await gw.query(listQuery, { first: 500 });
    expect(most.nodes).toHaveLength(500);
    expect(most.pageInfo.hasNextPage).toBe(true);
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(2);
  });

  it('gives 250 when 250 are asked for', async () => {
    await using gw = await gatewayOf(manyTriggers(600));
    const { triggers } = await gw.query(listQuery, { first: 250, orderBy: 'START_TIME_ASC' });
    expect(triggers.nodes).toHaveLength(250);
    expect(triggers.nodes[249].triggerId).toBe('250');
  });

  it.each([0, 1, 99, 100, 101, 200])('says whether it goes on, with %i triggers', async (total) => {
    await using gw = await gatewayOf(manyTriggers(total));
    for (const first of [1, 100]) {
      const { triggers } = await gw.query(listQuery, { first });
      expect(triggers.nodes).toHaveLength(Math.min(first, total));
      expect(triggers.totalCount).toBe(total);
      expect(triggers.pageInfo).toMatchObject({ hasNextPage: total > first, hasPreviousPage: false });
    }
    const { triggers } = await gw.query(listQuery, { first: 100 });
    if (total < 100) return;
    const { triggers: next } = await gw.query(listQuery, { first: 100, after: triggers.pageInfo.endCursor });
    expect(next.nodes).toHaveLength(total - 100);
    expect(next.totalCount).toBe(total);
    expect(next.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  });

  it('pages through more triggers of one moment than fit on an upstream page', async () => {
    const together = Array.from({ length: 650 }, (_, index) =>
      aTrigger({ id: index + 1, start_time: timeOf(5) }),
    );
    await using gw = await gatewayOf([aTrigger({ id: 9001, start_time: timeOf(9) }), ...together]);
    const ids: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const { triggers } = await gw.query(listQuery, { first: 300, after });
      ids.push(...triggers.nodes.map((node: { triggerId: string }) => node.triggerId));
      ({ hasNextPage: more, endCursor: after } = triggers.pageInfo);
    }
    expect(ids).toHaveLength(651);
    expect(new Set(ids).size).toBe(651);
  });

  it('keeps every digit of a time, and goes by it', async () => {
    const digits = ['.1234560', '.123457', '.1234561', '', '.5'];
    const triggers = digits.map((fraction, index) =>
      aTrigger({ id: index + 1, start_time: `2026-03-08T12:00:00${fraction}Z` }),
    );
    await using gw = await gatewayOf(triggers);
    const { triggers: listed } = await gw.query(listQuery, { orderBy: 'START_TIME_ASC' });
    expect(listed.nodes.map((node: { startTime: string }) => node.startTime)).toEqual([
      '2026-03-08T12:00:00Z',
      '2026-03-08T12:00:00.1234560Z',
      '2026-03-08T12:00:00.1234561Z',
      '2026-03-08T12:00:00.123457Z',
      '2026-03-08T12:00:00.500Z',
    ]);
  });

  it('contains what starts on either end of a range', async () => {
    await using gw = await gatewayOf(manyTriggers(3, 60));
    const { triggers } = await gw.query(listQuery, { filter: { from: timeOf(0), to: timeOf(60) } });
    expect(triggers.nodes.map((node: { triggerId: string }) => node.triggerId)).toEqual(['2', '1']);
    expect(triggers.totalCount).toBe(2);
  });

  it('takes a Device ID in any case', async () => {
    const triggers = [
      aTrigger({ id: 1, device_id: '001A2B3C4D5E' }),
      aTrigger({ id: 2, device_id: '0F1A2B3C4D5E' }),
    ];
    await using gw = await gatewayOf(triggers);
    const { triggers: listed } = await gw.query(listQuery, { filter: { deviceId: '001a2b3c4d5e' } });
    expect(listed.nodes).toMatchObject([{ triggerId: '1' }]);
  });

  it('finishes a filter that upstream does not know, and then counts nothing', async () => {
    const triggers = manyTriggers(1200).map((trigger, index) => ({
      ...trigger,
      pga_horizontal_mg: index % 100 === 0 ? 50 : 0,
      status: index === 300 ? 'open' : 'closed',
    }));
    await using gw = await gatewayOf(triggers);
    const strong = await gw.query(listQuery, { first: 5, filter: { minPgaMg: 50 } });
    expect(strong.triggers.nodes.map((node: { triggerId: string }) => node.triggerId)).toEqual([
      '1101',
      '1001',
      '901',
      '801',
      '701',
    ]);
    expect(strong.triggers).toMatchObject({ totalCount: null, pageInfo: { hasNextPage: true } });
    const rest = await gw.query(listQuery, {
      first: 7,
      after: strong.triggers.pageInfo.endCursor,
      filter: { minPgaMg: 50 },
    });
    expect(rest.triggers.nodes).toHaveLength(7);
    expect(rest.triggers.pageInfo.hasNextPage).toBe(false);
    const open = await gw.query(listQuery, { filter: { status: 'OPEN' } });
    expect(open.triggers.nodes).toMatchObject([{ triggerId: '301' }]);
    const zero = await gw.query(listQuery, { first: 500, filter: { minPgaMg: 0 } });
    expect(zero.triggers.nodes).toHaveLength(500);
  });

  it('stops a filtered search at a bound, with a cursor that goes on behind it', async () => {
    const triggers = manyTriggers(6000).map((trigger, index) => ({
      ...trigger,
      pga_horizontal_mg: index === 0 ? 50 : 0,
    }));
    await using gw = await gatewayOf(triggers);
    const filter = { minPgaMg: 50 };
    const first = await gw.query(listQuery, { filter });
    expect(first.triggers.nodes).toEqual([]);
    expect(first.triggers.pageInfo.hasNextPage).toBe(true);
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(10);
    const second = await gw.query(listQuery, { filter, after: first.triggers.pageInfo.endCursor });
    expect(second.triggers.nodes).toMatchObject([{ triggerId: '1' }]);
    expect(second.triggers.pageInfo.hasNextPage).toBe(false);
  });

  it('is searched again, after a trigger has arrived, without asking for the past again', async () => {
    const clock = new ManualClock(startMs + 10 * 86_400_000);
    const triggers = manyTriggers(3000, 60).map((trigger) => ({ ...trigger, pga_horizontal_mg: 0 }));
    // What was found on older pages, the process knows that has searched them.
    await using gw = await gatewayOf(triggers, { clock, isAlone: true });
    const search = () => gw.query(listQuery, { filter: { minPgaMg: 50 } });
    const asked = () => gw.sandbox.seen('project', '/v1/triggers').length;
    await search();
    expect(asked()).toBe(7);
    gw.sandbox.world.project.triggers.push(
      aTrigger({ id: 4000, start_time: timeOf(3000 * 60), pga_horizontal_mg: 60 }),
    );
    await clock.advance(5000);
    gw.sandbox.forget();
    // What is shown at once is as old as its page; the page behind it is read again meanwhile.
    await search();
    await expect.poll(async () => (await search()).triggers.nodes.length).toBe(1);
    expect(asked()).toBe(1);
  });

  it.each([
    [{ first: 0 }, 'BAD_USER_INPUT', 'first'],
    [{ first: -1 }, 'BAD_USER_INPUT', 'first'],
    [{ first: 501 }, 'BAD_USER_INPUT', 'first'],
    [{ filter: { from: timeOf(2), to: timeOf(1) } }, 'BAD_USER_INPUT', 'filter.from'],
    [{ filter: { from: 'yesterday' } }, 'BAD_USER_INPUT', 'filter.from'],
    [{ filter: { deviceId: ' ' } }, 'BAD_USER_INPUT', 'filter.deviceId'],
    [{ filter: { deviceId: 'ANZA' } }, 'BAD_USER_INPUT', 'filter.deviceId'],
    [{ after: 'garbage' }, 'CURSOR_INVALID', 'after'],
    [{ before: 'garbage' }, 'CURSOR_INVALID', 'before'],
    [{ first: 1, last: 1 }, 'BAD_USER_INPUT', 'last'],
    [{ first: 1, before: 'x' }, 'BAD_USER_INPUT', 'before'],
    [{ last: 1, after: 'x' }, 'BAD_USER_INPUT', 'after'],
    [{ last: 501 }, 'BAD_USER_INPUT', 'last'],
    [{ after: Buffer.from('["triggers:desc",["x","y"]]').toString('base64url') }, 'CURSOR_INVALID', 'after'],
    [
      { after: Buffer.from('["events",["2026-01-01T00:00:00Z","1"]]').toString('base64url') },
      'CURSOR_INVALID',
      'after',
    ],
  ])('refuses %j with %s naming %s, without asking upstream', async (variables, code, argument) => {
    await using gw = await gatewayOf(manyTriggers(3));
    const { data, errors } = await gw.queryWithErrors(listQuery, variables);
    expect(data?.triggers ?? null).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code, argument } }]);
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('goes on from a cursor beyond the end of the range with an empty page', async () => {
    await using gw = await gatewayOf(manyTriggers(3, 60));
    const { triggers } = await gw.query(listQuery, { first: 3 });
    const { triggers: beyond } = await gw.query(listQuery, {
      after: triggers.pageInfo.endCursor,
      filter: { from: timeOf(60) },
    });
    expect(beyond.nodes).toEqual([]);
    expect(beyond.pageInfo).toMatchObject({ hasNextPage: false, startCursor: null, endCursor: null });
  });

  it('is NOT_CONFIGURED without a project interface', async () => {
    await using gw = await gatewayOf([], { project: false });
    const { data, errors } = await gw.queryWithErrors(listQuery);
    expect(data).toEqual({ triggers: null });
    expect(errors).toMatchObject([{ path: ['triggers'], extensions: { code: 'NOT_CONFIGURED' } }]);
  });

  it.each([
    ['a bare array', () => []],
    ['an empty object', () => ({})],
    ['no data', () => ({ data: null, total: 5, limit: 500, offset: 0 })],
  ])('is UPSTREAM_UNAVAILABLE, not empty, when upstream answers %s', async (_, rewrite) => {
    await using gw = await gatewayOf(manyTriggers(5));
    gw.sandbox.faults.add({ source: 'project', path: '/v1/triggers', times: 5, rewrite });
    const { data, errors } = await gw.queryWithErrors(listQuery);
    expect(data).toEqual({ triggers: null });
    expect(errors).toMatchObject([{ path: ['triggers'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  it('keeps the other 499 when one row has no id or no readable start time', async () => {
    await using gw = await gatewayOf(manyTriggers(5));
    const broken = (body: unknown) => {
      const { data, ...page } = body as { data: Record<string, unknown>[] };
      const rows = data.map((row) => (row.id === 2 ? { ...row, id: null } : row));
      return { ...page, data: rows.map((row) => (row.id === 4 ? { ...row, start_time: 'noon' } : row)) };
    };
    gw.sandbox.faults.add({ source: 'project', path: '/v1/triggers', rewrite: broken });
    const { triggers } = await gw.query(listQuery);
    expect(triggers.nodes.map((node: { triggerId: string }) => node.triggerId)).toEqual(['5', '3', '1']);
    expect(triggers.pageInfo.hasNextPage).toBe(false);
  });
});
