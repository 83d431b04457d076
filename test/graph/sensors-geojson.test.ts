import { describe, expect, it } from 'vitest';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway } from '../support/gateway.js';
import { addSensor, stationCode } from './sensors-world.js';

describe('the GeoJSON of a page of sensors', () => {
  it('is a FeatureCollection in the order of the page: longitude first, elevation where it is known', async () => {
    const world = emptyWorld();
    const at = (latitude: number, longitude: number, elevation_m: number | null) => ({
      project: { location: { latitude, longitude, elevation_m, name: 'Vault' } },
    });
    addSensor(world, 0, at(0, 0, 0));
    addSensor(world, 1, at(-41.5, 190, null));
    addSensor(world, 2, { project: { location: null }, catalogue: null });
    addSensor(world, 3, { project: null, catalogue: { network_code: 'SY', network_id: 'net_2' } });
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query('{ sensors(first: 4) { nodes { id } geoJson } }');
    const ids = sensors.nodes.map(({ id }: { id: string }) => id);
    const feature = (n: number, geometry: object | null, networkCode = 'SX') => ({
      type: 'Feature',
      id: ids[n],
      geometry,
      properties: {
        stationCode: stationCode(n),
        networkCode,
        status: 'ONLINE',
        masked: geometry ? false : null,
      },
    });
    expect(sensors.geoJson).toEqual({
      type: 'FeatureCollection',
      features: [
        feature(0, { type: 'Point', coordinates: [0, 0, 0] }),
        feature(1, { type: 'Point', coordinates: [-170, -41.5] }),
        feature(2, null),
        feature(3, { type: 'Point', coordinates: [-118.25, 34.05, 93] }, 'SY'),
      ],
    });
  });

  it('has displaced positions while masked, and says which', async () => {
    const world = emptyWorld();
    world.project.project.location_masked = true;
    addSensor(world, 0);
    await using gw = await startGateway({ sandbox: { world } });
    const { sensors } = await gw.query(
      '{ sensors { nodes { location { latitude longitude elevationM } } geoJson } }',
    );
    const { latitude, longitude, elevationM } = sensors.nodes[0].location;
    const [feature] = sensors.geoJson.features;
    expect(feature.geometry.coordinates).toEqual([longitude, latitude, elevationM]);
    expect(feature.properties.masked).toBe(true);
    expect(latitude).not.toBe(34.05);
  });

  it('says why where a position may not be shown at present', async () => {
    const world = emptyWorld();
    addSensor(world, 0);
    await using gw = await startGateway({ sandbox: { world } });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const { data, errors } = await gw.queryWithErrors(
      '{ sensors { geoJson unavailableSources { source } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.sensors.unavailableSources).toEqual([{ source: 'PROJECT' }]);
    expect(data.sensors.geoJson.features[0]).toMatchObject({
      geometry: null,
      properties: { masked: null, withheld: 'UPSTREAM_UNAVAILABLE' },
    });
  });
});
