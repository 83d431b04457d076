import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { boxContains, distanceKm } from '../../src/unify/geo/geodesy.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addSensor, deviceId, secondsAgo, stationCode, worldOf } from './sensors-world.js';

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly stationCode: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

const document = `query (
  $filter: SensorFilter, $orderBy: SensorOrder! = STATION_CODE_ASC
  $first: Int, $after: String, $last: Int, $before: String
) {
  sensors(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { stationCode } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}`;

const page = async (gw: TestGateway, variables: object = {}): Promise<Page> =>
  (await gw.query(document, variables)).sensors;

const codes = ({ edges }: Page) => edges.map(({ node }) => node.stationCode);

const errorOf = async (gw: TestGateway, variables: object) => {
  const { errors } = await gw.queryWithErrors(document, variables);
  return errors?.[0]?.extensions;
};

describe('pages of sensors', () => {
  it('tell at every edge whether there is more, for lists of 0, 1, 100, 101 and 200', async () => {
    for (const total of [0, 1, 100, 101, 200]) {
      await using gw = await startGateway({ sandbox: { world: worldOf(total) } });
      for (const first of [1, 100]) {
        const start = await page(gw, { first });
        expect(codes(start)).toHaveLength(Math.min(first, total));
        expect(start.totalCount).toBe(total);
        expect(start.pageInfo).toEqual({
          hasNextPage: total > first,
          hasPreviousPage: false,
          startCursor: start.edges[0]?.cursor ?? null,
          endCursor: start.edges.at(-1)?.cursor ?? null,
        });
        const end = await page(gw, { last: first });
        expect(codes(end).at(-1)).toBe(total === 0 ? undefined : stationCode(total - 1));
        expect(end.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: total > first });
      }
      const { pageInfo } = await page(gw, { last: 1 });
      if (total > 0) {
        const beyond = await page(gw, { first: 5, after: pageInfo.endCursor });
        expect(beyond.edges).toEqual([]);
        expect(beyond.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true, endCursor: null });
      }
    }
  });

  it('have 50 unless asked for more, and as many as 500', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(501) } });
    expect(codes(await page(gw))).toHaveLength(50);
    expect(codes(await page(gw, { first: 250 }))).toHaveLength(250);
    const most = await page(gw, { first: 500 });
    expect(codes(most)).toHaveLength(500);
    expect(codes(await page(gw, { first: 500, after: most.pageInfo.endCursor }))).toEqual([stationCode(500)]);
  });

  it('are refused when they are asked for wrongly', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    for (const wrong of [{ first: 0 }, { first: -1 }, { first: 501 }, { first: 100_000 }, { last: 0 }]) {
      const [argument] = Object.keys(wrong);
      expect(await errorOf(gw, wrong)).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    }
    expect(await errorOf(gw, { first: 1, last: 1 })).toMatchObject({ code: 'BAD_USER_INPUT' });
    const foreign = Buffer.from(JSON.stringify(['triggers', ['a', 'b', 'c']])).toString('base64url');
    for (const after of ['garbage', '', foreign]) {
      expect(await errorOf(gw, { after })).toMatchObject({ code: 'CURSOR_INVALID', argument: 'after' });
    }
    expect(await errorOf(gw, { before: 'garbage' })).toMatchObject({
      code: 'CURSOR_INVALID',
      argument: 'before',
    });
    expect(gw.sandbox.requests).toEqual([]);
    // As every other list: the cursor of a page's far end does not belong to it.
    const { endCursor: cursor } = (await page(gw)).pageInfo;
    for (const [wrong, argument] of [
      [{ after: cursor, before: cursor }, 'after'],
      [{ first: 1, before: cursor }, 'before'],
      [{ last: 1, after: cursor }, 'after'],
      [{ last: 1, after: cursor, before: cursor }, 'after'],
    ] as const) {
      expect(await errorOf(gw, wrong)).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    }
  });

  it('go on behind a cursor whose sensor is gone, or has moved', async () => {
    const world = worldOf(5);
    await using gw = await startGateway({ sandbox: { world } });
    const { endCursor } = (await page(gw, { first: 3 })).pageInfo;
    await using later = await startGateway({ sandbox: { world } });
    world.project.sensors.splice(2, 1);
    world.catalogue.sensors.splice(2, 1);
    expect(codes(await page(later, { after: endCursor }))).toEqual([3, 4].map(stationCode));
    expect(codes(await page(later, { before: endCursor, last: 1 }))).toEqual([stationCode(1)]);
    expect(codes(await page(later, { before: endCursor }))).toEqual([0, 1].map(stationCode));
  });
});

