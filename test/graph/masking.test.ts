import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueEvent } from '../../src/sandbox/builders.js';
import { emptyProject, emptyWorld, type World } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addSensor, deviceId, secondsAgo, stationCode, whileTimePasses } from './sensors-world.js';

const everything = `
  fragment everything on Sensor {
    id deviceId catalogueId serialNumber stationCode networkCode model firmwareVersion status statusText
    lastSeenAt sources
    location { latitude longitude elevationM name masked }
    distanceKm(from: { latitude: 34, longitude: -118 })
    network { networkId }
  }`;

/** Sensor 1 in both, 2 in the project alone, 3 in the catalogue alone, 4 in both by its codes. */
function mixedWorld(masked: boolean): World {
  const world = emptyWorld();
  world.project.project.location_masked = masked;
  const site = (n: number) => ({
    latitude: 34 + n / 10,
    longitude: -118,
    elevation_m: 1234,
    name: `Vault ${n}`,
  });
  const there = (n: number) => ({
    latitude: 34 + n / 10,
    longitude: -118,
    elevation: 1234,
    site_name: `Site ${n}`,
  });
  addSensor(world, 1, { project: { location: site(1) }, catalogue: { location: there(1) } });
  addSensor(world, 2, { project: { location: site(2) }, catalogue: null });
  addSensor(world, 3, { project: null, catalogue: { location: there(3) } });
  addSensor(world, 4, {
    project: { location: site(4) },
    catalogue: { serial_number: 'SN-4', location: there(4) },
  });
  return world;
}

const found = `query ($search: String) {
  sensors(filter: { search: $search }) { nodes { deviceId } totalCount unavailableSources { source code } }
}`;

const located = async (gw: TestGateway) => {
  const { data, errors } = await gw.queryWithErrors(
    '{ sensors { nodes { deviceId location { latitude elevationM name masked } } } }',
  );
  return { locations: data.sensors.nodes.map(({ location }: { location: unknown }) => location), errors };
};

