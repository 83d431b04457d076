import type { ManualClock } from '../../src/clock.js';
import { aCatalogueSensor, aNetwork, aSensor } from '../../src/sandbox/builders.js';
import type { CatalogueSensor } from '../../src/sandbox/catalogue/records.js';
import type { ProjectSensor } from '../../src/sandbox/project/records.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';

/** The nth Device ID, as the project spells it. */
export const deviceId = (n: number) => (0xa1_0000_0000_00 + n).toString(16).toUpperCase();

/** The nth station code; as many as there are come in this order. */
export const stationCode = (n: number) => `S${String(n).padStart(5, '0')}`;

export const secondsAgo = (seconds: number, nowMs = Date.now()) =>
  new Date(nowMs - seconds * 1000).toISOString();

export interface SensorFields {
  readonly project?: Partial<ProjectSensor> | null;
  readonly catalogue?: Partial<CatalogueSensor> | null;
}

/** Sensor `n`, in both interfaces unless one is null. */
export function addSensor(
  world: World,
  n: number,
  { project = {}, catalogue = {} }: SensorFields = {},
): void {
  const last = secondsAgo(20);
  if (project) {
    world.project.sensors.push(
      aSensor({ device_id: deviceId(n), station: stationCode(n), last_seen: last, ...project }),
    );
  }
  if (catalogue) {
    world.catalogue.sensors.push(
      aCatalogueSensor({
        id: `sen_${n}`,
        serial_number: deviceId(n),
        station_code: stationCode(n),
        last_seen: last,
        ...catalogue,
      }),
    );
  }
}

/** `count` sensors that both interfaces have, in one network, or in as many as are named. */
export function worldOf(count: number, networks: readonly string[] = ['net_1']): World {
  const world = emptyWorld();
  for (const id of networks) world.catalogue.networks.push(aNetwork({ id, name: `Name of ${id}` }));
  for (let n = 0; n < count; n++) {
    const network = networks[n % networks.length] ?? 'net_1';
    addSensor(world, n, {
      catalogue: { network_id: network, network_code: codeOf(network) },
      project: { network: codeOf(network) },
    });
  }
  return world;
}

/** The seismic code of a network of `worldOf`. */
const codeOf = (networkId: string) => networkId.replace('net_', 'N');

/** The answer to something that waits for the clock: retries and waits for budget pass while it does. */
export async function whileTimePasses<T>(clock: ManualClock, answering: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  answering.then(over, over);
  while (!isOver) await clock.advance(100);
  return answering;
}
