import type { UnixMs } from '../../clock.js';
import { detailName } from '../cache/delivered.js';
import { recordedMs, triggersListedMs } from '../cache/freshness.js';
import { decodeOne } from '../decode/list.js';
import { decimal } from '../http/address.js';
import { clientOf } from '../read/client.js';
import { InterfaceState } from '../read/interface-state.js';
import { Pipeline } from '../read/pipeline.js';
import type { Page, Read } from '../read/read.js';
import type { ReadRequest, UpstreamOptions } from '../read/request.js';
import { listedEvent, present, requestsOf } from '../read/requests.js';
import { decodeEventDetail, decodeHealthPage, decodePage } from './bodies.js';
import type { EventQuery, ProjectClient, TriggerQuery } from './client.js';
import { withDelivered as withDeliveredEvents } from './event-page.js';
import { HealthRangeSplitting } from './health-range-splitting.js';
import { RangeSplitting } from './range-splitting.js';
import { isOneMoment, momentOfDelivered, withDelivered } from './trigger-page.js';
import {
  listedEventShape,
  projectShape,
  sensorShape,
  triggerShape,
  type WireEvent,
  type WireEventDetail,
  type WireTrigger,
} from './wire.js';

/** The project interface under one key. Making one costs nothing: connections and cache are shared. */
export function createProjectClient(options: UpstreamOptions): ProjectClient {
  const state = new InterfaceState('PROJECT', options);
  const pipeline = new Pipeline(state, options);
  const { clock } = options;
  const rangeSplitting = {
    sensors: new RangeSplitting(clock),
    health: new HealthRangeSplitting(clock),
    events: new RangeSplitting(clock),
    triggers: new RangeSplitting(clock),
  };
  return {
    async project(scope) {
      return present(
        await pipeline.read(
          {
            // Requested like a list: every key has one project, so that its absence is a refusal.
            ...list('/v1/project', 'project', {}),
            decode: (body, decoding) => decodeOne(body, projectShape, decoding),
          },
          scope,
        ),
      );
    },
    async sensors(query, scope) {
      return rangeSplitting.sensors.page(query, {
        operationKey: scope.operationKey,
        keyOf: ({ device_id }) => device_id,
        read: async ({ limit, offset }) =>
          present(
            await pipeline.read(
              {
                ...list('/v1/sensors', 'sensor', { limit, offset }),
                decode: (body, decoding) => decodePage(body, sensorShape, decoding),
              },
              scope,
            ),
          ),
      });
    },
    async sensor(id, scope) {
      const request = single('/v1/sensors/{id}', 'sensor', id, {
        decode: (body, decoding) => decodeOne(body, sensorShape, decoding),
      });
      return request && pipeline.read(request, scope);
    },
    async healthReports(id, query, scope) {
      const request = single('/v1/sensors/{id}/soh', 'health', id, { decode: decodeHealthPage });
      if (request === null) return null;
      return rangeSplitting.health.page(
        query,
        { id, operationKey: scope.operationKey },
        ({ from, to, limit }) =>
          pipeline.read(
            {
              ...request,
              parameters: { from, to, limit },
              isImmutable: (_, readOnMs) => to !== undefined && Date.parse(to) < readOnMs - recordedMs,
            },
            scope,
          ),
      );
    },
    async events(query, scope) {
      return rangeSplitting.events.page(query, {
        operationKey: scope.operationKey,
        keyOf: ({ id }) => id,
        read: async (page) => present(await pipeline.read(eventList(page), scope)),
      });
    },
    async event(id, scope) {
      const request = eventRequest(id);
      return request && pipeline.read(request, scope);
    },
    servesDelivered(event, scope) {
      const request = eventRequest(event.value.id);
      return request !== null && pipeline.servesDelivered(request, event, scope);
    },
    async triggers(query, scope) {
      return rangeSplitting.triggers.page(query, {
        operationKey: scope.operationKey,
        keyOf: ({ id }) => id,
        read: async (page) => present(await pipeline.read(triggerList(page), scope)),
      });
    },
    hasTriggersAtHand: (query, scope) => pipeline.isAtHand(triggerList(query), scope),
    ...clientOf(state),
  };
}

function eventList(query: EventQuery): ReadRequest<Page<WireEvent>> {
  const { from, to, order, limit, offset, minMagnitude, bbox } = query;
  return {
    ...list('/v1/events', 'event', {
      from,
      to,
      order,
      limit,
      offset,
      min_magnitude: minMagnitude,
      bbox: bbox?.map(decimal).join(),
    }),
    decode: (body, decoding) => decodePage(body, listedEventShape, decoding),
    lists: ({ items }) => items.map(listedEvent),
    takeIn: (page, delivered) => withDeliveredEvents(page, query, delivered as readonly Read<WireEvent>[]),
  };
}

function eventRequest(id: string): ReadRequest<WireEventDetail> | null {
  return single('/v1/events/{id}', 'event', id, {
    decode: decodeEventDetail,
    listedAs: detailName('event', id),
  });
}

const { list, single } = requestsOf({
  from: 'from',
  to: 'to',
  device_id: 'deviceId',
  min_magnitude: 'minMagnitude',
  bbox: 'boundingBox',
  order: 'orderBy',
  limit: 'first',
  offset: 'after',
});

function triggerList(query: TriggerQuery): ReadRequest<Page<WireTrigger>> {
  const { from, to, order, limit, offset, deviceId } = query;
  return {
    ...list('/v1/triggers', 'trigger', { from, to, order, limit, offset, device_id: deviceId }),
    decode: (body, decoding) => decodePage(body, triggerShape, decoding),
    isImmutable: (page, readOnMs) => isImmutable(page, query, readOnMs),
    takeIn: (page, delivered) => withDelivered(page, query, delivered as readonly Read<WireTrigger>[]),
    madeOf: (delivered) => momentOfDelivered(query, delivered as readonly Read<WireTrigger>[]),
  };
}

/**
 * Closed values are final (docs/interfaces.md P3). A list of them is immutable when nothing can be added to it any
 * more: after the day in which triggers may still become visible, or at once for one sensor at one moment, which is one
 * trigger.
 */
function isImmutable(page: Page<WireTrigger>, query: TriggerQuery, readOnMs: UnixMs): boolean {
  const { to } = query;
  if (to === undefined || page.received !== page.items.length) return false;
  if (!page.items.every(({ status }) => status === 'closed')) return false;
  if (Date.parse(to) < readOnMs - triggersListedMs) return true;
  return isOneMoment(query) && page.items.length > 0;
}