describe('while the project masks its positions', () => {
  it('its sensors stand where it says, without name, and others where the catalogue says', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(true) } });
    const { locations, errors } = await located(gw);
    expect(errors).toBeUndefined();
    for (const index of [0, 1, 3]) {
      expect(locations[index]).toMatchObject({ elevationM: 1200, name: null, masked: true });
      expect(locations[index].latitude).not.toBe([34.1, 34.2, 34.3, 34.4][index]);
    }
    expect(locations[2]).toEqual({ latitude: 34.3, elevationM: 1234, name: 'Site 3', masked: false });
  });

  it('a sensor without a position of the project has none, though the catalogue knows it', async () => {
    const world = mixedWorld(true);
    for (const sensor of world.project.sensors) sensor.location = null;
    await using gw = await startGateway({ sandbox: { world } });
    const { locations } = await located(gw);
    expect(locations).toEqual([null, null, expect.objectContaining({ latitude: 34.3 }), null]);
  });

  it('a radius and a box find the displaced position and not the true one', async () => {
    const world = mixedWorld(true);
    await using gw = await startGateway({ sandbox: { world } });
    const near = async (radiusKm: number) => {
      const within = { latitude: 34.1, longitude: -118, radiusKm };
      const { sensors } = await gw.query(
        'query ($within: RadiusInput!) { sensors(filter: { within: $within }) { totalCount } }',
        { within },
      );
      return sensors.totalCount;
    };
    expect(await near(0.4)).toBe(0);
    expect(await near(1.1)).toBe(1);
  });

  it('a search finds no name of a masked sensor, even one that the service sent', async () => {
    const world = mixedWorld(true);
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      times: 100,
      rewrite: (body) => {
        const { data: sensors } = body as { data: { location: { name: string | null } | null }[] };
        for (const { location } of sensors) if (location) location.name = 'Vault';
        return body;
      },
    });
    for (const search of ['vault', 'Site', 'site 3']) {
      const { sensors } = await gw.query(found, { search });
      expect(sensors).toEqual({ nodes: [], totalCount: 0, unavailableSources: [] });
    }
    expect((await gw.query(found, { search: stationCode(4) })).sensors.totalCount).toBe(1);
  });

  it('a catalogue record that may be of a project sensor is not shown, one that surely is not is', async () => {
    const world = emptyWorld();
    world.project.project.location_masked = true;
    addSensor(world, 1, { project: { station: 'AAA', network: 'SX' } });
    // A second instrument at the station of the project's sensor.
    addSensor(world, 2, {
      project: null,
      catalogue: { serial_number: 'SN-2', station_code: 'AAA', network_code: 'SX' },
    });
    // The same station code in another network.
    addSensor(world, 3, {
      project: null,
      catalogue: { serial_number: 'SN-3', station_code: 'AAA', network_code: 'SY', network_id: 'net_2' },
    });
    await using gw = await startGateway({ sandbox: { world } });
    const query = '{ sensors { nodes { catalogueId location { masked } } } }';
    const { sensors } = await gw.query(query);
    expect(sensors.nodes).toEqual([
      { catalogueId: 'sen_1', location: { masked: true } },
      { catalogueId: 'sen_2', location: null },
      { catalogueId: 'sen_3', location: { masked: false } },
    ]);
    for (const [id, location] of [
      ['sen_2', null],
      ['sen_3', { masked: false }],
    ] as const) {
      await using alone = await startGateway({ sandbox: { world } });
      const lookup = 'query ($id: String!) { sensor(by: { catalogueId: $id }) { location { masked } } }';
      expect((await alone.query(lookup, { id })).sensor).toEqual({ location });
    }
  });

  it('an arrival tells nothing where its station may be one of the project’s, by any list', async () => {
    const world = mixedWorld(true);
    // Sensor 5 has moved: the catalogue still has it at its old station.
    addSensor(world, 5, { catalogue: { station_code: 'OLD' } });
    const stations = [stationCode(1), stationCode(3), stationCode(4), 'OLD', 'NOBODY'];
    const arrival = { distance_km: 12.5, p_arrival: secondsAgo(50), s_arrival: secondsAgo(48) };
    world.catalogue.events.push(
      aCatalogueEvent({ stations: stations.map((station_code) => ({ station_code, ...arrival })) }),
    );
    const shown = async (gw: TestGateway) => {
      const { event } = await gw.query(
        '{ event(by: { catalogueEventId: "cat_1" }) { arrivals { stationCode distanceKm pArrival sArrival } } }',
      );
      return event.arrivals
        .filter((one: Record<string, unknown>) => one.distanceKm !== null && one.pArrival && one.sArrival)
        .map((one: { stationCode: string }) => one.stationCode);
    };
    await using gw = await startGateway({ sandbox: { world } });
    expect(await shown(gw)).toEqual([stationCode(3)]);
    // Without the catalogue's list nobody knows whose station that is.
    await using partial = await startGateway({ sandbox: { world } });
    partial.sandbox.faults.add({ source: 'catalogue', path: '/v1/sensors', status: 500, times: 100 });
    expect(await shown(partial)).toEqual([]);
    world.project.project.location_masked = false;
    await using open = await startGateway({ sandbox: { world } });
    expect(await shown(open)).toEqual(stations);
  });

  it('a catalogue position is withheld, with an error, when the list of the project cannot be read', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(true) } });
    gw.sandbox.faults.add({ source: 'project', path: /^\/v1\/sensors/, status: 500, times: 1000 });
    const { locations, errors } = await located(gw);
    expect(locations).toEqual([null, null, null]);
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual(
      Array(3).fill(['location', 'UPSTREAM_UNAVAILABLE']),
    );
  });
});

