import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueEvent, aCatalogueSensor, anEvent, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

const originMs = Date.UTC(2026, 2, 8, 10);
const at = (afterS: number) => new Date(originMs + afterS * 1000).toISOString();
const km = 1 / 111.19;

/**
 * An earthquake of magnitude 4.2 at 34° N, 118° W, 8 km deep at 10:00, in both interfaces under different ids, and
 * stations so many kilometres east of it, each with a trigger when P is due there in the AK135 model.
 */
function worldOf(stationsKm: readonly number[]): World {
  const world = emptyWorld();
  world.project.events.push(quakeAt(0));
  world.catalogue.events.push(
    aCatalogueEvent({
      id: 'cat_1',
      origin_time: at(0.4).replace('Z', '123Z'),
      latitude: 34.01,
      longitude: -118.01,
      depth_km: 8,
      magnitude: 4.3,
    }),
  );
  for (const [index, distanceKm] of stationsKm.entries()) {
    const device_id = `A0000000000${index}`;
    const station = `S${index}`;
    const longitude = -118 + (distanceKm * km) / Math.cos((34 * Math.PI) / 180);
    const location = { latitude: 34, longitude, elevation_m: 10, name: station };
    world.project.sensors.push(aSensor({ device_id, station, location }));
    world.catalogue.sensors.push(
      aCatalogueSensor({
        id: `sen_${index}`,
        serial_number: device_id,
        station_code: station,
        location: { latitude: 34, longitude, elevation: 10, site_name: station },
      }),
    );
    world.project.triggers.push(
      aTrigger({ id: index + 1, device_id, station, start_time: at(Math.hypot(distanceKm, 8) / 5.9) }),
    );
  }
  return world;
}

function quakeAt(afterS: number, fields: Parameters<typeof anEvent>[0] = {}) {
  return anEvent({
    id: `evt_${afterS}`,
    issued_at: at(afterS + 60),
    magnitude: 4.2,
    pick_stations: [],
    origin: {
      id: `org_${afterS}`,
      latitude: 34,
      longitude: -118,
      depth: 8,
      origin_time: originMs / 1000 + afterS,
      issued_at: originMs / 1000 + afterS + 60,
    },
    ...fields,
  });
}

function gatewayOf(world: World, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway({
    clock: new ManualClock(originMs + 1_800_000),
    sandbox: { world, rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '1000' },
    ...options,
  });
}

const eventQuery = `query ($first: Int) { event(by: { projectEventId: "evt_0" }) { catalogueEventId
  recordings(first: $first) { trigger { triggerId } sensor { stationCode } distanceKm pArrival sArrival } } }`;
const triggersQuery =
  '{ triggers(orderBy: START_TIME_ASC) { nodes { triggerId event { projectEventId } } } }';

const pagesQuery = `query ($id: String!, $first: Int, $after: String, $last: Int, $before: String) {
  event(by: { projectEventId: $id }) {
    recordingsConnection(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { trigger { triggerId } distanceKm pArrival } }
      pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      totalCount
    }
  }
}`;

