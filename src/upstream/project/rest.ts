import type { z } from 'zod';
import { decimal, segment } from '../address.js';
import { recordedMs, triggersListedMs } from '../ages.js';
import { countOf, type Decoding, decodeList, decodeOne, objectOf } from '../list.js';
import { Pipeline } from '../pipeline.js';
import type { Page, Read } from '../read.js';
import type { ReadRequest, Request, UpstreamOptions } from '../request.js';
import type { ProjectClient, TriggerQuery } from './client.js';
import {
  eventDetailShape,
  eventShape,
  healthReportShape,
  projectShape,
  sensorShape,
  triggerShape,
  type WireEvent,
  type WireEventDetail,
  type WireHealthPage,
  type WireTrigger,
} from './wire.js';

/** The project interface under one key. Making one costs nothing: connections and cache are shared. */
export function createProjectClient(options: UpstreamOptions): ProjectClient {
  const pipeline = new Pipeline('PROJECT', options);
  return {
    async project(scope) {
      return present(
        await pipeline.read(
          {
            ...single('/v1/project', '/v1/project', 'project'),
            // There is always one project to a key: its absence is a refusal.
            list: true,
            decode: (body, decoding) => decodeOne(body, projectShape, decoding),
          },
          scope,
        ),
      );
    },
    async sensors(query, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/sensors', 'sensor', { ...query }),
            decode: (body, decoding) => decodePage(body, sensorShape, decoding),
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
          ...single('/v1/sensors/{id}', `/v1/sensors/${name}`, 'sensor'),
          decode: (body, decoding) => decodeOne(body, sensorShape, decoding),
        },
        scope,
      );
    },
    async healthReports(id, query, scope) {
      const name = segment(id);
      if (name === null) return null;
      return pipeline.read(
        {
          ...single('/v1/sensors/{id}/soh', `/v1/sensors/${name}/soh`, 'health'),
          parameters: { ...query },
          decode: decodeHealthPage,
          isFinal: (_, readAtMs) => query.to !== undefined && Date.parse(query.to) < readAtMs - recordedMs,
        },
        scope,
      );
    },
    async events({ minMagnitude, bbox, ...query }, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/events', 'event', {
              ...query,
              min_magnitude: minMagnitude,
              bbox: bbox?.map(decimal).join(),
            }),
            decode: (body, decoding) => decodePage(body, eventShape, decoding),
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
          ...single('/v1/events/{id}', `/v1/events/${name}`, 'event'),
          decode: decodeEventDetail,
          listedAs: `event ${id}`,
        },
        scope,
      );
    },
    async triggers({ deviceId, ...query }, scope) {
      return present(
        await pipeline.read(
          {
            ...list('/v1/triggers', 'trigger', { ...query, device_id: deviceId }),
            decode: (body, decoding) => decodePage(body, triggerShape, decoding),
            isFinal: (page, readAtMs) => areFinal(page, { deviceId, ...query }, readAtMs),
          },
          scope,
        ),
      );
    },
    status: () => pipeline.status(),
    mayShowKept: () => pipeline.mayShowKept,
    discardCache: () => pipeline.discardCache(),
    close: () => pipeline.close(),
  };
}

const argumentNames = {
  from: 'from',
  to: 'to',
  device_id: 'deviceId',
  min_magnitude: 'minMagnitude',
  bbox: 'boundingBox',
  order: 'orderBy',
  limit: 'first',
  offset: 'after',
};

type Frame = Request & Pick<ReadRequest<unknown>, 'kind'>;

function list(path: string, kind: Frame['kind'], parameters: Frame['parameters']): Frame {
  return { endpoint: path, path, parameters, kind, list: true, arguments: argumentNames };
}

function single(endpoint: string, path: string, kind: Frame['kind']): Frame {
  return { endpoint, path, parameters: {}, kind, list: false, arguments: argumentNames };
}

/** A list is never absent: the pipeline has thrown `Forbidden` then. */
function present<T>(read: Read<T> | null): Read<T> {
  if (read === null) throw new Error('A list cannot be absent');
  return read;
}

// key-scoped §4: {data, total, limit, offset}.
function decodePage<Shape extends z.ZodType>(
  body: unknown,
  shape: Shape,
  decoding: Decoding,
): Page<z.output<Shape>> {
  const { data, total } = objectOf(body, decoding);
  return { ...decodeList(data, shape, decoding), total: countOf(total) };
}

function decodeHealthPage(body: unknown, decoding: Decoding): WireHealthPage {
  const { data, next_from } = objectOf(body, decoding);
  const { items } = decodeList(data, healthReportShape, decoding);
  return { reports: items, nextFrom: typeof next_from === 'string' && next_from !== '' ? next_from : null };
}

function decodeEventDetail(body: unknown, decoding: Decoding): WireEventDetail {
  const detail = decodeOne(objectOf(body, decoding), eventDetailShape, decoding);
  const event = eventShape.safeParse(body);
  return { ...detail, event: event.success ? event.data : null };
}

/**
 * Closed values are final (key-scoped §3), a list of them is when nothing can be added to it any more: after the day in
 * which triggers may still become visible, or at once for one sensor at one moment, which is one trigger.
 */
function areFinal(
  page: Page<WireTrigger>,
  { from, to, deviceId }: Partial<TriggerQuery>,
  readAtMs: number,
): boolean {
  if (to === undefined || page.received !== page.items.length) return false;
  if (!page.items.every(({ status }) => status === 'closed')) return false;
  if (Date.parse(to) < readAtMs - triggersListedMs) return true;
  return deviceId !== undefined && from === to && page.items.length > 0;
}

/** An event as a list shows it: another solution changes something of it. */
function listedEvent(event: WireEvent): readonly [string, string] {
  return [`event ${event.id}`, JSON.stringify(event)];
}
