import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway } from '../support/gateway.js';
import { addSensor, deviceId, secondsAgo, stationCode, worldOf } from './sensors-world.js';

describe('a sensor of both interfaces', () => {
  it('has the values of the project, and what only the catalogue knows', async () => {
    const world = emptyWorld();
    addSensor(world, 1, {
      project: {
        network: 'SX',
        firmware: '5.0.0',
        sensor_type: 'SA-3 Rev B',
        location: { latitude: 0, longitude: 0, elevation_m: 0, name: null },
        power: { battery_volts: 0, charging: null, source: 'mains' },
        connectivity: { type: 'satellite', signal_strength: 0 },
      },
      catalogue: {
        network_code: 'SX',
        firmware_version: '4.0.0',
        type: 'accelerograph',
        location_code: '10',
        location: { latitude: 1, longitude: 2, elevation: 3, site_name: 'Elsewhere' },
        created_at: '2024-05-01T00:00:00.123456Z',
      },
    });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query(`{ sensors { nodes {
      deviceId catalogueId serialNumber stationCode networkCode locationCode model firmwareVersion status statusText
      createdAt sources location { latitude longitude elevationM name masked }
      power { batteryVolts charging source } connectivity { type typeText signalStrength { value unit } }
    } } }`);
    expect(sensors.nodes).toEqual([
      {
        deviceId: deviceId(1),
        catalogueId: 'sen_1',
        serialNumber: deviceId(1),
        stationCode: stationCode(1),
        networkCode: 'SX',
        locationCode: '10',
        model: 'SA-3 Rev B',
        firmwareVersion: '5.0.0',
        status: 'ONLINE',
        statusText: 'online',
        createdAt: '2024-05-01T00:00:00.123456Z',
        sources: ['PROJECT', 'CATALOGUE'],
        // The project's location whole: its missing name is not filled from another survey of the site.
        location: { latitude: 0, longitude: 0, elevationM: 0, name: null, masked: false },
        power: { batteryVolts: 0, charging: null, source: 'mains' },
        connectivity: {
          type: 'UNKNOWN',
          typeText: 'satellite',
          signalStrength: { value: 0, unit: 'PERCENT' },
        },
      },
    ]);
  });

  it('takes from the catalogue what the project left out', async () => {
    const world = emptyWorld();
    const nothing = { sensor_type: null, firmware: null, last_seen: null, location: null, network: null };
    addSensor(world, 1, {
      project: nothing,
      catalogue: { type: 'accelerograph', firmware_version: '4.0.0', last_seen: '2026-01-01T00:00:00Z' },
    });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query(`{ sensors { nodes {
      networkCode model firmwareVersion lastSeenAt location { latitude elevationM name masked }
    } } }`);
    expect(sensors.nodes).toEqual([
      {
        networkCode: 'SX',
        model: 'accelerograph',
        firmwareVersion: '4.0.0',
        lastSeenAt: '2026-01-01T00:00:00Z',
        location: { latitude: 34.05, elevationM: 93, name: 'Test vault', masked: false },
      },
    ]);
  });

  it('is one node with one id however it is reached', async () => {
    const world = worldOf(3);
    const id = deviceId(1);
    await using gw = await startGateway({ sandbox: { world } });
    const answer = await gw.query(
      `query ($upper: String!, $lower: String!, $station: String!) {
        upper: sensor(by: { deviceId: $upper }) { ...same }
        lower: sensor(by: { deviceId: $lower }) { ...same }
        station: sensor(by: { stationCode: $station }) { ...same }
        both: sensor(by: { station: { stationCode: $station, networkCode: "N1" } }) { ...same }
        catalogue: sensor(by: { catalogueId: "sen_1" }) { ...same }
        sensors(filter: { stationCodes: [$station] }) { nodes { ...same } }
      }
      fragment same on Sensor { id deviceId catalogueId stationCode firmwareVersion lastSeenAt asOf }`,
      { upper: id, lower: id.toLowerCase(), station: stationCode(1) },
    );
    const { upper, lower, station, both, catalogue, sensors } = answer;
    expect(upper.deviceId).toBe(id);
    expect(lower).toEqual(upper);
    expect(station).toEqual(upper);
    expect(both).toEqual(upper);
    expect(catalogue).toEqual(upper);
    expect(sensors.nodes).toEqual([upper]);
    expect(gw.sandbox.requests.map(({ path }) => path).sort()).toEqual(['/v1/sensors', '/v1/sensors']);

    const node = await gw.query('query ($id: ID!) { node(id: $id) { ... on Sensor { deviceId } } }', {
      id: upper.id,
    });
    expect(node).toEqual({ node: { deviceId: id } });
  });
});