describe('as long as the project has not said whether it masks its positions', () => {
  it('no position of the catalogue is shown, and the error says why', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(false) } });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 1000 });
    const { locations, errors } = await located(gw);
    expect(locations).toEqual([null, null, null]);
    expect(errors).toHaveLength(3);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(errors?.[0]?.message).toContain('Withheld until the project has said');
    const { data } = await gw.queryWithErrors(`{
      sensors(filter: { within: { latitude: 34, longitude: -118, radiusKm: 500 } }) {
        nodes { id } totalCount unavailableSources { source code } geoJson
      }
    }`);
    expect(data.sensors).toMatchObject({
      nodes: [],
      totalCount: null,
      unavailableSources: [{ source: 'PROJECT', code: 'UPSTREAM_UNAVAILABLE' }],
    });
  });

  it('a search names the interface for want of which names are withheld', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(false) } });
    gw.sandbox.faults.add({ source: 'project', path: '/v1/project', status: 500, times: 1000 });
    const silent = (body: unknown) => {
      const { data: sensors } = body as { data: { location: { masked?: boolean } | null }[] };
      for (const { location } of sensors) delete location?.masked;
      return body;
    };
    gw.sandbox.faults.add({ source: 'project', path: '/v1/sensors', times: 1000, rewrite: silent });
    expect((await gw.query(found, { search: 'vault' })).sensors).toEqual({
      nodes: [],
      totalCount: null,
      unavailableSources: [{ source: 'PROJECT', code: 'UPSTREAM_UNAVAILABLE' }],
    });
  });

  it('no place or name of the project is shown, byte for byte, though its records say that they may be', async () => {
    const answer = async (placed: { latitude: number; elevation_m: number; name: string }) => {
      const world = mixedWorld(false);
      for (const sensor of world.project.sensors) Object.assign(sensor.location ?? {}, placed);
      for (const sensor of [...world.project.sensors, ...world.catalogue.sensors])
        sensor.last_seen = '2026-01-01T00:00:00Z';
      await using gw = await startGateway({
        clock: new ManualClock(Date.parse(secondsAgo(0, Date.UTC(2026, 0, 2)))),
        sandbox: { world, rateLimits: false },
      });
      gw.sandbox.faults.add({ source: 'project', path: '/v1/project', status: 403, times: 1000 });
      const { data, errors } = await gw.queryWithErrors(
        `${everything}
        query ($search: String, $within: RadiusInput) {
          sensors { nodes { ...everything } geoJson }
          found: sensors(filter: { search: $search }) { nodes { id } totalCount }
          near: sensors(filter: { within: $within }) { nodes { id } totalCount }
          one: sensor(by: { deviceId: "${deviceId(1)}" }) { ...everything }
        }`,
        { search: 'vault', within: { latitude: 34, longitude: -118, radiusKm: 100 } },
      );
      expect(errors?.length).toBeGreaterThan(0);
      expect(data.sensors.nodes).toHaveLength(4);
      return JSON.stringify({ data, errors });
    };
    expect(await answer({ latitude: 34.1, elevation_m: 1234, name: 'Vault 1' })).toBe(
      await answer({ latitude: -12.5, elevation_m: 77, name: 'Cellar' }),
    );
  });

  it('a body that does not say it is as good as none', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(false) } });
    const silent = (body: unknown) => ({ ...(body as object), location_masked: undefined });
    gw.sandbox.faults.add({ source: 'project', path: '/v1/project', times: 100, rewrite: silent });
    const { data, errors } = await gw.queryWithErrors(
      '{ sensor(by: { catalogueId: "sen_3" }) { location { latitude } } }',
    );
    expect(data.sensor.location).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('an interface that does not answer is waited for once', async () => {
    const env = { UPSTREAM_TIMEOUT_MS: '300' };
    await using gw = await startGateway({ sandbox: { world: mixedWorld(false) }, env });
    gw.sandbox.faults.add({ source: 'project', hang: true, times: 1000 });
    const { locations, errors } = await located(gw);
    expect(locations).toEqual([null, null, null]);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(3).fill('UPSTREAM_TIMEOUT'));
    expect(gw.sandbox.maxConcurrent('project', '/v1/project')).toBe(0);
  });

  it('and without a project interface the catalogue is shown as it is', async () => {
    await using gw = await startGateway({ sandbox: { world: mixedWorld(true) }, project: false });
    const { locations } = await located(gw);
    expect(locations.map(({ latitude }: { latitude: number }) => latitude)).toEqual([34.1, 34.3, 34.4]);
  });
});

describe('when the setting changes', () => {
  it('it is obeyed within 30 seconds, and nothing read under the other one is shown after', async () => {
    const clock = new ManualClock();
    const world = mixedWorld(false);
    await using gw = await startGateway({ clock, sandbox: { world } });
    const masked = async () => {
      const { locations } = await located(gw);
      return locations.map((location: { masked: boolean; name: string | null } | null) => location?.masked);
    };
    expect(await masked()).toEqual([false, false, false, false]);
    world.project.project.location_masked = true;
    await clock.advance(30_001);
    expect(await masked()).toEqual([true, true, false, true]);
    world.project.project.location_masked = false;
    await clock.advance(30_001);
    const { locations } = await located(gw);
    expect(locations[0]).toEqual({ latitude: 34.1, elevationM: 1234, name: 'Vault 1', masked: false });
  });

  it('a name that was found before is not found after, and found again when it may be shown', async () => {
    const clock = new ManualClock();
    const world = mixedWorld(false);
    await using gw = await startGateway({ clock, sandbox: { world } });
    const total = async () => (await gw.query(found, { search: 'vault' })).sensors.totalCount;
    expect(await total()).toBe(3);
    world.project.project.location_masked = true;
    await clock.advance(30_001);
    expect(await total()).toBe(0);
    world.project.project.location_masked = false;
    await clock.advance(30_001);
    expect(await total()).toBe(3);
  });

  it('a record that says it is masked is obeyed at once', async () => {
    const clock = new ManualClock();
    const world = mixedWorld(false);
    // What a record tells of the setting, the process knows that has read it; others within the 30 seconds.
    await using gw = await startGateway({ clock, sandbox: { world }, isAlone: true });
    await gw.query('{ project { locationMasked } }');
    world.project.project.location_masked = true;
    const { locations } = await located(gw);
    expect(locations.map(({ masked }: { masked: boolean }) => masked)).toEqual([true, true, false, true]);
    expect((await gw.query('{ project { locationMasked } }')).project.locationMasked).toBe(true);
  });

  it('the last known setting holds while the project cannot be asked', async () => {
    const clock = new ManualClock();
    const world = mixedWorld(true);
    await using gw = await startGateway({ clock, sandbox: { world } });
    const before = await located(gw);
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 1000 });
    await clock.advance(120_000);
    const after = await whileTimePasses(clock, located(gw));
    expect(after.locations).toEqual(before.locations);
    expect(after.errors).toBeUndefined();
  });

  it('asks the project no oftener than that', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, sandbox: { world: mixedWorld(true) } });
    for (let second = 0; second < 120; second += 3) {
      await located(gw);
      await clock.advance(3_000);
    }
    const looks = gw.sandbox.seen('project', '/v1/project').length;
    expect(looks).toBeGreaterThanOrEqual(4);
    expect(looks).toBeLessThanOrEqual(5);
  });
});

