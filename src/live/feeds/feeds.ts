import { type GatewayError, notConfigured } from '../../errors.js';
import type { UnifyContext } from '../../unify/context.js';
import type { TriggerSlice } from '../../unify/trigger/trigger.js';
import { ChangeStream } from '../delivery/change-stream.js';
import { type EventChange, type EventChangeFilter, eventFilter } from './event-subject.js';
import type { Feed, FeedStatus } from './feed.js';
import { SelectedSensors } from './selected-sensors.js';
import {
  type SensorStatusChange,
  type SensorStatusChangeFilter,
  sensorStatusFilter,
} from './sensor-status.js';
import { eventFeed, type FeedsOptions, sensorFeed, triggerFeed } from './sources.js';
import { type TriggerChangeFilter, triggerFilter } from './trigger-filter.js';
import type { TriggerChange } from './trigger-subject.js';

/** The feeds of one tenant (docs/behaviour.md 9). */
export interface Feeds {
  /** @throws NotConfigured without the project interface; CursorInvalid */
  triggerChanges(request: StreamRequest<TriggerChangeFilter>): ChangeStream<TriggerChange>;
  /** @throws CursorInvalid */
  eventChanges(request: StreamRequest<EventChangeFilter>): ChangeStream<EventChange>;
  sensorStatusChanges(filter: SensorStatusChangeFilter | null): ChangeStream<SensorStatusChange>;
  /** A cursor that resumes after the list without a gap. @throws NotConfigured without the project interface */
  changesCursor(ctx: UnifyContext, list: TriggerSlice): Promise<string>;
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
  const all: readonly Pick<Feed<never>, 'status' | 'close'>[] = [triggers, events, sensors].filter(
    (feed) => feed !== null,
  );
  const close = (error: GatewayError | null = null) => {
    for (const feed of all) feed.close(error);
  };
  tenant.signal.addEventListener('abort', () => close(), { once: true });
  return {
    triggerChanges({ filter, after }) {
      if (!triggers) throw notConfigured('PROJECT');
      const sensors = new SelectedSensors(tenant, filter ?? {});
      return new ChangeStream({
        feed: triggers,
        clock,
        filter: triggerFilter(filter, () => sensors.devices),
        preparation: sensors,
        after,
      });
    },
    eventChanges({ filter, after }) {
      if (!events) throw notConfigured('PROJECT');
      return new ChangeStream({ feed: events, clock, filter: eventFilter(filter), after });
    },
    sensorStatusChanges(filter) {
      if (!sensors) throw notConfigured('PROJECT');
      return new ChangeStream({ feed: sensors, clock, filter: sensorStatusFilter(filter), after: null });
    },
    async changesCursor(ctx, { edges, reach }) {
      if (!triggers) throw notConfigured('PROJECT');
      const records = edges.map(({ node }) => node);
      return triggers.cursorBeside({ ...reach, records }, ctx.scope);
    },
    status: () => all.map((feed) => feed.status()),
    close,
  };
}