describe('the recordings of an earthquake', () => {
  it('are the triggers that its waves explain, nearest first', async () => {
    const world = worldOf([60, 20, 110]);
    world.project.triggers.push(
      aTrigger({ id: 8, device_id: 'A00000000001', station: 'S1', start_time: at(-30) }),
      aTrigger({ id: 9, device_id: 'A00000000001', station: 'S1', start_time: at(900) }),
    );
    await using gw = await gatewayOf(world);
    const { event } = await gw.query(eventQuery);
    expect(event.catalogueEventId).toBe('cat_1');
    expect(event.recordings.map((one: { trigger: object }) => one.trigger)).toEqual([
      { triggerId: '2' },
      { triggerId: '1' },
      { triggerId: '3' },
    ]);
    expect(event.recordings.map((one: { sensor: object }) => one.sensor)).toEqual([
      { stationCode: 'S1' },
      { stationCode: 'S0' },
      { stationCode: 'S2' },
    ]);
    expect(event.recordings[0].distanceKm).toBeCloseTo(21, 0);
    const [p, s] = [event.recordings[0].pArrival, event.recordings[0].sArrival].map((time) =>
      Date.parse(time),
    );
    expect(((p ?? 0) - originMs) / 1000).toBeCloseTo(4.2, 0);
    expect(((s ?? 0) - originMs) / 1000).toBeCloseTo(6.9, 0);
  });

  it('are as many as asked for, and none of an earthquake that nobody felt', async () => {
    const world = worldOf([20, 60]);
    world.project.events.push(quakeAt(-3600));
    await using gw = await gatewayOf(world);
    expect((await gw.query(eventQuery, { first: 1 })).event.recordings).toHaveLength(1);
    const { event } = await gw.query(
      '{ event(by: { projectEventId: "evt_-3600" }) { recordings { distanceKm } } }',
    );
    expect(event.recordings).toEqual([]);
  });

  it('are paged from either end, also where a trigger of a cursor is gone', async () => {
    const world = worldOf([60, 20, 110, 90]);
    world.project.events.push(quakeAt(-3600));
    await using gw = await gatewayOf(world);
    const all = ['2', '1', '4', '3'];
    const page = async (variables: object, id = 'evt_0') => {
      const { event } = await gw.query(pagesQuery, { id, ...variables });
      const { edges, ...others } = event.recordingsConnection;
      const ids = edges.map(
        ({ node }: { node: { trigger: { triggerId: string } } }) => node.trigger.triggerId,
      );
      return { ids, ...others };
    };
    for (const size of [1, 2, 3, 4, 5]) {
      const forward: string[] = [];
      for (let after: string | null = null; forward.length < all.length; ) {
        const { ids, pageInfo, totalCount } = await page({ first: size, after });
        expect(totalCount).toBe(4);
        expect(pageInfo.hasPreviousPage).toBe(forward.length > 0);
        forward.push(...ids);
        expect(pageInfo.hasNextPage).toBe(forward.length < all.length);
        after = pageInfo.endCursor;
      }
      expect(forward).toEqual(all);
      const backward: string[] = [];
      for (let before: string | null = null; backward.length < all.length; ) {
        const { ids, pageInfo } = await page({ last: size, before });
        expect(pageInfo.hasNextPage).toBe(backward.length > 0);
        backward.unshift(...ids);
        expect(pageInfo.hasPreviousPage).toBe(backward.length < all.length);
        before = pageInfo.startCursor;
      }
      expect(backward).toEqual(all);
    }
    const { pageInfo } = await page({ first: 2 });
    const cursor = pageInfo.endCursor;
    for (const [wrong, code, argument] of [
      [{ first: 0 }, 'BAD_USER_INPUT', 'first'],
      [{ last: 501 }, 'BAD_USER_INPUT', 'last'],
      [{ first: 1, before: cursor }, 'BAD_USER_INPUT', 'before'],
      [{ after: 'garbage' }, 'CURSOR_INVALID', 'after'],
      [{ id: 'evt_-3600', after: cursor }, 'CURSOR_INVALID', 'after'],
    ] as const) {
      const { errors } = await gw.queryWithErrors(pagesQuery, { id: 'evt_0', ...wrong });
      expect(errors?.[0]?.extensions).toMatchObject({ code, argument });
    }
    world.project.triggers = world.project.triggers.filter(({ id }) => id !== 1);
    await using later = await gatewayOf(world);
    const { event } = await later.query(pagesQuery, { id: 'evt_0', first: 1, after: cursor });
    expect(event.recordingsConnection.edges).toMatchObject([{ node: { trigger: { triggerId: '4' } } }]);
    const back = await later.query(pagesQuery, { id: 'evt_0', last: 1, before: cursor });
    expect(back.event.recordingsConnection.edges).toMatchObject([{ node: { trigger: { triggerId: '2' } } }]);
  });

  it("have the catalogue's arrivals where it has the station, and read its detail only for them", async () => {
    const world = worldOf([20, 60]);
    const [catalogueEvent] = world.catalogue.events;
    catalogueEvent?.stations?.push({
      station_code: 'S0',
      distance_km: 21,
      p_arrival: '2026-03-08T10:00:04.123456Z',
      s_arrival: '2026-03-08T10:00:06.654321Z',
    });
    await using gw = await gatewayOf(world);
    await gw.query('{ event(by: { projectEventId: "evt_0" }) { recordings { distanceKm } } }');
    expect(gw.sandbox.seen('catalogue', '/v1/events/cat_1')).toHaveLength(0);
    const { event } = await gw.query(eventQuery);
    expect(event.recordings[0]).toMatchObject({
      pArrival: '2026-03-08T10:00:04.123456Z',
      sArrival: '2026-03-08T10:00:06.654321Z',
    });
    expect(Date.parse(event.recordings[1].pArrival)).toBeGreaterThan(originMs + 9000);
    expect(gw.sandbox.seen('catalogue', '/v1/events/cat_1')).toHaveLength(1);
  });

  it('have, of two stations of one code, the one that an arrival is as far from', async () => {
    const world = worldOf([20, 300]);
    const [near, far] = world.project.sensors;
    if (!near || !far) throw new Error('two sensors are in the world');
    far.station = near.station;
    far.network = 'ZZ';
    world.catalogue.events[0]?.stations?.push(
      { station_code: near.station ?? '', distance_km: 300, p_arrival: null, s_arrival: null },
      { station_code: near.station ?? '', distance_km: 21, p_arrival: null, s_arrival: null },
      { station_code: near.station ?? '', distance_km: 150, p_arrival: null, s_arrival: null },
    );
    await using gw = await gatewayOf(world);
    const { event } = await gw.query(
      '{ event(by: { projectEventId: "evt_0" }) { arrivals { sensor { deviceId } } } }',
    );
    expect(
      event.arrivals.map(({ sensor }: { sensor: { deviceId: string } | null }) => sensor?.deviceId),
    ).toEqual([far.device_id, near.device_id, undefined]);
  });

  it('tell neither distance nor arrivals of a masked sensor, and are found all the same', async () => {
    const world = worldOf([20, 60]);
    world.project.project.location_masked = true;
    world.catalogue.events[0]?.stations?.push({
      station_code: 'S0',
      distance_km: 21,
      p_arrival: '2026-03-08T10:00:04.123456Z',
      s_arrival: '2026-03-08T10:00:06.654321Z',
    });
    await using gw = await gatewayOf(world);
    const { event } = await gw.query(eventQuery);
    expect(event.recordings).toEqual([
      {
        trigger: { triggerId: '1' },
        sensor: { stationCode: 'S0' },
        distanceKm: null,
        pArrival: null,
        sArrival: null,
      },
      {
        trigger: { triggerId: '2' },
        sensor: { stationCode: 'S1' },
        distanceKm: null,
        pArrival: null,
        sArrival: null,
      },
    ]);
  });

  it('are the same for a masked world wherever the catalogue says that its sensors are', async () => {
    const answers: unknown[] = [];
    for (const moved of [0, 7]) {
      const world = worldOf([20, 60, 110]);
      world.project.project.location_masked = true;
      for (const sensor of world.catalogue.sensors) {
        if (sensor.location) sensor.location.latitude += moved;
      }
      await using gw = await gatewayOf(world);
      answers.push(await gw.query(eventQuery), await gw.query(triggersQuery));
      answers.push(await gw.query(pagesQuery, { id: 'evt_0', last: 2 }));
    }
    expect(JSON.stringify(answers.slice(3))).toBe(JSON.stringify(answers.slice(0, 3)));
  });

  it('of a page of earthquakes are read together', async () => {
    const world = worldOf([20, 60]);
    for (let minutes = 1; minutes <= 20; minutes++) world.project.events.push(quakeAt(-minutes * 60));
    await using gw = await gatewayOf(world);
    const { events } = await gw.query(
      '{ events { nodes { projectEventId recordings { trigger { triggerId } } } } }',
    );
    const felt = events.nodes.filter((node: { recordings: object[] }) => node.recordings.length > 0);
    expect(felt).toEqual([
      {
        projectEventId: 'evt_0',
        recordings: [{ trigger: { triggerId: '1' } }, { trigger: { triggerId: '2' } }],
      },
    ]);
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
  });

  it.each([
    [200, 1],
    [6000, 5],
  ])(
    'of earthquakes that lie days apart, with %i triggers between them, take %i reads',
    async (count, reads) => {
      const world = worldOf([20]);
      const daysS = 86_400;
      for (const days of [5, 10, 15]) {
        world.project.events.push(quakeAt(-days * daysS));
        world.project.triggers.push(
          aTrigger({
            id: 9000 + days,
            device_id: 'A00000000000',
            station: 'S0',
            start_time: at(4 - days * daysS),
          }),
        );
      }
      for (let index = 0; index < count; index++) {
        const start_time = at(-15 * daysS + 4000 + (index / count) * 14.9 * daysS);
        world.project.triggers.push(
          aTrigger({ id: 10_000 + index, device_id: 'A00000000000', station: 'S0', start_time }),
        );
      }
      await using gw = await gatewayOf(world);
      const { events } = await gw.query(
        '{ events(filter: { source: PROJECT }) { nodes { projectEventId recordings { trigger { triggerId } } } } }',
      );
      const felt = events.nodes.map((node: { recordings: { trigger: { triggerId: string } }[] }) =>
        node.recordings.map(({ trigger }) => trigger.triggerId).filter((id) => Number(id) < 10_000),
      );
      expect(felt).toEqual([['1'], ['9005'], ['9010'], ['9015']]);
      expect(gw.sandbox.seen('project', '/v1/triggers').length).toBeLessThanOrEqual(reads);
    },
  );

  it('are NOT_CONFIGURED without a project interface, beside what the catalogue has', async () => {
    await using gw = await gatewayOf(worldOf([20]), { project: false });
    const { data, errors } = await gw.queryWithErrors(
      '{ event(by: { catalogueEventId: "cat_1" }) { magnitude recordings { distanceKm } } }',
    );
    expect(data).toEqual({ event: { magnitude: 4.3, recordings: null } });
    expect(errors).toMatchObject([{ path: ['event', 'recordings'], extensions: { code: 'NOT_CONFIGURED' } }]);
  });
});