describe('the catalogue’s positions of a masked project', () => {
  const place = fc.record({
    latitude: fc.double({ min: -80, max: 80, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    elevation: fc.option(fc.double({ min: -100, max: 9000, noNaN: true })),
    site_name: fc.option(fc.string()),
  });
  const station = fc.constantFrom('AAA', 'BBB', 'CCC');
  const drawn = fc.record({
    station,
    network: fc.constantFrom('SX', 'SY'),
    kind: fc.constantFrom('serial', 'codes', 'beside', 'project'),
    located: fc.boolean(),
    places: fc.tuple(place, place),
  });

  function worldWith(
    sensors: readonly (typeof drawn extends fc.Arbitrary<infer T> ? T : never)[],
    version: 0 | 1,
  ): World {
    const world = emptyWorld();
    world.project = emptyProject({ id: 'prj_1', name: 'Masked', network_code: 'SX', location_masked: true });
    for (const key of world.projectKeys.values()) if (key.id === 'key_1') key.data = world.project;
    for (const [n, { station: at, network, kind, located: isLocated, places }] of sensors.entries()) {
      const location = isLocated ? { latitude: 10, longitude: 20 + n, elevation_m: 30, name: 'Vault' } : null;
      const common = { last_seen: '2026-01-01T00:00:00Z' };
      addSensor(world, n, {
        project: { ...common, station: at, network, location },
        catalogue:
          kind === 'project'
            ? null
            : {
                ...common,
                station_code: kind === 'codes' ? at : `X${n}`,
                network_id: `net_${network}`,
                network_code: network,
                location: places[version],
                ...(kind === 'codes' && { serial_number: `SN-${n}` }),
              },
      });
      if (kind !== 'beside') continue;
      // A second instrument at its station, that only the catalogue has.
      addSensor(world, 100 + n, {
        project: null,
        catalogue: {
          ...common,
          station_code: at,
          network_id: `net_${network}`,
          network_code: network,
          location: places[version],
          serial_number: `SN-${n}`,
        },
      });
    }
    return world;
  }

  it('show in nothing that is answered about its sensors, byte for byte', async () => {
    const box = { minLatitude: -45, maxLatitude: 45, minLongitude: 170, maxLongitude: 60 };
    const document = `${everything}
      query ($box: BoundingBoxInput!, $within: RadiusInput!, $search: String!) {
        sensors { nodes { ...everything } geoJson totalCount }
        inBox: sensors(filter: { boundingBox: $box }) { nodes { ...everything } geoJson totalCount pageInfo { endCursor } }
        near: sensors(filter: { within: $within }, last: 2) { nodes { id } totalCount pageInfo { startCursor } }
        found: sensors(filter: { search: $search }) { nodes { ...everything } totalCount pageInfo { endCursor } }
        seen: sensors(orderBy: LAST_SEEN_AT_DESC, first: 2) { nodes { ...everything } pageInfo { endCursor } }
        nearby: sensors(orderBy: NETWORK_CODE_DESC, filter: { within: $within }, first: 2) {
          nodes { id } totalCount pageInfo { endCursor }
        }
        one: sensor(by: { deviceId: "${deviceId(0)}" }) { ...everything }
        other: sensor(by: { catalogueId: "sen_0" }) { ...everything }
        networks { sensors { nodes { ...everything } geoJson } }
      }`;
    const answer = async (world: World, search: string) => {
      await using gw = await startGateway({
        clock: new ManualClock(Date.parse(secondsAgo(0, Date.UTC(2026, 0, 2)))),
        sandbox: { world, rateLimits: false },
      });
      const within = { latitude: 10, longitude: 20, radiusKm: 300 };
      return JSON.stringify(await gw.query(document, { box, within, search }));
    };
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 6 }), async (sensors) => {
        // The name that the site has in one of the two worlds.
        const search = sensors[0]?.places[0].site_name ?? 'Vault';
        expect(await answer(worldWith(sensors, 1), search)).toBe(await answer(worldWith(sensors, 0), search));
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
