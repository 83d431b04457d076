import { type GatewayError, notConfigured } from '../../errors.js';
import type { UnifyContext } from '../../unify/context.js';
import type { EventSlice } from '../../unify/event/list/list.js';
import { isLocated } from '../../unify/event/merge.js';
import { unifySensors } from '../../unify/sensor/inventory/merging.js';
import type { SensorSlice } from '../../unify/sensor/list.js';
import { filtersByDevice } from '../../unify/sensor/selection.js';
import type { TriggerSlice } from '../../unify/trigger/trigger.js';
import { ChangeStream } from '../delivery/change-stream.js';
import {
  type EventChange,
  type EventChangeFilter,
  type EventRecord,
  eventFilter,
  recordOf,
} from './event/subject.js';
import type { Feed, FeedStatus } from './feed.js';
import type { SensorHealthChange } from './sensor/health.js';
import { SelectedSensors } from './sensor/selected-sensors.js';
import { type SensorSelection, sensorFilter } from './sensor/selection.js';
import type { SensorStatusChange } from './sensor/status.js';
import { eventFeed, type FeedsOptions, healthFeed, sensorFeed, triggerFeed } from './sources.js';
import { type TriggerChangeFilter, triggerFilter } from './trigger/filter.js';
import type { TriggerChange } from './trigger/subject.js';

/** The feeds of one tenant (docs/behaviour.md 9). */
export interface Feeds {
  /** @throws NotConfigured without the project interface; CursorInvalid */
  triggerChanges(request: StreamRequest<TriggerChangeFilter>): ChangeStream<TriggerChange>;
  /** @throws CursorInvalid */
  eventChanges(request: StreamRequest<EventChangeFilter>): ChangeStream<EventChange>;
  /** @throws CursorInvalid */
  sensorStatusChanges(request: StreamRequest<SensorSelection>): ChangeStream<SensorStatusChange>;
  /** @throws NotConfigured without the project interface */
  sensorHealthChanges(filter: SensorSelection | null): ChangeStream<SensorHealthChange>;
  // Cursors that resume after a list without a gap. Each can throw NotConfigured.
  cursorAfterTriggers(ctx: UnifyContext, list: TriggerSlice): Promise<string>;
  cursorAfterEvents(ctx: UnifyContext, list: EventSlice): Promise<string>;
  cursorAfterSensors(ctx: UnifyContext, list: SensorSlice): Promise<string>;
  status(): readonly FeedStatus[];
  /** Ends all subscriptions with the error, or as complete. */
  close(error?: GatewayError | null): void;
}

export interface StreamRequest<Filter> {
  readonly filter: Filter | null;
  /** Cursor of the last change received. */
  readonly after: string | null;
}

export function createFeeds(options: FeedsOptions): Feeds {
  const { tenant } = options;
  const { clock } = tenant;
  const triggers = triggerFeed(options);
  const events = eventFeed(options);
  const sensors = sensorFeed(options);
  const health = healthFeed(options);
  const all: readonly Pick<Feed<never>, 'status' | 'close'>[] = [triggers, events, sensors, health].filter(
    (feed) => feed !== null,
  );
  const close = (error: GatewayError | null = null) => {
    for (const feed of all) feed.close(error);
  };
  tenant.signal.addEventListener('abort', () => close(), { once: true });
  return {
    triggerChanges({ filter, after }) {
      if (!triggers) throw notConfigured('PROJECT');
      const selected = filter && filtersByDevice(filter) ? new SelectedSensors(tenant, filter) : null;
      return new ChangeStream({
        feed: triggers,
        clock,
        filter: triggerFilter(filter, () => selected?.devices ?? null),
        preparation: selected,
        after,
      });
    },
    eventChanges({ filter, after }) {
      if (!events) throw notConfigured('PROJECT');
      return new ChangeStream({ feed: events, clock, filter: eventFilter(filter), after });
    },
    sensorStatusChanges({ filter, after }) {
      if (!sensors) throw notConfigured('PROJECT');
      return new ChangeStream({ feed: sensors, clock, filter: sensorFilter(filter), after });
    },
    sensorHealthChanges(filter) {
      if (!health) throw notConfigured('PROJECT');
      return new ChangeStream({ feed: health.of(filter), clock, filter: sensorFilter(filter), after: null });
    },
    async cursorAfterTriggers(ctx, { edges, reach }) {
      if (!triggers) throw notConfigured('PROJECT');
      const records = edges.map(({ node }) => node);
      return triggers.cursorBeside({ ...reach, records }, ctx.scope);
    },
    async cursorAfterEvents(ctx, { edges, reach }) {
      if (!events) throw notConfigured('PROJECT');
      const source = tenant.project ? 'PROJECT' : 'CATALOGUE';
      const records = edges.flatMap(({ node }) => recordOf(source, node) ?? []);
      const includes = ({ event }: EventRecord) => isLocated(event) && reach.includes(event);
      return events.cursorBeside({ readAtMs: reach.readAtMs, records, includes }, ctx.scope);
    },
    async cursorAfterSensors(ctx, { lists, sinceMs }) {
      if (!sensors) throw notConfigured('PROJECT');
      return sensors.cursorBeside(lists ?? (await unifySensors(ctx)), sinceMs);
    },
    status: () => all.map((feed) => feed.status()),
    close,
  };
}
