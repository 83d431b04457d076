import { describe, expect, it } from 'vitest';
import { gatewayOf, idsOf, type ListedNode, listed, listQuery, quake, timeOf } from './events-world.js';

const many = (count: number, everyS = 60) => ({
  project: Array.from({ length: count }, (_, index) => quake(`p${index}`, index * everyS)),
  catalogue: Array.from({ length: count }, (_, index) => listed(`c${index}`, index * everyS + 1)),
});

describe('the list of events', () => {
  it('has the global ids of its events as ids of the GeoJSON features', async () => {
    await using gw = await gatewayOf({
      project: [quake('p1', 0), quake('p2', 600)],
      catalogue: [listed('c1', 1), listed('c3', 1200)],
    });
    const { events } = await gw.query('{ events { nodes { id } geoJson } }');
    const ids = events.nodes.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(3);
    expect(events.geoJson.features.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  it('has an earthquake that both interfaces know once, with the solution of the catalogue', async () => {
    await using gw = await gatewayOf({
      project: [quake('p1', 0, { magnitude: 2.9 }), quake('p2', 600)],
      catalogue: [
        listed('c1', 3.5, { latitude: 34.2, longitude: -118.1, magnitude: 3.1, depth_km: null }),
        listed('c3', 1200),
      ],
    });
    const { events } = await gw.query(`{ events { nodes {
      projectEventId catalogueEventId sources originTime latitude longitude depthKm magnitude issuedAt place stationCount
      projectOrigin { originTime latitude issuedAt }
    } } }`);
    expect(idsOf(events.nodes)).toEqual(['c3', 'p2', 'p1+c1']);
    expect(events.nodes[2]).toEqual({
      projectEventId: 'p1',
      catalogueEventId: 'c1',
      sources: ['PROJECT', 'CATALOGUE'],
      originTime: timeOf(3.5),
      latitude: 34.2,
      longitude: -118.1,
      // The catalogue has none: the project's fills it.
      depthKm: 8.2,
      magnitude: 3.1,
      issuedAt: timeOf(20),
      place: '6km NNW of Testville',
      stationCount: 5,
      projectOrigin: {
        originTime: '2026-03-08T12:00:00Z',
        latitude: 34.1,
        issuedAt: '2026-03-08T12:00:20Z',
      },
    });
  });

  it('costs one request to each interface for a page of 50, and nothing for the next that they cover', async () => {
    await using gw = await gatewayOf(many(300));
    const { events } = await gw.query(listQuery, { first: 50 });
    expect(events.nodes).toHaveLength(50);
    expect(gw.sandbox.seen('project')).toHaveLength(1);
    expect(gw.sandbox.seen('catalogue')).toHaveLength(1);
    gw.sandbox.forget();
    await gw.query(listQuery, { first: 50 });
    expect(gw.sandbox.requests).toHaveLength(0);
    await gw.query(listQuery, { first: 5, after: events.edges[2].cursor });
    expect(gw.sandbox.requests).toEqual([]);
  });

  describe('on a gateway that knows nothing', () => {
    // A day of earthquakes, of which an upstream page of the project holds 500 and one of the catalogue 100.
    const day = many(3_000, 28);

    // The page needs one event more than `first`, and the events of the 16 minutes behind it, which decide on associations.
    it.each([
      ['first 1', { first: 1 }, 1, 1],
      ['first 10', { first: 10 }, 1, 1],
      ['first 50', { first: 50 }, 1, 1],
      ['first 100', { first: 100 }, 1, 2],
      ['first 200', { first: 200 }, 1, 3],
      // The third reads what was issued between the two pages.
      ['first 500', { first: 500 }, 3, 6],
      ['of the project', { first: 10, filter: { source: 'PROJECT' } }, 1, 1],
      ['of the catalogue', { first: 10, filter: { source: 'CATALOGUE' } }, 1, 1],
      // All that was issued since, which is 940 events, and what was issued between the pages.
      ['up to some hours ago', { first: 10, filter: { to: timeOf(16 * 3600) } }, 3, 1],
    ] as const)(
      'a page (%s) reads no further than makes it certain',
      async (_, variables, project, catalogue) => {
        await using gw = await gatewayOf(day);
        const { events } = await gw.query(listQuery, variables);
        expect(events.nodes).toHaveLength(variables.first);
        expect(events.unavailableSources).toEqual([]);
        expect(gw.sandbox.seen('project')).toHaveLength(project);
        expect(gw.sandbox.seen('catalogue')).toHaveLength(catalogue);
      },
    );

    it('other values of `first` are answered from the same upstream pages', async () => {
      await using gw = await gatewayOf(day, { isAlone: true });
      await gw.query(listQuery, { first: 50 });
      gw.sandbox.forget();
      for (const first of [1, 10, 49]) await gw.query(listQuery, { first });
      expect(gw.sandbox.requests).toHaveLength(0);
    });
  });

  it('reads a detail of the catalogue for each event only when a field of the detail is selected', async () => {
    await using gw = await gatewayOf(many(3));
    await gw.query('{ events { nodes { magnitude place status magnitudeType } } }');
    expect(gw.sandbox.seen('catalogue', /events\/./)).toHaveLength(0);
    await gw.query('{ events { nodes { quality { stationsUsed } magnitudeUncertainty createdAt } } }');
    expect(gw.sandbox.seen('catalogue', /events\/./)).toHaveLength(3);
    expect(gw.sandbox.seen('project', /events\/./)).toHaveLength(0);
  });

  it('loses and repeats nothing while events are issued between its pages', async () => {
    await using gw = await gatewayOf(many(500));
    const ids: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 20; page++) {
      const { events } = await gw.query(listQuery, { first: 100, after });
      ids.push(...events.nodes.map((node: ListedNode) => node.projectEventId));
      if (!events.pageInfo.hasNextPage) break;
      after = events.pageInfo.endCursor;
      const { world } = gw.sandbox;
      for (const number of [1, 2, 3])
        world.project.events.push(quake(`new${page}-${number}`, 40_000 + page * 9));
      // One that has been delivered and one that has not are issued again.
      for (const index of [450 - page * 100, 300 - page * 60]) {
        const issued = world.project.events[index];
        if (issued) issued.issued_at = timeOf(41_000 + page);
      }
    }
    expect(ids).toEqual(Array.from({ length: 500 }, (_, index) => `p${499 - index}`));
  });

  it.each([0, 1, 100, 101, 200])('says of %i events whether there are more', async (total) => {
    await using gw = await gatewayOf({ project: many(total).project });
    let after: string | null = null;
    let count = 0;
    for (let more = true; more; ) {
      const { events } = await gw.query(listQuery, { first: 100, after });
      count += events.nodes.length;
      more = events.pageInfo.hasNextPage;
      expect(more).toBe(count < total);
      expect(events.pageInfo.hasPreviousPage).toBe(after !== null);
      expect(events.pageInfo.startCursor).toBe(events.edges[0]?.cursor ?? null);
      after = events.pageInfo.endCursor;
    }
    expect(count).toBe(total);
    if (after === null) return;
    const { events } = await gw.query(listQuery, { first: 1, after });
    expect(events).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });

  it.each([
    ['refuses', { eventsMaxLimit: 100, overMaximum: 'refuse' }],
    ['refuses more than 30 of', { eventsMaxLimit: 30, overMaximum: 'refuse' }],
    ['cuts', { eventsMaxLimit: 20, overMaximum: 'clamp' }],
  ] as const)('gives 250 events where the catalogue %s large pages', async (_, catalogueChoices) => {
    await using gw = await gatewayOf({ catalogue: many(260).catalogue }, { sandbox: { catalogueChoices } });
    const { events } = await gw.query(listQuery, { first: 250 });
    expect(idsOf(events.nodes)).toEqual(Array.from({ length: 250 }, (_, index) => `c${259 - index}`));
    expect(events.pageInfo.hasNextPage).toBe(true);
  });

  it('contains both ends of a range, so that an event on the seam of two is in both', async () => {
    const noon = 43_200;
    const events = [0, noon, 2 * noon].map((afterS, index) => [
      quake(`p${index}`, afterS),
      listed(`c${index}`, afterS),
    ]);
    await using gw = await gatewayOf({
      project: events.map(([project]) => project as ReturnType<typeof quake>),
      catalogue: events.map(([, catalogue]) => catalogue as ReturnType<typeof listed>),
    });
    const between = async (from: number, to: number) =>
      idsOf((await gw.query(listQuery, { filter: { from: timeOf(from), to: timeOf(to) } })).events.nodes);
    expect(await between(0, noon)).toEqual(['p1+c1', 'p0+c0']);
    expect(await between(noon, 2 * noon)).toEqual(['p2+c2', 'p1+c1']);
    expect(await between(noon + 0.001, 2 * noon - 0.001)).toEqual([]);
  });

  it.each([
    [{ from: timeOf(1), to: timeOf(0) }, 'filter.from'],
    [{ issuedFrom: timeOf(1), issuedTo: timeOf(0) }, 'filter.issuedFrom'],
    [{ minMagnitude: 3, maxMagnitude: 2.9 }, 'filter.minMagnitude'],
    [{ minDepthKm: 10, maxDepthKm: 0 }, 'filter.minDepthKm'],
    [{ from: 'yesterday' }, 'filter.from'],
    [{ within: { latitude: 91, longitude: 0, radiusKm: 1 } }, 'filter.within.latitude'],
    [
      { boundingBox: { minLongitude: 0, minLatitude: 2, maxLongitude: 1, maxLatitude: 1 } },
      'filter.boundingBox.minLatitude',
    ],
  ])('refuses %j, naming the argument', async (filter, argument) => {
    await using gw = await gatewayOf(many(1));
    const { errors } = await gw.queryWithErrors(listQuery, { filter });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it.each([0, -1, 501])('refuses a page of %i', async (first) => {
    await using gw = await gatewayOf(many(1));
    const { errors } = await gw.queryWithErrors(listQuery, { first });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'first' });
  });

  it('refuses a cursor that is none of its own', async () => {
    await using gw = await gatewayOf(many(3));
    const { events } = await gw.query(listQuery, { first: 1 });
    const cursor = events.pageInfo.endCursor;
    for (const [after, orderBy] of [
      ['garbage', 'ORIGIN_TIME_DESC'],
      [cursor, 'ORIGIN_TIME_ASC'],
    ]) {
      const { data, errors } = await gw.queryWithErrors(listQuery, { after, orderBy });
      expect(data).toEqual({ events: null });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'CURSOR_INVALID', argument: 'after' });
    }
  });

  it('is paged from its end too, and refuses what belongs to the other direction', async () => {
    await using gw = await gatewayOf(many(30));
    const document = `query ($first: Int, $after: String, $last: Int, $before: String, $orderBy: EventOrder! = ORIGIN_TIME_DESC) {
      events(first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy) {
        nodes { projectEventId catalogueEventId }
        pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      }
    }`;
    const page = async (variables: object) => (await gw.query(document, variables)).events;
    const all = idsOf((await page({ first: 100 })).nodes);
    const end = await page({ last: 4 });
    expect(idsOf(end.nodes)).toEqual(all.slice(-4));
    expect(end.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const middle = await page({ last: 4, before: end.pageInfo.startCursor });
    expect(idsOf(middle.nodes)).toEqual(all.slice(-8, -4));
    expect(middle.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    expect(idsOf((await page({ first: 9, after: middle.pageInfo.endCursor })).nodes)).toEqual(all.slice(-4));
    expect(idsOf((await page({ before: middle.pageInfo.startCursor })).nodes)).toEqual(all.slice(0, -8));
    const start = await page({ first: 3 });
    const none = await page({ last: 3, before: start.pageInfo.startCursor });
    expect(none).toEqual({
      nodes: [],
      pageInfo: { startCursor: null, endCursor: null, hasNextPage: true, hasPreviousPage: false },
    });
    const cursor = end.pageInfo.startCursor;
    for (const [wrong, code, argument] of [
      [{ last: 0 }, 'BAD_USER_INPUT', 'last'],
      [{ last: 501 }, 'BAD_USER_INPUT', 'last'],
      [{ first: 1, last: 1 }, 'BAD_USER_INPUT', 'last'],
      [{ first: 1, before: cursor }, 'BAD_USER_INPUT', 'before'],
      [{ last: 1, after: cursor }, 'BAD_USER_INPUT', 'after'],
      [{ last: 1, before: 'garbage' }, 'CURSOR_INVALID', 'before'],
      [{ last: 1, before: cursor, orderBy: 'ORIGIN_TIME_ASC' }, 'CURSOR_INVALID', 'before'],
    ] as const) {
      const { errors } = await gw.queryWithErrors(document, wrong);
      expect(errors?.[0]?.extensions).toMatchObject({ code, argument });
    }
  });

  it('takes a cursor of another instance, and of another filter', async () => {
    const world = many(30);
    await using first = await gatewayOf(world);
    const { events } = await first.query(listQuery, { first: 10 });
    await using second = await gatewayOf(world);
    const onwards = await second.query(listQuery, {
      first: 2,
      after: events.pageInfo.endCursor,
      filter: { within: { latitude: 34, longitude: -118, radiusKm: 100 } },
    });
    expect(idsOf(onwards.events.nodes)).toEqual(['p19+c19', 'p18+c18']);
  });

  it('has the events of one network, and none of another that the filter names', async () => {
    await using gw = await gatewayOf({
      project: [quake('p0', 0)],
      catalogue: [listed('c0', 0), listed('c1', 600, { network_id: 'net_2' })],
    });
    gw.sandbox.world.catalogue.networks.push({
      id: 'net_1',
      name: 'One',
      description: null,
      organization_id: null,
      sensor_count: 0,
      created_at: null,
    });
    const { network } = await gw.query(`{ network(networkId: "net_1") {
      events { nodes { projectEventId catalogueEventId network { networkId name } } }
      none: events(filter: { networkId: "net_2" }) { nodes { id } pageInfo { hasNextPage } }
      last: events(filter: { networkId: "net_2" }, last: 1) { nodes { id } pageInfo { hasNextPage } }
    } }`);
    expect(network).toEqual({
      events: {
        nodes: [
          { projectEventId: 'p0', catalogueEventId: 'c0', network: { networkId: 'net_1', name: 'One' } },
        ],
      },
      none: { nodes: [], pageInfo: { hasNextPage: false } },
      last: { nodes: [], pageInfo: { hasNextPage: false } },
    });
  });
});
