import { type GatewayError, notConfigured } from '../errors.js';
import type { Tenant, UnifyContext } from '../unify/context.js';
import type { TriggerSlice } from '../unify/trigger.js';
import { ChangeStream } from './change-stream.js';
import type { Feed, FeedStatus } from './feed.js';
import { RecordFeed } from './record-feed.js';
import { triggerIntervalMs, triggerReader } from './trigger-feed.js';
import { type TriggerChangeFilter, triggerFilter } from './trigger-filter.js';
import { type TriggerChange, triggerSubject } from './trigger-subject.js';

export interface FeedsOptions {
  readonly tenant: Tenant;
  readonly settings: FeedSettings;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** contract 2. */
export interface FeedSettings {
  readonly triggerPollIntervalMs: number;
  readonly triggerLookbackS: number;
  readonly eventPollIntervalMs: number;
  readonly sensorPollIntervalMs: number;
}

/** What happens without a query (contract 9): one set for each tenant. */
export interface Feeds {
  /** @throws NotConfigured without the project interface; CursorInvalid */
  triggerChanges(request: StreamRequest<TriggerChangeFilter>): ChangeStream<TriggerChange>;
  /** Pass it as `after` to go on from the list without a gap. @throws NotConfigured without the project interface */
  changesCursor(ctx: UnifyContext, list: TriggerSlice): Promise<string>;
  status(): readonly FeedStatus[];
  /** Ends all subscriptions: with the error, or as complete. */
  close(error?: GatewayError | null): void;
}

export interface StreamRequest<Filter> {
  readonly filter: Filter | null;
  /** Cursor of the last change received. */
  readonly after: string | null;
}

export function createFeeds({ tenant, settings, random }: FeedsOptions): Feeds {
  const { project, clock, log, scope } = tenant;
  const shared = { clock, log, random, scope, lookbackMs: settings.triggerLookbackS * 1000 };
  const triggers =
    project &&
    new RecordFeed({
      ...shared,
      subject: triggerSubject,
      reader: triggerReader(project),
      spareRows: 0,
      intervalMs: (state) => triggerIntervalMs(state, settings.triggerPollIntervalMs, project),
    });
  const all: readonly Pick<Feed<never>, 'status' | 'close'>[] = [triggers].filter((feed) => feed !== null);
  const close = (error: GatewayError | null = null) => {
    for (const feed of all) feed.close(error);
  };
  tenant.signal.addEventListener('abort', () => close(), { once: true });
  return {
    triggerChanges({ filter, after }) {
      if (!triggers) throw notConfigured('PROJECT');
      return new ChangeStream<TriggerChange>({ feed: triggers, clock, filter: triggerFilter(filter), after });
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
