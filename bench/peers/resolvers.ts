import {
  distanceKm,
  type Envelope,
  type Event,
  eventOf,
  healthReportOf,
  intensityOf,
  networkOf,
  type Page,
  type Sensor,
  sensorOf,
  type Trigger,
  triggerOf,
  type WireCatalogueEvent,
  type WireHealthReport,
  type WireNetwork,
  type WireProjectEvent,
  type WireSensor,
  type WireTrigger,
} from './records.js';
import type { Kind } from './settings.js';

/** How a peer reads: what differs between the peers. The resolvers are the same for all. */
export interface Reads {
  project<T>(path: string, kind: Kind): Promise<T>;
  catalogue<T>(path: string, kind: Kind): Promise<T>;
}

export interface Context {
  readonly reads: Reads;
}

export const resolvers = {
  Query: {
    async sensors(_: unknown, { first = 50 }: { first?: number }, { reads }: Context) {
      const page = await reads.project<Page<WireSensor>>(`/v1/sensors?limit=${first}`, 'sensor');
      return { totalCount: page.total, nodes: page.data.map(sensorOf) };
    },
    async sensor(_: unknown, { by }: { by: { stationCode: string } }, { reads }: Context) {
      const code = encodeURIComponent(by.stationCode);
      return sensorOf(await reads.project<WireSensor>(`/v1/sensors/${code}`, 'sensor'));
    },
    async triggers(_: unknown, { first = 50 }: { first?: number }, { reads }: Context) {
      return { nodes: await readTriggers(reads, `/v1/triggers?limit=${first}`) };
    },
    async events(_: unknown, { first = 50, filter }: EventArgs, { reads }: Context) {
      const query = `/v1/events?limit=100&min_magnitude=${filter?.minMagnitude ?? 0}`;
      const [catalogue, project] = await Promise.all([
        reads.catalogue<Envelope<WireCatalogueEvent>>(query, 'event'),
        reads.project<Page<WireProjectEvent>>(query, 'event'),
      ]);
      const events = catalogue.data.map((event) => eventOf(event, project.data));
      events.sort((a, b) => Date.parse(b.originTime) - Date.parse(a.originTime));
      return { nodes: events.slice(0, first) };
    },
    async networks(_: unknown, _args: unknown, { reads }: Context) {
      const { data } = await reads.catalogue<Envelope<WireNetwork>>('/v1/networks', 'network');
      return data.map(networkOf);
    },
  },
  Sensor: {
    async latestHealthReport(sensor: Sensor, _args: unknown, { reads }: Context) {
      const path = `/v1/sensors/${sensor.deviceId}/soh`;
      const { data } = await reads.project<Envelope<WireHealthReport>>(path, 'health');
      const last = data.at(-1);
      return last ? healthReportOf(last) : null;
    },
  },
  Event: {
    async recordings(event: Event, { first = 50 }: { first?: number }, { reads }: Context) {
      const fromMs = Date.parse(event.originTime);
      const to = new Date(fromMs + recordedWithinS * 1000).toISOString();
      const path = `/v1/triggers?limit=500&from=${new Date(fromMs).toISOString()}&to=${to}`;
      const recordings = (await readTriggers(reads, path)).map((trigger) => ({
        trigger,
        distanceKm: trigger.sensor ? distanceKm(event, trigger.sensor.location) : Number.POSITIVE_INFINITY,
      }));
      return recordings.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, first);
    },
  },
  Trigger: {
    pgaHorizontal: ({ pgaMg }: Trigger, { unit }: { unit: 'MG' | 'PERCENT_G' }) =>
      unit === 'MG' ? pgaMg : pgaMg / 10,
    estimatedIntensity: intensityOf,
  },
};

interface EventArgs {
  readonly first?: number;
  readonly filter?: { readonly minMagnitude?: number };
}

const recordedWithinS = 300;

/** With their sensors, from one list: a read for each sensor would be a hundred. */
async function readTriggers(reads: Reads, path: string): Promise<Trigger[]> {
  const [triggers, sensors] = await Promise.all([
    reads.project<Page<WireTrigger>>(path, 'trigger'),
    reads.project<Page<WireSensor>>('/v1/sensors?limit=500', 'sensor'),
  ]);
  const sensorById = new Map(sensors.data.map((wire) => [wire.device_id, sensorOf(wire)]));
  return triggers.data.map((wire) => triggerOf(wire, sensorById.get(wire.device_id)));
}
