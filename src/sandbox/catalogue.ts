import type { CatalogueEvent, CatalogueNetwork, CatalogueSensor, NetworkStats } from './catalogue-records.js';
import { distanceKm } from './geodesy.js';
import { miniseed } from './miniseed.js';
import { pageOf } from './paging.js';
import { ParameterError, Parameters } from './parameters.js';
import { hashOf } from './random.js';
import { type ApiRequest, jsonReply, type Reply, segmentsOf } from './reply.js';
import { instantOf, textOf } from './time.js';
import { type Slice, timelines } from './timeline.js';
import type { CatalogueData, CatalogueKey } from './world.js';

/** What catalogue §4 leaves open about its lists, so that tests can try each way. */
export interface CatalogueChoices {
  /** Order of events and sensors. `unspecified` is fixed but follows nothing that a reader could rely on. */
  readonly order: 'unspecified' | 'newest' | 'oldest';
  /** A `limit` over the maximum: 400, or as if the maximum had been asked for. */
  readonly overMaximum: 'refuse' | 'clamp';
  readonly sensorsDefaultLimit: number;
  readonly eventsDefaultLimit: number;
  readonly eventsMaxLimit: number;
}

// Assumed: these, where catalogue §8 says only that a page of sensors holds at most 100.
export const usualChoices: CatalogueChoices = {
  order: 'unspecified',
  overMaximum: 'refuse',
  sensorsDefaultLimit: 20,
  eventsDefaultLimit: 20,
  eventsMaxLimit: 100,
};

/** Answers every path of catalogue §4 for a key that has been accepted; errors are thrown as CatalogueFailure. */
export function catalogueInterface(
  choices: CatalogueChoices,
  seed: number,
): (request: ApiRequest, key: CatalogueKey, meta: object) => Reply {
  const shuffleKey = (id: string) => hashOf(`${seed} ${id}`);
  const eventsInOrder = timelines<CatalogueEvent>(
    (event) => (choices.order === 'unspecified' ? event.id : event.origin_time),
    choices.order === 'unspecified' ? shuffleKey : msOf,
    (event) => event.id,
  );
  const sensorsInOrder = timelines<CatalogueSensor>(
    (sensor) => sensor.id,
    shuffleKey,
    (sensor) => sensor.id,
  );
  const direction = choices.order === 'newest' ? 'desc' : 'asc';

  return (request, { data, forbidden }, meta) => {
    const query = (allowed: readonly string[]) => new Parameters(request.search, allowed);
    const single = (value: object | undefined) => {
      query([]);
      if (!value) throw new CatalogueFailure(404, 'not_found', 'There is no such resource');
      return jsonReply(200, { data: value, meta });
    };
    if (forbidden && request.path.search(forbidden) >= 0) {
      throw new CatalogueFailure(403, 'forbidden', 'The key has no permission for this');
    }
    const [resource, id, sub, ...rest] = segmentsOf(request.path) ?? [];
    const route = `${resource}${id === undefined ? '' : '/{id}'}${sub === undefined ? '' : `/${sub}`}`;
    switch (rest.length > 0 ? undefined : route) {
      case 'sensors': {
        const parameters = query(['network_id', 'status', 'page', 'limit']);
        const networkId = parameters.text('network_id');
        const status = parameters.oneOf('status', ['online', 'offline']);
        const slice = sensorsInOrder(data.sensors).between(undefined, undefined, 'asc');
        const keep = (sensor: CatalogueSensor) =>
          (networkId === undefined || sensor.network_id === networkId) &&
          (status === undefined || sensor.status === status);
        const { records, pagination } = paged(parameters, slice, keep, choices.sensorsDefaultLimit, 100);
        const pages = Math.ceil(pagination.total / pagination.limit);
        return jsonReply(200, {
          data: records.map(sensorListItem),
          pagination: { ...pagination, pages },
          meta,
        });
      }
      case 'sensors/{id}':
        return single(data.sensors.find((sensor) => sensor.id === id));
      case 'sensors/{id}/data':
        return sensorData(query(['start', 'end', 'channel', 'format']), data, id, request.nowMs, meta);
      case 'events': {
        const parameters = query(eventParameters);
        const keep = eventFilter(parameters);
        const slice = eventsInOrder(data.events).between(undefined, undefined, direction);
        // catalogue §4 shows `pages` only where it is shown; this list goes without, so that readers do not rely on it.
        const { records, pagination } = paged(
          parameters,
          slice,
          keep,
          choices.eventsDefaultLimit,
          choices.eventsMaxLimit,
        );
        return jsonReply(200, { data: records.map(eventListItem), pagination, meta });
      }
      case 'events/{id}':
        return single(data.events.find((event) => event.id === id));
      case 'networks':
        query([]);
        return jsonReply(200, { data: data.networks, meta });
      case 'networks/{id}':
        return single(data.networks.find((network) => network.id === id));
      case 'networks/{id}/stats': {
        const network = data.networks.find((known) => known.id === id);
        return single(network && statsOf(data, network, request.nowMs));
      }
      default:
        throw new CatalogueFailure(404, 'not_found', 'There is no such path');
    }
  };

  function paged<T>(
    query: Parameters,
    list: Slice<T>,
    keep: (record: T) => boolean,
    defaultLimit: number,
    maxLimit: number,
  ) {
    const page = query.integer('page', { min: 1, max: 2 ** 31, fallback: 1 });
    const accepted = choices.overMaximum === 'clamp' ? Number.MAX_SAFE_INTEGER : maxLimit;
    const limit = Math.min(
      maxLimit,
      query.integer('limit', { min: 1, max: accepted, fallback: defaultLimit }),
    );
    const { records, total } = pageOf(list, (page - 1) * limit, limit, keep);
    return { records, pagination: { page, limit, total } };
  }
}

