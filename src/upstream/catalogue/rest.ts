import { detailName } from '../cache/delivered.js';
import { recordedMs } from '../cache/freshness.js';
import { decodeOne } from '../decode/list.js';
import { clientOf } from '../read/client.js';
import { InterfaceState } from '../read/interface-state.js';
import { Pipeline } from '../read/pipeline.js';
import type { Read } from '../read/read.js';
import type { ReadRequest, UpstreamOptions } from '../read/request.js';
import { type Frame, listedEvent, present, requestsOf } from '../read/requests.js';
import { allPages } from './all-pages.js';
import { dataOf, decodeEventDetail, decodePage, decodeWaveform } from './bodies.js';
import type { CatalogueClient, CataloguePage, EventQuery, WaveformQuery } from './client.js';
import { withDelivered } from './event-page.js';
import { PageSize } from './page-size.js';
import {
  listedEventShape,
  networkShape,
  networkStatisticsShape,
  sensorDetailShape,
  sensorShape,
  type WireEvent,
  type WireEventDetail,
} from './wire.js';

/** The catalogue interface under one key. Making one costs nothing: connections and cache are shared. */
export function createCatalogueClient(options: UpstreamOptions): CatalogueClient {
  const state = new InterfaceState('CATALOGUE', options);
  const pipeline = new Pipeline(state, options);
  const eventPages = new PageSize();
  return {
    async sensors({ networkId, status, page, limit }, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/sensors', 'sensor', { network_id: networkId, status, page, limit }),
            decode: (body, decoding) => decodePage(body, sensorShape, limit, decoding),
          },
          scope,
        ),
      );
    },
    async sensor(id, scope) {
      const request = single('/v1/sensors/{sensor_id}', 'sensor', id, {
        decode: (body, decoding) => decodeOne(dataOf(body, decoding), sensorDetailShape, decoding),
      });
      return request && pipeline.read(request, scope);
    },
    async waveform(sensorId, query, scope) {
      const request = waveformRequest(sensorId, query, 'json');
      return (
        request &&
        pipeline.read(
          {
            ...request,
            decode: decodeWaveform,
            isImmutable: (_, readOnMs) => Date.parse(query.end) < readOnMs - recordedMs,
          },
          scope,
        )
      );
    },
    async waveformStream(sensorId, query, scope) {
      const request = waveformRequest(sensorId, query, 'miniseed');
      return request && pipeline.stream(request, scope);
    },
    async events(query, scope) {
      return eventPages.page(query, async (page) => present(await pipeline.read(eventList(page), scope)));
    },
    largestEventPage: () => eventPages.largest,
    async event(id, scope) {
      const request = eventRequest(id);
      return request && pipeline.read(request, scope);
    },
    servesDelivered(event, scope) {
      const request = eventRequest(event.value.id);
      return request !== null && pipeline.servesDelivered(request, event, scope);
    },
    async networks(scope) {
      return allPages(async (page) =>
        present(
          await pipeline.read(
            {
              // docs/interfaces.md C4 shows no paging for this list: further pages are requested only when the response
              // has paging.
              ...list('/v1/networks', 'network', { page: page === 1 ? undefined : page }),
              decode: (body, decoding) => decodePage(body, networkShape, 0, decoding),
            },
            scope,
          ),
        ),
      );
    },
    async network(id, scope) {
      const request = single('/v1/networks/{network_id}', 'network', id, {
        decode: (body, decoding) => decodeOne(dataOf(body, decoding), networkShape, decoding),
      });
      return request && pipeline.read(request, scope);
    },
    async networkStatistics(id, scope) {
      const request = single('/v1/networks/{network_id}/stats', 'network', id, {
        decode: (body, decoding) => decodeOne(dataOf(body, decoding), networkStatisticsShape, decoding),
      });
      return request && pipeline.read(request, scope);
    },
    ...clientOf(state),
  };
}

function eventList(query: EventQuery): ReadRequest<CataloguePage<WireEvent>> {
  const { page, limit, start, end, near, networkId, minMagnitude, maxMagnitude } = query;
  return {
    ...list('/v1/events', 'event', {
      page,
      limit,
      start,
      end,
      network_id: networkId,
      min_magnitude: minMagnitude,
      max_magnitude: maxMagnitude,
      lat: near?.latitude,
      lon: near?.longitude,
      radius: near?.radiusKm,
    }),
    decode: (body, decoding) => decodePage(body, listedEventShape, limit, decoding),
    lists: ({ items }) => items.map(listedEvent),
    takeIn: (response, delivered) => withDelivered(response, query, delivered as readonly Read<WireEvent>[]),
  };
}

function eventRequest(id: string): ReadRequest<WireEventDetail> | null {
  return single('/v1/events/{event_id}', 'event', id, {
    decode: decodeEventDetail,
    listedAs: detailName('event', id),
  });
}

const { frame, list, single } = requestsOf({
  network_id: 'networkId',
  status: 'status',
  start: 'from',
  end: 'to',
  min_magnitude: 'minMagnitude',
  max_magnitude: 'maxMagnitude',
  lat: 'within',
  lon: 'within',
  radius: 'within',
  page: 'after',
  limit: 'first',
});

function waveformRequest(
  sensorId: string,
  { channel, start, end }: WaveformQuery,
  format: 'json' | 'miniseed',
): Frame | null {
  return frame('/v1/sensors/{sensor_id}/data', 'waveform', sensorId, {
    parameters: { channel, start, end, format },
    arguments: { channel: 'channel', start: 'start', end: 'end' },
  });
}
