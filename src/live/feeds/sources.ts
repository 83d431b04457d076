import { dayMs, minuteMs } from '../../clock.js';
import type { Connection, SharedChanges } from '../../store/store.js';
import type { Tenant } from '../../unify/context.js';
import { createDeliveredEvents } from '../../unify/event/delivered-events.js';
import type { Trigger } from '../../unify/trigger/record.js';
import { wireOf } from '../../unify/trigger/record.js';
import type { Delivered } from '../../upstream/cache/delivered.js';
import type { Read } from '../../upstream/read/read.js';
import { budgetLeft, pollIntervalMs } from '../polling/interval.js';
import {
  catalogueSensors,
  listedOfCatalogue,
  listedOfProject,
  projectSensors,
} from '../polling/sensor-readers.js';
import { catalogueEventReader, projectEventReader, withCatalogue } from './event/feed.js';
import { catalogueIntervalMs, MergedEventReader } from './event/merged-reader.js';
import { type EventChangeKind, type EventRecord, eventSubject } from './event/subject.js';
import { RecordFeed } from './record-feed.js';
import { SensorHealthFeed } from './sensor/health-feed.js';
import { SensorStatusFeed } from './sensor/status-feed.js';
import { triggerIntervalMs, triggerReader } from './trigger/feed.js';
import { type TriggerChangeKind, triggerSubject } from './trigger/subject.js';

export interface FeedsOptions {
  readonly tenant: Tenant;
  readonly settings: FeedSettings;
  /** The replicated log of each feed; null with one process. */
  readonly changes: (feed: string) => SharedChanges | null;
  readonly connection: Connection | null;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** docs/behaviour.md 2. */
export interface FeedSettings {
  readonly triggerPollIntervalMs: number;
  readonly triggerLookbackS: number;
  readonly eventPollIntervalMs: number;
  readonly sensorPollIntervalMs: number;
}

// Lists and intervals of the feeds: docs/behaviour.md 2, 9.7. A feed is null when no configured interface serves it.

export function triggerFeed({
  tenant,
  settings,
  changes,
  random,
}: FeedsOptions): RecordFeed<Trigger, TriggerChangeKind> | null {
  const { project, clock, log, scope } = tenant;
  if (!project) return null;
  return new RecordFeed({
    subject: triggerSubject,
    changes: changes(triggerSubject.name),
    reader: triggerReader(project),
    clock,
    log,
    random,
    scope,
    lookbackMs: settings.triggerLookbackS * 1000,
    spareRows: 0,
    onDelivering: (trigger) => project.delivering({ kind: 'trigger', read: wireOf(trigger) }),
    intervalMs: (state) => triggerIntervalMs(state, settings.triggerPollIntervalMs, project),
  });
}

export function eventFeed({
  tenant,
  settings,
  changes,
  random,
}: FeedsOptions): RecordFeed<EventRecord, EventChangeKind> | null {
  const { project, catalogue, clock, log, scope } = tenant;
  const source = project ? 'PROJECT' : 'CATALOGUE';
  const subject = eventSubject(source);
  const shared = {
    subject,
    clock,
    log,
    random,
    scope,
    changes: changes(`${subject.name} ${source}`),
    // A project event is delivered merged with the catalogue's record, so both caches must show the change.
    onDelivering({ event }: EventRecord) {
      if (event.project) project?.delivering(deliveredEvent(event.project));
      if (event.catalogue) catalogue?.delivering(deliveredEvent(event.catalogue));
      tenant.perTenant(createDeliveredEvents).add(event);
    },
  };
  if (project) {
    return new RecordFeed({
      ...shared,
      reader: catalogue
        ? new MergedEventReader(tenant, projectEventReader(project), catalogueEventReader(tenant, catalogue))
        : projectEventReader(project),
      complete: withCatalogue(tenant),
      lookbackMs: settings.triggerLookbackS * 1000,
      // Solutions are reissued hours after the earthquake. Assumed: they can keep the list position of the first one.
      spareRows: 100,
      intervalMs: ({ requests }) =>
        pollIntervalMs(settings.eventPollIntervalMs, requests, project.status().rateLimit),
    });
  }
  if (!catalogue) return null;
  return new RecordFeed({
    ...shared,
    reader: catalogueEventReader(tenant, catalogue),
    // The catalogue lists an earthquake by its origin time, minutes to hours after it.
    lookbackMs: dayMs,
    spareRows: 0,
    intervalMs: ({ requests }) => catalogueIntervalMs(requests),
  });
}

function deliveredEvent(read: Read<{ readonly id: string }>): Delivered {
  return { kind: 'event', id: read.value.id, read };
}

export function sensorFeed({ tenant, settings, connection, random }: FeedsOptions): SensorStatusFeed | null {
  const { project, catalogue, clock, log, scope } = tenant;
  const isShared = () => connection?.isUp ?? false;
  const shared = { clock, log, random, isShared };
  if (project) {
    return new SensorStatusFeed({
      ...shared,
      scope: `PROJECT ${scope}`,
      readAll: projectSensors(tenant),
      listed: listedOfProject,
      onDelivering: () => project.delivering({ kind: 'sensor' }),
      intervalMs: (requests) =>
        pollIntervalMs(settings.sensorPollIntervalMs, requests, project.status().rateLimit),
    });
  }
  if (!catalogue) return null;
  return new SensorStatusFeed({
    ...shared,
    scope: `CATALOGUE ${scope}`,
    readAll: catalogueSensors(tenant),
    listed: listedOfCatalogue,
    onDelivering: () => catalogue.delivering({ kind: 'sensor' }),
    intervalMs: (requests) => catalogueIntervalMs(requests),
  });
}

// The least part of the budget that this feed leaves to queries and other feeds.
const partLeft = 1 / 4;

/** One sensor for each request of the rate limit while half of the budget is left, fewer below, and none at a quarter. */
export function healthFeed({ tenant, random }: FeedsOptions): SensorHealthFeed | null {
  const { project } = tenant;
  if (!project) return null;
  const limit = () => project.status().rateLimit;
  return new SensorHealthFeed({
    tenant,
    readAll: projectSensors(tenant),
    random,
    intervalMs: () => pollIntervalMs(minuteMs / limit().perMinute, 1, limit()),
    hasSpare: () => budgetLeft(limit()) >= partLeft,
  });
}