describe('a sensor of one interface', () => {
  it('of the catalogue alone has no part that only the project has', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { project: null, catalogue: { serial_number: 'SN-1', status: 'maintenance' } });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query(`{ sensors { nodes {
      deviceId serialNumber networkCode firmwareVersion status statusText power { source } connectivity { type } sources
    } } }`);
    expect(sensors.nodes).toEqual([
      {
        deviceId: null,
        serialNumber: 'SN-1',
        networkCode: 'SX',
        firmwareVersion: '4.2.1',
        status: 'UNKNOWN',
        statusText: 'maintenance',
        power: null,
        connectivity: null,
        sources: ['CATALOGUE'],
      },
    ]);
  });

  it('of the project alone has no part that only the catalogue has', async () => {
    const world = emptyWorld();
    addSensor(world, 1, { catalogue: null });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query(
      '{ sensors { nodes { catalogueId serialNumber locationCode createdAt network { name } sources } } }',
    );
    expect(sensors.nodes).toEqual([
      {
        catalogueId: null,
        serialNumber: null,
        locationCode: null,
        createdAt: null,
        network: null,
        sources: ['PROJECT'],
      },
    ]);
  });
});

describe('status', () => {
  it('of a sensor that was heard of longer than 150 seconds ago is OFFLINE, whatever its text says', async () => {
    const world = emptyWorld();
    const seen = ['online', 'online', 'degraded', 'degraded', 'offline'];
    const ages = [140, 160, 10, 160, 10];
    for (const [n, status] of seen.entries()) {
      addSensor(world, n, { project: { status, last_seen: secondsAgo(ages[n] ?? 0) } });
    }
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query('{ sensors { nodes { status statusText } } }');
    expect(sensors.nodes).toEqual([
      { status: 'ONLINE', statusText: 'online' },
      { status: 'OFFLINE', statusText: 'online' },
      { status: 'UNKNOWN', statusText: 'degraded' },
      { status: 'OFFLINE', statusText: 'degraded' },
      { status: 'OFFLINE', statusText: 'offline' },
    ]);
  });

  it('turns OFFLINE at 150 seconds although the record is from a cache that upstream no longer refreshes', async () => {
    const clock = new ManualClock();
    const world = emptyWorld();
    addSensor(world, 1, { project: { last_seen: secondsAgo(0, clock.wallMs()) } });
    await using gw = await startGateway({ clock, sandbox: { world } });
    const status = async () => {
      const { sensors } = await gw.query('{ sensors { nodes { status } } }');
      return sensors.nodes[0].status;
    };
    expect(await status()).toBe('ONLINE');
    const headers = { 'retry-after': '3000' };
    gw.sandbox.faults.add({ source: 'project', status: 429, headers, times: 1000 });
    await clock.advance(150_000);
    expect(await status()).toBe('ONLINE');
    await clock.advance(1);
    expect(await status()).toBe('OFFLINE');
  });

  it('shows a change upstream to the second query after 10 seconds', async () => {
    const clock = new ManualClock();
    const world = emptyWorld();
    addSensor(world, 1, { project: { last_seen: secondsAgo(0, clock.wallMs()) } });
    await using gw = await startGateway({ clock, sandbox: { world } });
    const firmware = async () => {
      const { sensors } = await gw.query('{ sensors { nodes { firmwareVersion } } }');
      return sensors.nodes[0].firmwareVersion;
    };
    expect(await firmware()).toBe('4.2.1');
    const [sensor] = world.project.sensors;
    if (sensor) sensor.firmware = '4.3.0';
    await clock.advance(9_000);
    expect(await firmware()).toBe('4.2.1');
    await clock.advance(2_000);
    await firmware();
    await expect.poll(firmware).toBe('4.3.0');
  });
});

describe('values that are not what the interface describes', () => {
  it('are errors at their own paths and lose nothing else', async () => {
    const world = worldOf(2);
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/sensors',
      rewrite: (body) => {
        const [first] = (body as { data: Record<string, unknown>[] }).data;
        Object.assign(first ?? {}, {
          firmware: { version: 1 },
          last_seen: 'yesterday',
          power: { battery_volts: 'NaN', charging: null, source: 'solar' },
          connectivity: 'wifi',
          location: { latitude: 34, longitude: 'x', elevation_m: 1, name: 'x', masked: false },
        });
        return body;
      },
    });
    gw.sandbox.faults.add({ source: 'catalogue', path: /^\/v1\/sensors\/./, status: 404, times: 9 });
    const { data, errors } = await gw.queryWithErrors(`{ sensors { nodes {
      deviceId lastSeenAt model power { batteryVolts source } connectivity { type } location { latitude }
    } } }`);
    expect(data.sensors.nodes[0]).toEqual({
      deviceId: deviceId(0),
      lastSeenAt: data.sensors.nodes[0].lastSeenAt,
      model: 'SA-3',
      power: { batteryVolts: null, source: 'solar' },
      connectivity: null,
      location: null,
    });
    expect(data.sensors.nodes[1].location).toEqual({ latitude: 34.05 });
    const at = (errors ?? []).map(({ path, extensions }) => [path?.slice(3).join('.'), extensions.code]);
    expect(at.sort()).toEqual([
      ['lastSeenAt', 'UPSTREAM_UNAVAILABLE'],
      ['location', 'UPSTREAM_UNAVAILABLE'],
      ['power.batteryVolts', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });
});
