import { emptyWorld, type World } from '../world.js';
import type { Quake } from './earthquakes.js';
import { happenings } from './happenings.js';
import { healthOf } from './health.js';
import { synthesis } from './motion/synthesis.js';
import { layNetwork, networkIds, type Station } from './network.js';
import { catalogueSensor, projectSensor } from './station-records.js';

export interface LivingWorldOptions {
  readonly seed: number;
  /** From here on things happen as time passes; the past before it is there at once. */
  readonly startMs: number;
}

/**
 * A seeded network in which things happen: the real earthquakes of a week before `startMs`, and invented ones from an
 * hour and a half before it on without end. What is there at a time follows from seed and start alone, however often it is asked.
 */
export function livingWorld({ seed, startMs }: LivingWorldOptions): World {
  const world = emptyWorld();
  const { catalogue } = world;
  const felt: Quake[] = [];
  const stations = layNetwork(seed);
  const residents = stations.map((station) => ({ station, health: healthOf(station, seed) }));
  const healthByDevice = new Map(residents.map(({ station, health }) => [station.deviceId, health]));
  const projects = [
    { data: world.project, stations: stations.filter((station) => station.projectName === 'default') },
    { data: world.maskedProject, stations: stations.filter((station) => station.projectName === 'masked') },
  ];
  const refreshers: ((nowMs: number) => void)[] = [];
  for (const { data, stations: own } of projects) {
    data.project.network_code = own[0]?.network ?? data.project.network_code;
    data.healthReports = (deviceId, afterMs, toMs) =>
      healthByDevice.get(deviceId)?.reports(afterMs, toMs) ?? [];
  }
  for (const { station, health } of residents) {
    const project = projects.find(({ stations: own }) => own.includes(station));
    if (project) {
      const record = projectSensor(station, health, startMs);
      project.data.sensors.push(record);
      refreshers.push((nowMs) => Object.assign(record, projectSensor(station, health, nowMs)));
    }
    const { catalogueId } = station;
    if (catalogueId !== null) {
      const record = catalogueSensor(station, catalogueId, health, startMs);
      catalogue.sensors.push(record);
      refreshers.push((nowMs) => Object.assign(record, catalogueSensor(station, catalogueId, health, nowMs)));
    }
  }
  catalogue.networks = networksOf(stations);
  catalogue.waveforms = synthesis(stations, felt);

  const isUp = ({ deviceId }: Station, ms: number) =>
    healthByDevice.get(deviceId)?.presence.isUp(ms) ?? false;
  const happen = happenings({ seed, startMs, world, projects, stations, isUp, felt });
  let advancedToMs = Number.NEGATIVE_INFINITY;
  world.advance = (nowMs) => {
    if (nowMs <= advancedToMs) return;
    advancedToMs = nowMs;
    happen(nowMs);
    for (const refresh of refreshers) refresh(nowMs);
  };
  world.advance(startMs);
  return world;
}

function networksOf(stations: readonly Station[]) {
  const named = [
    [networkIds.SG, 'Southern California Strong Motion', 'Schools, fire stations and libraries'],
    [networkIds.SV, 'Private Hillside Network', null],
    [networkIds.SP, 'Partner Stations', 'Shared by neighbouring networks'],
    [networkIds.world, 'World Bulletin', 'Earthquakes of the world, no sensors of its own'],
  ] as const;
  return named.map(([id, name, description], index) => ({
    id,
    name,
    description,
    organization_id: 'org_sandbox',
    sensor_count: stations.filter((station) => station.catalogueId !== null && station.networkId === id)
      .length,
    created_at: `202${index}-03-01T00:00:00Z`,
  }));
}
