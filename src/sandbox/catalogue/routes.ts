import { pageOf, sliceOf } from '../http/paging.js';
import { Parameters } from '../http/parameters.js';
import { type ApiRequest, jsonReply, type Reply, segmentsOf } from '../http/reply.js';
import { sortedViews } from '../http/sorted.js';
import { instants, type Slice, timelines } from '../http/timeline.js';
import { hashOf } from '../random.js';
import type { CatalogueKey } from '../world.js';
import { eventConditions, eventFilter } from './event-search.js';
import { CatalogueFailure } from './failure.js';
import { statsOf } from './network-stats.js';
import type { CatalogueEvent, CatalogueSensor } from './records.js';
import { sensorData } from './sensor-data.js';

/** Choices that docs/interfaces.md C4 leaves open about the lists, so that tests can try each way. */
export interface CatalogueChoices {
  /** Order of events and sensors. `unspecified` is fixed but follows nothing that a reader could rely on. */
  readonly order: 'unspecified' | 'newest' | 'oldest';
  /** A `limit` over the maximum: 400, or as if the maximum had been asked for. */
  readonly overMaximum: 'refuse' | 'clamp';
  readonly sensorsDefaultLimit: number;
  readonly eventsDefaultLimit: number;
  readonly eventsMaxLimit: number;
}

// Assumed: these, where docs/interfaces.md C8 says only that a page of sensors holds at most 100.
export const usualChoices: CatalogueChoices = {
  order: 'unspecified',
  overMaximum: 'refuse',
  sensorsDefaultLimit: 20,
  eventsDefaultLimit: 20,
  eventsMaxLimit: 100,
};

/** Answers every path of docs/interfaces.md C4 for a key that has been accepted; errors are thrown as CatalogueFailure. */
export function catalogueInterface(
  choices: CatalogueChoices,
  seed: number,
): (request: ApiRequest, key: CatalogueKey, meta: object) => Reply {
  const idOf = (record: { id: string }) => record.id;
  const shuffled = (record: { id: string }) => hashOf(`${seed} ${record.id}`);
  const sensorsShuffled = sortedViews<CatalogueSensor>(idOf, shuffled, idOf);
  const eventsShuffled = sortedViews<CatalogueEvent>(idOf, shuffled, idOf);
  const originMsOf = instants<CatalogueEvent>((event) => event.origin_time);
  const eventsByOrigin = timelines<CatalogueEvent>((event) => event.origin_time, idOf);
  const eventsInOrder = (events: readonly CatalogueEvent[]): Slice<CatalogueEvent> =>
    choices.order === 'unspecified'
      ? sliceOf(eventsShuffled(events))
      : eventsByOrigin(events).between(undefined, undefined, choices.order === 'newest' ? 'desc' : 'asc');

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
        const slice = sliceOf(sensorsShuffled(data.sensors));
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
        const parameters = query([...eventConditions, 'page', 'limit']);
        const keep = eventFilter(parameters, originMsOf);
        const slice = eventsInOrder(data.events);
        // docs/interfaces.md C4 shows `pages` only where it is shown; this list goes without, so that readers do not rely on it.
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
        return single(network && statsOf(data, network, request.nowMs, originMsOf));
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
