import { describe, expect, it } from 'vitest';
import { anEvent, aTrigger } from '../../src/sandbox/builders.js';
import { startGateway } from '../support/gateway.js';
import { addSensor, deviceId, worldOf } from './sensors-world.js';

/** One sensor whose interfaces pad its codes differently, with nothing else to associate them by. */
function paddedWorld() {
  const world = worldOf(1);
  addSensor(world, 7, {
    project: { station: 'ABC  ', network: 'N1 ' },
    catalogue: {
      serial_number: 'SN-unlike',
      station_code: ' ABC',
      network_id: 'net_1',
      network_code: 'N1',
      location_code: '--',
    },
  });
  return world;
}

describe('codes of SEED that are padded with blanks', () => {
  it('are one sensor, found by either spelling, with its location code', async () => {
    await using gw = await startGateway({ sandbox: { world: paddedWorld() } });
    const fields = '{ deviceId catalogueId stationCode networkCode locationCode }';
    const { list, padded, plain, station } = await gw.query(`{
      list: sensors(filter: { stationCodes: ["ABC "], networkCode: " N1" }) { nodes ${fields} }
      padded: sensor(by: { stationCode: " ABC " }) ${fields}
      plain: sensor(by: { stationCode: "ABC" }) ${fields}
      station: sensor(by: { station: { stationCode: "ABC  ", networkCode: "N1 " } }) ${fields}
    }`);
    const sensor = {
      deviceId: deviceId(7),
      catalogueId: 'sen_7',
      stationCode: 'ABC',
      networkCode: 'N1',
      locationCode: '',
    };
    expect(list.nodes).toEqual([sensor]);
    expect([padded, plain, station]).toEqual([sensor, sensor, sensor]);
  });

  it('are the station of a trigger, and of a pick', async () => {
    const world = paddedWorld();
    world.project.events.push(anEvent({ id: 'e1', pick_stations: ['ABC  ', ' XYZ'] }));
    world.project.triggers.push(aTrigger({ id: 1, device_id: deviceId(7), station: 'ABC  ' }));
    await using gw = await startGateway({ sandbox: { world } });
    const { events, triggers } = await gw.query(`{
      events(first: 5) { nodes { pickStations } }
      triggers(first: 5, filter: { stationCodes: [" ABC"] }) { nodes { stationCode } }
    }`);
    expect(events.nodes).toEqual([{ pickStations: ['ABC', 'XYZ'] }]);
    expect(triggers.nodes).toEqual([{ stationCode: 'ABC' }]);
  });
});