describe('orders of sensors', () => {
  const orders = ['STATION_CODE', 'NETWORK_CODE', 'LAST_SEEN_AT'].flatMap((by) => [
    `${by}_ASC`,
    `${by}_DESC`,
  ]);

  it('each have cursors of their own, and refuse those of another with the argument', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(4) } });
    for (const orderBy of orders) {
      const { endCursor } = (await page(gw, { orderBy, first: 2 })).pageInfo;
      for (const other of orders) {
        const next = { orderBy: other, after: endCursor };
        if (other === orderBy) expect((await page(gw, next)).edges).toHaveLength(2);
        else expect(await errorOf(gw, next)).toMatchObject({ code: 'CURSOR_INVALID', argument: 'after' });
      }
    }
    const { errors } = await gw.queryWithErrors(document, { orderBy: 'LAST_SEEN_AT_ASC', after: 'x' });
    expect(errors?.[0]?.message).toContain('not a cursor of this list in this order');
    expect(await errorOf(gw, { orderBy: 'MODEL_ASC' })).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'orderBy',
    });
    for (const [orderBy, place] of [
      ['LAST_SEEN_AT_ASC', ['no time', 'a']],
      ['LAST_SEEN_AT_ASC', [null]],
      ['NETWORK_CODE_DESC', ['SX', 'AAA']],
      ['NETWORK_CODE_DESC', ['SX', null, 'a']],
      ['STATION_CODE_DESC', [null, 'SX', 'a']],
    ] as const) {
      const before = Buffer.from(JSON.stringify([`sensors ${orderBy}`, place])).toString('base64url');
      const wrong = await errorOf(gw, { orderBy, before });
      expect(wrong).toMatchObject({ code: 'CURSOR_INVALID', argument: 'before' });
    }
  });

  it('by network code have the networks that only the catalogue knows in their places', async () => {
    const world = emptyWorld();
    const networks = ['ZZ', 'BB', 'MM', null];
    for (const [n, code] of networks.entries()) {
      const catalogue = { serial_number: `SN-${n}`, network_id: `net_${n}`, network_code: code };
      addSensor(world, n, { project: null, catalogue });
    }
    addSensor(world, 4, { project: { network: 'CC' }, catalogue: null });
    await using gw = await startGateway({ sandbox: { world } });
    const order = async (orderBy: string) => codes(await page(gw, { orderBy }));
    expect(await order('NETWORK_CODE_ASC')).toEqual([1, 4, 2, 0, 3].map(stationCode));
    const details = gw.sandbox.seen('catalogue', /^\/v1\/sensors\/.+/).length;
    expect(details).toBe(networks.length);
    expect(await order('NETWORK_CODE_DESC')).toEqual([0, 2, 4, 1, 3].map(stationCode));
    expect(gw.sandbox.seen('catalogue', /^\/v1\/sensors\/.+/)).toHaveLength(details);
  });

  it('by network code name the catalogue where it does not tell a code', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: null });
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({ source: 'catalogue', path: /^\/v1\/sensors\/.+/, status: 500, times: 100 });
    const { sensors } = await gw.query(
      '{ sensors(orderBy: NETWORK_CODE_ASC) { totalCount unavailableSources { source } nodes { id } } }',
    );
    expect(sensors).toMatchObject({ totalCount: null, unavailableSources: [{ source: 'CATALOGUE' }] });
    expect(sensors.nodes).toHaveLength(1);
  });

  it('by the last contact skip or repeat none but what has reported meanwhile', async () => {
    const happening = fc.record({ sensor: fc.nat(11), afterPage: fc.integer({ min: 1, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 8 }),
        fc.constantFrom('ASC', 'DESC'),
        fc.integer({ min: 1, max: 4 }),
        async (happenings, direction, first) => {
          const world = emptyWorld();
          const clock = new ManualClock();
          const at = (n: number) => secondsAgo(1_000 - 10 * Math.floor(n / 3), clock.wallMs());
          for (let n = 0; n < 12; n++)
            addSensor(world, n, { project: { last_seen: at(n) }, catalogue: null });
          await using gw = await startGateway({ clock, sandbox: { world, rateLimits: false } });
          const before = world.project.sensors.map(({ station }) => station);
          if (direction === 'DESC') before.reverse();
          const moved = new Set<string | null>();
          const seen: string[] = [];
          for (let after: string | null = null, pages = 1; ; pages++) {
            const { edges, pageInfo } = await page(gw, {
              orderBy: `LAST_SEEN_AT_${direction}`,
              first,
              after,
            });
            seen.push(...edges.map(({ node }) => node.stationCode));
            if (!pageInfo.hasNextPage) break;
            after = pageInfo.endCursor;
            for (const { sensor, afterPage } of happenings) {
              const record = world.project.sensors[sensor];
              if (afterPage !== pages || !record) continue;
              record.last_seen = secondsAgo(0, clock.wallMs());
              moved.add(record.station);
            }
            // The list is read again.
            await clock.advance(60_000);
          }
          const stayed = (all: readonly (string | null)[]) => all.filter((code) => !moved.has(code));
          expect(stayed(seen)).toEqual(stayed(before));
          if (direction === 'ASC') expect(new Set(seen)).toEqual(new Set(before));
          else expect(new Set(seen).size).toBe(seen.length);
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);
});

describe('random worlds of sensors', () => {
  const station = fc.constantFrom('AAA', 'BBB', 'CCC', 'aaa', 'D-1', '');
  const network = fc.constantFrom('SX', 'SY');
  const place = fc.record({
    latitude: fc.integer({ min: -90, max: 90 }),
    longitude: fc.integer({ min: -180, max: 180 }),
  });
  const sensor = fc.record({
    station,
    network,
    place: fc.option(place),
    name: fc.constantFrom(null, 'Old Mill', 'Vault A'),
    kind: fc.constantFrom('both', 'project', 'catalogue', 'byCodes'),
    // Few values, so that many are equal; null is a sensor that has never been seen.
    ageS: fc.constantFrom(10, 1000, 1000.5, null),
    text: fc.constantFrom('online', 'offline', 'strange'),
  });
  type Drawn = typeof sensor extends fc.Arbitrary<infer T> ? T : never;
  const list = fc.uniqueArray(sensor, {
    maxLength: 12,
    // A station and network code together are one sensor's.
    selector: ({ station: at, network: of }) => `${of} ${at}`,
  });
  const conditions = fc.record({
    status: fc.constantFrom('ONLINE', 'OFFLINE', 'UNKNOWN'),
    networkId: fc.constantFrom('net_SX', 'net_SZ'),
    statuses: fc.array(fc.constantFrom('ONLINE', 'OFFLINE', 'UNKNOWN'), { maxLength: 3 }),
    networkCode: network,
    networkCodes: fc.array(fc.constantFrom('SX', ' SY', 'SZ'), { maxLength: 3 }),
    search: fc.constantFrom('a', 'Bb', ' MILL ', 'vault a', 'd-1', 'a1:00:00', '0001', '', ' ', '-', 'x'),
    stationCodes: fc.array(station, { maxLength: 3 }),
    source: fc.constantFrom('PROJECT', 'CATALOGUE'),
    within: fc.record({
      latitude: fc.integer({ min: -90, max: 90 }),
      longitude: fc.integer({ min: -180, max: 180 }),
      radiusKm: fc.integer({ min: 1, max: 15_000 }),
    }),
    boundingBox: fc
      .tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -90, max: 90 }), place, place)
      .map(([a, b, west, east]) => ({
        minLatitude: Math.min(a, b),
        maxLatitude: Math.max(a, b),
        minLongitude: west.longitude,
        maxLongitude: east.longitude,
      })),
  });
  type Conditions = typeof conditions extends fc.Arbitrary<infer T> ? T : never;
  const names = [
    'status',
    'statuses',
    'networkId',
    'networkCode',
    'networkCodes',
    'search',
    'stationCodes',
  ] as const;
  const places = ['source', 'within', 'boundingBox'] as const;
  // More conditions at a time would leave few sensors.
  const filter = fc
    .tuple(conditions, fc.uniqueArray(fc.constantFrom(...names, ...places), { maxLength: 2 }))
    .map(([all, given]) => Object.fromEntries(given.map((name) => [name, all[name]])) as Partial<Conditions>);
  type Filter = typeof filter extends fc.Arbitrary<infer T> ? T : never;

  function worldWith(drawn: readonly Drawn[]): World {
    const world = emptyWorld();
    const nowMs = Date.now();
    for (const [n, { station: at, network: of, place: where, name, kind, ageS, text }] of drawn.entries()) {
      const location = where && { ...where, elevation_m: 0, name };
      const there = where && { ...where, elevation: 0, site_name: null };
      const common = { status: text, last_seen: ageS === null ? null : secondsAgo(ageS, nowMs) };
      addSensor(world, n, {
        project: kind === 'catalogue' ? null : { ...common, station: at, network: of, location },
        catalogue:
          kind === 'project'
            ? null
            : {
                ...common,
                station_code: at,
                network_id: `net_${of}`,
                network_code: of,
                location: there,
                ...(kind === 'byCodes' && { serial_number: `SN-${n}` }),
              },
      });
    }
    return world;
  }

  const order = fc.constantFrom(
    ...(['STATION_CODE', 'NETWORK_CODE', 'LAST_SEEN_AT'] as const).flatMap((by) =>
      (['ASC', 'DESC'] as const).map((direction) => ({ by, direction })),
    ),
  );
  type Order = typeof order extends fc.Arbitrary<infer T> ? T : never;

  const compare = (a: string, b: string) => Number(a > b) - Number(a < b);

  /** The order as the graph describes it; `key` is the last part of a sensor's global id. */
  function inOrder({ by, direction }: Order, a: Placed, b: Placed): number {
    const sign = direction === 'ASC' ? 1 : -1;
    const byStation = compare(a.one.station, b.one.station);
    const byNetwork = compare(a.one.network, b.one.network);
    switch (by) {
      case 'STATION_CODE':
        return sign * (byStation || byNetwork);
      case 'NETWORK_CODE':
        return sign * (byNetwork || byStation);
      case 'LAST_SEEN_AT':
        if (a.one.ageS === null || b.one.ageS === null) {
          const lastly = Number(a.one.ageS === null) - Number(b.one.ageS === null);
          return lastly || sign * compare(a.key, b.key);
        }
        return sign * (b.one.ageS - a.one.ageS || compare(a.key, b.key));
    }
  }

  interface Placed {
    readonly one: Drawn;
    readonly key: string;
  }

  const placed = (one: Drawn, n: number): Placed => ({ one, key: deviceId(n) });

  function isFound({ station: at, place: where, name, kind }: Drawn, n: number, search: string): boolean {
    const text = search.trim().toLowerCase();
    if (at.toLowerCase().includes(text)) return true;
    if (kind === 'catalogue') return false;
    const digits = text.replace(/[: -]/g, '').toUpperCase();
    if (digits !== '' && deviceId(n).includes(digits)) return true;
    return where !== null && (name?.toLowerCase().includes(text) ?? false);
  }

  function matches(drawn: Drawn, n: number, wanted: Filter): boolean {
    const { kind, text, ageS } = drawn;
    const inProject = kind !== 'catalogue';
    const inCatalogue = kind !== 'project';
    const stated = { online: 'ONLINE', offline: 'OFFLINE', strange: 'UNKNOWN' }[text];
    const status = inProject && ageS !== null && ageS > 150 ? 'OFFLINE' : stated;
    return (
      (wanted.status === undefined || wanted.status === status) &&
      (wanted.statuses === undefined || wanted.statuses.some((one) => one === status)) &&
      (wanted.networkCodes === undefined ||
        wanted.networkCodes.some((code) => code.trim() === drawn.network)) &&
      (wanted.search === undefined || isFound(drawn, n, wanted.search)) &&
      (wanted.networkId === undefined || (inCatalogue && wanted.networkId === `net_${drawn.network}`)) &&
      (wanted.networkCode === undefined || wanted.networkCode === drawn.network) &&
      (wanted.stationCodes === undefined || wanted.stationCodes.includes(drawn.station)) &&
      (wanted.source === undefined || (wanted.source === 'PROJECT' ? inProject : inCatalogue)) &&
      (wanted.within === undefined ||
        (drawn.place !== null && distanceKm(wanted.within, drawn.place) <= wanted.within.radiusKm)) &&
      (wanted.boundingBox === undefined ||
        (drawn.place !== null && boxContains(wanted.boundingBox, drawn.place)))
    );
  }

  it('are listed in order, once each, and filtered exactly, by pages of any size in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(
        list,
        filter,
        order,
        fc.integer({ min: 1, max: 5 }),
        async (drawn, wanted, by, size) => {
          const orderBy = `${by.by}_${by.direction}`;
          // Stations without a code have no network to be told apart by.
          const unnamed = drawn.filter(({ station: at, kind }) => at === '' && kind === 'byCodes');
          fc.pre(unnamed.length === 0);
          await using gw = await startGateway({ sandbox: { world: worldWith(drawn), rateLimits: false } });
          const expected = drawn
            .map(placed)
            .filter(({ one }, n) => matches(one, n, wanted))
            .sort((a, b) => inOrder(by, a, b))
            .map(({ one }) => one.station);
          const forwards: string[] = [];
          for (let after: string | null = null; ; ) {
            const { edges, pageInfo, totalCount } = await page(gw, {
              filter: wanted,
              orderBy,
              first: size,
              after,
            });
            expect(totalCount).toBe(expected.length);
            expect(pageInfo.hasPreviousPage).toBe(forwards.length > 0);
            forwards.push(...edges.map(({ node }) => node.stationCode));
            expect(pageInfo.hasNextPage).toBe(forwards.length < expected.length);
            if (!pageInfo.hasNextPage) break;
            after = pageInfo.endCursor;
          }
          expect(forwards).toEqual(expected);
          const backwards: string[] = [];
          for (let before: string | null = null; ; ) {
            const { edges, pageInfo } = await page(gw, { filter: wanted, orderBy, last: size, before });
            backwards.unshift(...edges.map(({ node }) => node.stationCode));
            expect(pageInfo.hasPreviousPage).toBe(backwards.length < expected.length);
            if (!pageInfo.hasPreviousPage) break;
            before = pageInfo.startCursor;
          }
          expect(backwards).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);
});

