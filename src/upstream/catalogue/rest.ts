import type { z } from 'zod';
import { segment } from '../address.js';
import { recordedMs } from '../ages.js';
import { badBody } from '../answer.js';
import { countOf, type Decoding, decodeList, decodeOne, objectOf } from '../list.js';
import { Pipeline } from '../pipeline.js';
import type { Read } from '../read.js';
import type { ReadRequest, Request, UpstreamOptions } from '../request.js';
import type { CatalogueClient, CataloguePage, WaveformQuery } from './client.js';
import {
  arrivalShape,
  eventDetailShape,
  eventShape,
  networkShape,
  networkStatisticsShape,
  sensorDetailShape,
  sensorShape,
  type WireEvent,
  type WireEventDetail,
  type WireWaveform,
  waveformShape,
} from './wire.js';

/** The catalogue interface under one key. Making one costs nothing: connections and cache are shared. */
export function createCatalogueClient(options: UpstreamOptions): CatalogueClient {
  const pipeline = new Pipeline('CATALOGUE', options);
  return {
    async sensors({ networkId, ...query }, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/sensors', 'sensor', { ...query, network_id: networkId }),
            decode: (body, decoding) => decodePage(body, sensorShape, query.limit, decoding),
          },
          scope,
        ),
      );
    },
    async sensor(id, scope) {
      const name = segment(id);
      if (name === null) return null;
      return pipeline.read(
        {
          ...single('/v1/sensors/{sensor_id}', `/v1/sensors/${name}`, 'sensor'),
          decode: (body, decoding) => decodeOne(dataOf(body, decoding), sensorDetailShape, decoding),
        },
        scope,
      );
    },
    async waveform(sensorId, query, scope) {
      const name = segment(sensorId);
      if (name === null) return null;
      return pipeline.read(
        {
          ...waveformRequest(name, query, 'json'),
          decode: decodeWaveform,
          isFinal: (_, readAtMs) => Date.parse(query.end) < readAtMs - recordedMs,
        },
        scope,
      );
    },
    async waveformStream(sensorId, query, scope) {
      const name = segment(sensorId);
      return name === null ? null : pipeline.stream(waveformRequest(name, query, 'miniseed'), scope);
    },
    async events({ networkId, minMagnitude, maxMagnitude, near, ...query }, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/events', 'event', {
              ...query,
              network_id: networkId,
              min_magnitude: minMagnitude,
              max_magnitude: maxMagnitude,
              lat: near?.latitude,
              lon: near?.longitude,
              radius: near?.radiusKm,
            }),
            decode: (body, decoding) => decodePage(body, eventShape, query.limit, decoding),
            lists: (page) => page.items.map(listedEvent),
          },
          scope,
        ),
      );
    },
    async event(id, scope) {
      const name = segment(id);
      if (name === null) return null;
      return pipeline.read(
        {
          ...single('/v1/events/{event_id}', `/v1/events/${name}`, 'event'),
          decode: decodeEventDetail,
          listedAs: `event ${id}`,
        },
        scope,
      );
    },
    async networks(scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/networks', 'network', {}),
            decode: (body, decoding) =>
              decodeList(objectOf(body, decoding).data, networkShape, decoding).items,
          },
          scope,
        ),
      );
    },
    async network(id, scope) {
      const name = segment(id);
      if (name === null) return null;
      return pipeline.read(
        {
          ...single('/v1/networks/{network_id}', `/v1/networks/${name}`, 'network'),
          decode: (body, decoding) => decodeOne(dataOf(body, decoding), networkShape, decoding),
        },
        scope,
      );
    },
    async networkStatistics(id, scope) {
      const name = segment(id);
      if (name === null) return null;
      return pipeline.read(
        {
          ...single('/v1/networks/{network_id}/stats', `/v1/networks/${name}/stats`, 'network'),
          decode: (body, decoding) => decodeOne(dataOf(body, decoding), networkStatisticsShape, decoding),
        },
        scope,
      );
    },
    status: () => pipeline.status(),
    mayShowKept: () => pipeline.mayShowKept,
    discardCache: () => pipeline.discardCache(),
    close: () => pipeline.close(),
  };
}

const argumentNames = {
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
};

type Frame = Request & Pick<ReadRequest<unknown>, 'kind'>;

function list(path: string, kind: Frame['kind'], parameters: Frame['parameters']): Frame {
  return { endpoint: path, path, parameters, kind, list: true, arguments: argumentNames };
}

function single(endpoint: string, path: string, kind: Frame['kind']): Frame {
  return { endpoint, path, parameters: {}, kind, list: false, arguments: argumentNames };
}

function waveformRequest(sensor: string, query: WaveformQuery, format: 'json' | 'miniseed'): Frame {
  return {
    ...single('/v1/sensors/{sensor_id}/data', `/v1/sensors/${sensor}/data`, 'waveform'),
    parameters: { ...query, format },
    arguments: { channel: 'channel', start: 'start', end: 'end' },
  };
}

/** A list is never absent: the pipeline has thrown `Forbidden` then. */
function present<T>(read: Read<T> | null): Read<T> {
  if (read === null) throw new Error('A list cannot be absent');
  return read;
}

// catalogue §4: {data: {...}} for single resources.
function dataOf(body: unknown, decoding: Decoding): unknown {
  return objectOf(body, decoding).data;
}

// catalogue §4: {data: [...], pagination: {page, limit, total}}, of which any part may be missing.
function decodePage<Shape extends z.ZodType>(
  body: unknown,
  shape: Shape,
  askedLimit: number,
  decoding: Decoding,
): CataloguePage<z.output<Shape>> {
  const { data, pagination } = objectOf(body, decoding);
  const { total, limit } = isRecord(pagination) ? pagination : {};
  const applied = countOf(limit);
  return {
    ...decodeList(data, shape, decoding),
    total: countOf(total),
    limit: applied !== null && applied > 0 ? applied : askedLimit,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decodeEventDetail(body: unknown, decoding: Decoding): WireEventDetail {
  const { stations, ...event } = decodeOne(dataOf(body, decoding), eventDetailShape, decoding);
  return { ...event, stations: stations ? decodeList(stations, arrivalShape, decoding).items : null };
}

function decodeWaveform(body: unknown, decoding: Decoding): WireWaveform {
  const waveform = decodeOne(dataOf(body, decoding), waveformShape, decoding);
  const samples: readonly unknown[] = waveform.samples;
  // A gap may be written as null or as the text NaN: it stays a gap, and the others keep their times.
  const whole = samples.every((sample) => typeof sample === 'number');
  if (whole) return waveform;
  if (samples.some((sample) => typeof sample === 'object' && sample !== null)) {
    throw badBody(decoding, 'samples that are not numbers');
  }
  return {
    ...waveform,
    samples: samples.map((sample) => (typeof sample === 'number' ? sample : Number.NaN)),
  };
}

/** An event as a list shows it: another solution changes something of it. */
function listedEvent(event: WireEvent): readonly [string, string] {
  return [`event ${event.id}`, JSON.stringify(event)];
}