describe('the earthquake of a trigger', () => {
  it('is found for a page of triggers with one read of the earthquakes around it', async () => {
    const world = worldOf([20, 60, 110]);
    for (let index = 0; index < 60; index++) {
      world.project.triggers.push(
        aTrigger({ id: 100 + index, device_id: 'A00000000000', start_time: at(300 + index) }),
      );
    }
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(triggersQuery.replace('(', '(first: 100, '));
    const explained = triggers.nodes.filter((node: { event: object | null }) => node.event !== null);
    expect(explained.map((node: { triggerId: string }) => node.triggerId)).toEqual(['1', '2', '3']);
    expect(explained[0].event).toEqual({ projectEventId: 'evt_0' });
    expect(gw.sandbox.seen('project', '/v1/triggers')).toHaveLength(1);
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
    expect(gw.sandbox.seen('project', '/v1/events')).toHaveLength(1);
    expect(gw.sandbox.seen('catalogue', '/v1/events')).toHaveLength(1);
  });

  it('is, of two, the one that fits best, and has it among its recordings', async () => {
    const world = worldOf([20, 60]);
    world.project.events.push(quakeAt(-8));
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(triggersQuery);
    expect(triggers.nodes.map((node: { event: object }) => node.event)).toEqual([
      { projectEventId: 'evt_0' },
      { projectEventId: 'evt_0' },
    ]);
    const { event } = await gw.query(
      '{ event(by: { projectEventId: "evt_-8" }) { recordings { distanceKm } } }',
    );
    expect(event.recordings).toEqual([]);
  });

  it('is null where the sensor is not known, and where no earthquake is', async () => {
    const world = worldOf([20]);
    world.project.triggers.push(
      aTrigger({ id: 5, device_id: 'FFFFFFFFFFFF', station: null, start_time: at(4) }),
    );
    world.project.triggers.push(aTrigger({ id: 6, device_id: 'A00000000000', start_time: at(-600) }));
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query(triggersQuery);
    const events = Object.fromEntries(
      triggers.nodes.map((node: { triggerId: string; event: object | null }) => [node.triggerId, node.event]),
    );
    expect(events).toEqual({ 1: { projectEventId: 'evt_0' }, 5: null, 6: null });
  });

  it('is what the catalogue knows where the plan of the project has no events', async () => {
    const world = worldOf([20]);
    world.project.eventsStatus = 403;
    world.project.triggers.push(aTrigger({ id: 6, device_id: 'A00000000000', start_time: at(-600) }));
    await using gw = await gatewayOf(world);
    const { triggers } = await gw.query('{ triggers { nodes { triggerId event { catalogueEventId } } } }');
    expect(triggers.nodes).toEqual([
      { triggerId: '1', event: { catalogueEventId: 'cat_1' } },
      { triggerId: '6', event: null },
    ]);
  });

  it('is an error, not null, where an interface that could know it does not answer', async () => {
    const world = worldOf([20]);
    world.project.triggers.push(aTrigger({ id: 6, device_id: 'A00000000000', start_time: at(-600) }));
    // Upstream is asked again after a moment: by the real clock.
    await using gw = await startGateway({ sandbox: { world, rateLimits: false } });
    gw.sandbox.faults.add({ source: 'catalogue', path: '/v1/events', times: 9, status: 500 });
    const { data, errors } = await gw.queryWithErrors(
      '{ triggers { nodes { triggerId event { projectEventId } } } }',
    );
    expect(data.triggers.nodes).toEqual([
      { triggerId: '1', event: { projectEventId: 'evt_0' } },
      { triggerId: '6', event: null },
    ]);
    expect(errors).toMatchObject([
      { path: ['triggers', 'nodes', 1, 'event'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
    ]);
  });
});

describe('in a world that lives', () => {
  it('a trigger has an earthquake if and only if it is among the recordings of that earthquake', async () => {
    const clock = new ManualClock(originMs);
    await using gw = await startGateway({
      clock,
      sandbox: { rateLimits: false, seed: 7 },
      env: { PROJECT_RATE_PER_MINUTE: '6000', PROJECT_RATE_BURST: '1000' },
    });
    const { triggers } = await gw.query(`{ triggers(first: 300) { nodes { triggerId startTime
      event { id originTime } } } }`);
    const oldest = triggers.nodes.at(-1).startTime;
    const { events } = await gw.query(`{ events(first: 300, filter: { from: "${oldest}" }) { nodes { id
      recordings(first: 500) { trigger { triggerId } } } } }`);
    const pairs = (rows: readonly (readonly [string, string])[]) => rows.map(String).sort();
    const ofTriggers = triggers.nodes.flatMap(
      (node: { triggerId: string; event: { id: string; originTime: string } | null }) =>
        node.event && node.event.originTime >= oldest ? [[node.event.id, node.triggerId] as const] : [],
    );
    const listed = new Set(triggers.nodes.map((node: { triggerId: string }) => node.triggerId));
    const ofEvents = events.nodes.flatMap(
      (node: { id: string; recordings: { trigger: { triggerId: string } }[] }) =>
        node.recordings
          .map(({ trigger }) => [node.id, trigger.triggerId] as const)
          .filter(([, triggerId]) => listed.has(triggerId)),
    );
    expect(ofTriggers.length).toBeGreaterThan(50);
    expect(pairs(ofEvents)).toEqual(pairs(ofTriggers));
  });
});