describe('filters of sensors', () => {
  it('by an empty list match nothing, without asking', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    for (const filter of [{ stationCodes: [] }, { statuses: [] }, { networkCodes: [] }]) {
      expect(await page(gw, { filter })).toMatchObject({ edges: [], totalCount: 0 });
    }
    expect(gw.sandbox.requests).toEqual([]);
  });

  it('that match nothing show no page before a cursor, by an empty list or by an unknown code', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(3) } });
    const after = (await page(gw, { first: 1 })).pageInfo.endCursor;
    for (const stationCodes of [[], ['NONE']]) {
      expect((await page(gw, { filter: { stationCodes }, after })).pageInfo).toEqual({
        hasNextPage: false,
        hasPreviousPage: false,
        startCursor: null,
        endCursor: null,
      });
    }
  });

  it('by one value and by several select the sensors that meet both', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(4, ['net_1', 'net_2']) } });
    const found = async (filter: object) => codes(await page(gw, { filter }));
    expect(await found({ networkCodes: ['N1', 'N2'] })).toEqual([0, 1, 2, 3].map(stationCode));
    expect(await found({ networkCodes: ['N1', 'N2'], networkCode: 'N2' })).toEqual([1, 3].map(stationCode));
    expect(await found({ statuses: ['OFFLINE'], status: 'ONLINE' })).toEqual([]);
    expect(await found({ statuses: null, networkCodes: null, search: null })).toHaveLength(4);
  });

  it('by a text find codes, Device IDs in any spelling, and names of sites', async () => {
    const world = worldOf(3);
    const [first, second] = world.project.sensors;
    if (first) first.location = { latitude: 1, longitude: 1, elevation_m: 0, name: 'Müller’s Vault' };
    if (second) second.location = { latitude: 1, longitude: 1, elevation_m: 0, name: null };
    await using gw = await startGateway({ sandbox: { world } });
    const found = async (search: string) => codes(await page(gw, { filter: { search } }));
    expect(await found(' MÜLLER’S ')).toEqual([stationCode(0)]);
    expect(await found(stationCode(1).toLowerCase())).toEqual([stationCode(1)]);
    expect(await found('a1-00-00-00-00-02')).toEqual([stationCode(2)]);
    expect(await found('nowhere')).toEqual([]);
    expect(await found('  ')).toHaveLength(3);
    expect(gw.sandbox.seen('catalogue', /^\/v1\/sensors\/.+/)).toEqual([]);
  });

  it('that are wrong are refused, without asking', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    for (const [argument, value] of [
      ['filter.search', 'x'.repeat(201)],
      ['filter.search', 1],
      ['filter.statuses', ['BROKEN']],
      ['filter.statuses', [null]],
      ['filter.networkCodes', [null]],
    ] as const) {
      const filter = { [argument.replace('filter.', '')]: value };
      expect(await errorOf(gw, { filter })).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    }
    expect(await errorOf(gw, { filter: { search: 'x'.repeat(200) } })).toBeUndefined();
    expect(gw.sandbox.seen('project', '/v1/sensors').length).toBeLessThanOrEqual(1);
  });

  it('by a box find both sides of the antimeridian, the equator and the prime meridian', async () => {
    const world = emptyWorld();
    const at = (longitude: number) => ({
      project: { location: { latitude: 0, longitude, elevation_m: 0, name: null } },
    });
    for (const [n, longitude] of [179.5, -179.5, 0, 180].entries()) addSensor(world, n, at(longitude));
    await using gw = await startGateway({ sandbox: { world } });
    const box = { minLatitude: 0, maxLatitude: 0 };
    const pacific = { filter: { boundingBox: { ...box, minLongitude: 175, maxLongitude: -175 } } };
    expect(codes(await page(gw, pacific))).toEqual([0, 1, 3].map(stationCode));
    const origin = { filter: { boundingBox: { ...box, minLongitude: 0, maxLongitude: 0 } } };
    expect(codes(await page(gw, origin))).toEqual([stationCode(2)]);
    const wrong = { ...box, minLatitude: 1, minLongitude: 0, maxLongitude: 0 };
    expect(await errorOf(gw, { filter: { boundingBox: wrong } })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('by a network or a source need the interface that knows it', async () => {
    await using project = await startGateway({ sandbox: { world: worldOf(1) }, catalogue: false });
    expect(await errorOf(project, { filter: { networkId: 'net_1' } })).toMatchObject({
      code: 'NOT_CONFIGURED',
    });
    expect(await errorOf(project, { filter: { source: 'CATALOGUE' } })).toMatchObject({
      code: 'NOT_CONFIGURED',
    });
    expect((await page(project, { filter: { source: 'PROJECT' } })).totalCount).toBe(1);
    await using catalogue = await startGateway({ sandbox: { world: worldOf(1) }, project: false });
    expect(await errorOf(catalogue, { filter: { source: 'PROJECT' } })).toMatchObject({
      code: 'NOT_CONFIGURED',
    });
    expect((await page(catalogue, { filter: { networkId: 'net_1' } })).totalCount).toBe(1);
  });
});

describe('a list that moves while it is read', () => {
  it('has every sensor that was there all the time, once', async () => {
    const world = worldOf(0);
    for (let n = 0; n < 1_200; n++) addSensor(world, n, { catalogue: null });
    await using gw = await startGateway({ sandbox: { world, rateLimits: false }, catalogue: false });
    // A sensor is taken out of the first page when the first page has been read: the others move up.
    let answered = 0;
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      rewrite: (body) => {
        answered++;
        if (answered === 1) world.project.sensors = world.project.sensors.slice(1);
        return body;
      },
    });
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const { edges, pageInfo, totalCount } = await page(gw, { first: 500, after });
      expect(totalCount).toBe(1_199);
      found.push(...edges.map(({ node }) => node.stationCode));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(found).toEqual(Array.from({ length: 1_199 }, (_, n) => stationCode(n + 1)));
  });

  it('is whole also when the catalogue cuts its pages shorter than asked', async () => {
    const world = worldOf(0);
    for (let n = 0; n < 130; n++)
      addSensor(world, n, { project: null, catalogue: { serial_number: deviceId(n) } });
    await using gw = await startGateway({ sandbox: { world, rateLimits: false }, project: false });
    const shorter = 40;
    gw.sandbox.faults.add({
      source: 'catalogue',
      path: '/v1/sensors',
      times: 100,
      rewrite: (body) => {
        const answer = body as {
          data: unknown[];
          pagination: { page: number; limit: number; total: number };
        };
        const ids = world.catalogue.sensors.map(({ id }) => id).sort();
        const start = (answer.pagination.page - 1) * shorter;
        answer.data = ids
          .slice(start, start + shorter)
          .map((id) => world.catalogue.sensors.find((one) => one.id === id));
        answer.pagination.limit = shorter;
        return answer;
      },
    });
    const all = await page(gw, { first: 500 });
    expect(codes(all)).toEqual(Array.from({ length: 130 }, (_, n) => stationCode(n)));
  });
});