/** A failure by catalogue §7. Only `invalid_request` is a documented code. */
export class CatalogueFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object;

  constructor(status: number, code: string, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const eventParameters = [
  ...[
    'network_id',
    'start',
    'end',
    'min_magnitude',
    'max_magnitude',
    'lat',
    'lon',
    'radius',
    'page',
    'limit',
  ],
];

function eventFilter(query: Parameters): (event: CatalogueEvent) => boolean {
  const networkId = query.text('network_id');
  const [startMs, endMs] = [query.isoTime('start'), query.isoTime('end')];
  const [minimum, maximum] = [query.number('min_magnitude'), query.number('max_magnitude')];
  const latitude = query.number('lat', { min: -90, max: 90 });
  const longitude = query.number('lon', { min: -180, max: 180 });
  const radiusKm = query.number('radius', { min: 0 });
  if (startMs !== undefined && endMs !== undefined && startMs > endMs) {
    throw new ParameterError('start', 'is after end', 'range');
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    throw new ParameterError('min_magnitude', 'is above max_magnitude', 'range');
  }
  const given = [latitude, longitude, radiusKm].filter((value) => value !== undefined).length;
  if (given !== 0 && given !== 3) {
    throw new ParameterError('radius', 'needs lat and lon, and they need it');
  }
  return (event) => {
    if (networkId !== undefined && event.network_id !== networkId) return false;
    if (startMs !== undefined && !(msOf(event.origin_time) >= startMs)) return false;
    if (endMs !== undefined && !(msOf(event.origin_time) <= endMs)) return false;
    if (minimum !== undefined && !(event.magnitude !== null && event.magnitude >= minimum)) return false;
    if (maximum !== undefined && !(event.magnitude !== null && event.magnitude <= maximum)) return false;
    if (latitude === undefined || longitude === undefined || radiusKm === undefined) return true;
    return distanceKm({ latitude, longitude }, event) <= radiusKm;
  };
}

function sensorListItem(sensor: CatalogueSensor): object {
  const { id, serial_number, type, station_code, network_id, status, location, last_seen } = sensor;
  const { latitude, longitude, elevation } = location ?? {};
  const shown = location && { latitude, longitude, elevation };
  return { id, serial_number, type, station_code, network_id, status, location: shown, last_seen };
}

function eventListItem(event: CatalogueEvent): object {
  const { id, origin_time, latitude, longitude, depth_km, magnitude, magnitude_type } = event;
  const { location_description, status, network_id } = event;
  return {
    ...{ id, origin_time, latitude, longitude, depth_km, magnitude, magnitude_type },
    ...{ location_description, status, network_id },
  };
}

function statsOf(data: CatalogueData, network: CatalogueNetwork, nowMs: number): NetworkStats {
  const known = data.stats[network.id];
  if (known) return known;
  const sensors = data.sensors.filter((sensor) => sensor.network_id === network.id);
  const online = sensors.filter((sensor) => sensor.status === 'online').length;
  const since = nowMs - 30 * 86_400_000;
  const events = data.events.filter(
    (event) => event.network_id === network.id && msOf(event.origin_time) >= since,
  );
  return {
    network_id: network.id,
    total_sensors: sensors.length,
    online_sensors: online,
    offline_sensors: sensors.length - online,
    events_30d: events.length,
    data_completeness: sensors.length === 0 ? null : Math.round((online / sensors.length) * 1000) / 1000,
  };
}

// Assumed: catalogue §4 gives no bounds. JSON is held in memory as text; miniSEED is made record by record.
const maxJsonSpanS = 3 * 3600;
const maxMiniseedSpanS = 24 * 3600;

function sensorData(
  query: Parameters,
  data: CatalogueData,
  id: string | undefined,
  nowMs: number,
  meta: object,
): Reply {
  const channel = query.oneOf('channel', ['HNZ', 'HNE', 'HNN']);
  const format = query.oneOf('format', ['json', 'miniseed']) ?? 'json';
  const [startMs, endMs] = [query.isoTime('start'), query.isoTime('end')];
  // Assumed: all three are needed and nothing has a default but the format; catalogue §4 does not say.
  if (startMs === undefined) throw new ParameterError('start', 'is missing');
  if (endMs === undefined) throw new ParameterError('end', 'is missing');
  if (channel === undefined) throw new ParameterError('channel', 'is missing');
  if (startMs >= endMs) throw new ParameterError('start', 'is not before end', 'range');
  const maxSpanS = format === 'json' ? maxJsonSpanS : maxMiniseedSpanS;
  if (endMs - startMs > maxSpanS * 1000) {
    throw new ParameterError('end', `is more than ${maxSpanS} seconds after start`, 'range');
  }
  const sensor = data.sensors.find((known) => known.id === id);
  const source = data.waveforms;
  if (!sensor || !source.samples(sensor.id, channel, 0, 1)) {
    throw new CatalogueFailure(404, 'not_found', 'There is no such sensor, or it records no such channel');
  }
  // Samples at or after start and before end, none of the future.
  const firstIndex = Math.ceil((startMs / 1000) * source.rateHz);
  const endIndex = Math.ceil((Math.min(endMs, nowMs) / 1000) * source.rateHz);
  const window = { firstIndex, count: Math.max(0, endIndex - firstIndex) };
  if (format === 'miniseed') {
    const chunks = miniseed(sensor, channel, source, window);
    return { status: 200, headers: {}, body: { kind: 'stream', type: 'application/vnd.fdsn.mseed', chunks } };
  }
  const samples = source.samples(sensor.id, channel, window.firstIndex, window.count) ?? [];
  const timeOf = (index: number) => textOf((index / source.rateHz) * 1000, 6);
  return jsonReply(200, {
    data: {
      sensor_id: sensor.id,
      channel,
      start_time: timeOf(firstIndex),
      end_time: timeOf(firstIndex + Math.max(0, window.count - 1)),
      sample_rate: source.rateHz,
      samples: Array.from(samples),
    },
    meta,
  });
}

const msOf = (text: string): number => instantOf(text) ?? Number.NaN;
