import { type Clock, ManualClock } from '../../src/clock.js';
import { UpstreamUnavailable } from '../../src/errors.js';
import { createFeeds, type Feeds } from '../../src/live/feeds/feeds.js';
import type { FeedSettings } from '../../src/live/feeds/sources.js';
import type { TriggerChange } from '../../src/live/feeds/trigger/subject.js';
import type { Delivery } from '../../src/live/tracking/change.js';
import { createLog } from '../../src/log.js';
import type { SharedChanges } from '../../src/store/store.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { Instant } from '../../src/unify/time/instant.js';
import type { Trigger } from '../../src/unify/trigger/record.js';
import { listTriggers, type TriggerListArgs } from '../../src/unify/trigger/trigger.js';
import { asId } from '../../src/upstream/decode/fields.js';
import { nameless } from '../../src/upstream/decode/list.js';
import { badBody } from '../../src/upstream/decode/response.js';
import type { ProjectClient, TriggerQuery } from '../../src/upstream/project/client.js';
import type { WireTrigger } from '../../src/upstream/project/wire.js';
import { newCostMeter, type Page, type Read, type ReadScope } from '../../src/upstream/read/read.js';
import { aWireTrigger } from '../support/wire-trigger.js';

/** A trigger of the model, as upstream would list it. */
export interface ModelTrigger {
  readonly id: number;
  readonly deviceId: string;
  station: string | null;
  readonly startMs: number;
  status: string;
  pga: number | null;
  /** Listed with nothing that can be read but its id, or not even that. */
  unreadable?: 'but its id' | 'wholly' | undefined;
}

/**
 * The trigger list of the project interface in memory, with its own clock error and scripted trouble: for schedules that
 * are too many or too long for sockets.
 */
export class UpstreamModel {
  readonly triggers: ModelTrigger[] = [];
  readonly clock: ManualClock;
  /** Reads that fail from now on. */
  failing = 0;
  /** What every read fails with, while it is set. */
  refusal: Error | null = null;
  latencyMs = 0;
  reads = 0;
  inFlight = 0;
  mostInFlight = 0;
  readonly queries: TriggerQuery[] = [];

  constructor(clock = new ManualClock()) {
    this.clock = clock;
  }

  get nowMs(): number {
    return this.clock.wallMs();
  }

  add(trigger: Partial<ModelTrigger> & { readonly id: number }): ModelTrigger {
    const added = {
      deviceId: '001A2B3C4D5E',
      station: 'TEST',
      startMs: this.nowMs,
      status: 'open',
      pga: 1,
      ...trigger,
    };
    this.triggers.push(added);
    return added;
  }

  client(): ProjectClient {
    const client: Pick<ProjectClient, 'triggers' | 'status' | 'delivering'> = {
      delivering: () => {},
      triggers: (query, scope) => this.#read(query, scope),
      status: () => ({
        source: 'PROJECT',
        reachable: true,
        reachableAsOfMs: null,
        lastErrorCode: null,
        lastErrorAtMs: null,
        requestCount: this.reads,
        cacheHitCount: 0,
        circuitOpenUntilMs: null,
        retryAfterUntilMs: null,
        waiting: { query: 0, feed: 0, background: 0 },
        rateLimit: { perMinute: 60, burst: 20, remaining: 20, remainingToday: null, resetAtMs: null },
      }),
    };
    return client as ProjectClient;
  }

  async #read(query: TriggerQuery, scope: ReadScope): Promise<Read<Page<WireTrigger>>> {
    this.reads++;
    scope.meter.requests++;
    this.queries.push(query);
    this.inFlight++;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      if (this.latencyMs > 0) await this.clock.sleep(this.latencyMs, scope.signal);
      if (this.failing > 0) {
        this.failing--;
        throw new UpstreamUnavailable('scripted');
      }
      if (this.refusal) throw this.refusal;
      return this.#page(query);
    } finally {
      this.inFlight--;
    }
  }

  #page({ from, to, deviceId, order, limit, offset }: TriggerQuery): Read<Page<WireTrigger>> {
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : msOf(from);
    const toMs = to === undefined ? Number.POSITIVE_INFINITY : msOf(to);
    const matching = this.triggers
      .filter(({ startMs }) => startMs >= fromMs && startMs <= toMs)
      .filter((trigger) => deviceId === undefined || trigger.deviceId === deviceId)
      .sort((a, b) => (order === 'asc' ? 1 : -1) * (a.startMs - b.startMs || a.id - b.id));
    const listed = matching.slice(offset, offset + limit);
    const items = listed.filter(({ unreadable }) => !unreadable).map(wireOf);
    if (items.length === 0 && listed.length > 0)
      throw badBody({ source: 'PROJECT', endpoint: 'triggers' }, 'elements of which none can be read');
    const lost = listed.flatMap(({ id, unreadable }) =>
      unreadable ? [unreadable === 'wholly' ? `${nameless}${id}` : String(id)] : [],
    );
    const value = { items, total: matching.length, received: listed.length, unreadable: lost };
    return { value, readAtMs: this.clock.now() };
  }
}

function msOf(text: string): number {
  const instant = Instant.parse(text);
  if (!instant) throw new Error(`not a time: ${text}`);
  return instant.ms;
}

function wireOf({ id, deviceId, station, startMs, status, pga }: ModelTrigger): WireTrigger {
  return aWireTrigger({
    id: asId(String(id)),
    device_id: asId(deviceId),
    station,
    start_time: new Date(startMs).toISOString(),
    pga_horizontal_mg: pga,
    status,
  });
}

const usualSettings: FeedSettings = {
  triggerPollIntervalMs: 5_000,
  triggerLookbackS: 600,
  eventPollIntervalMs: 10_000,
  sensorPollIntervalMs: 30_000,
};

const silentLog = createLog({ level: 'silent', secrets: [] });

/** One run of a gateway over the model; another run is another call. */
export interface Run {
  readonly feeds: Feeds;
  /** The triggers of a list, with the cursor at which it leaves off. */
  list(args?: Partial<TriggerListArgs>): Promise<{ triggers: readonly Trigger[]; cursor: string }>;
}

export function runOver(
  upstream: UpstreamModel,
  options: {
    readonly settings?: Partial<FeedSettings>;
    readonly clock?: Clock;
    readonly random?: () => number;
    /** What other instances share with this one; there are none unless given. */
    readonly changes?: SharedChanges;
  } = {},
): Run {
  const { signal } = new AbortController();
  const clock = options.clock ?? upstream.clock;
  const tenant = new Tenant({ project: upstream.client(), catalogue: null, clock, log: silentLog, signal });
  const feeds = createFeeds({
    changes: () => options.changes ?? null,
    connection: options.changes?.connection ?? null,
    tenant,
    settings: { ...usualSettings, ...options.settings },
    random: options.random ?? Math.random,
  });
  return {
    feeds,
    async list(args = {}) {
      const ctx = new UnifyContext(tenant, {
        signal,
        priority: 'query',
        operationKey: {},
        meter: newCostMeter(),
      });
      const slice = await listTriggers(ctx, { first: 50, ...args });
      return {
        triggers: slice.edges.map(({ node }) => node),
        cursor: await feeds.cursorAfterTriggers(ctx, slice),
      };
    },
  };
}

export function feedsOver(...args: Parameters<typeof runOver>): Feeds {
  return runOver(...args).feeds;
}

/** A subscriber that takes everything at once: what it got, and what ended it. */
export class Follower {
  readonly got: { kind: string; id: string; pga: unknown; cursor: string; isReplayed: boolean }[] = [];
  error: unknown = null;
  isDone = false;
  readonly #iterator: AsyncIterator<Delivery<TriggerChange>>;

  constructor(stream: ReturnType<Feeds['triggerChanges']>) {
    const iterator = stream[Symbol.asyncIterator]();
    this.#iterator = iterator;
    void (async () => {
      try {
        for (let step = await iterator.next(); !step.done; step = await iterator.next())
          this.take(step.value);
      } catch (error) {
        this.error = error;
      }
      this.isDone = true;
    })();
  }

  take({
    change,
    isReplayed,
  }: import('../../src/live/tracking/change.js').Delivery<
    import('../../src/live/feeds/trigger/subject.js').TriggerChange
  >) {
    const { kind, record } = change;
    const pga = record.pgaHorizontalMg;
    this.got.push({ kind, id: record.triggerId, pga, cursor: change.cursor(), isReplayed });
  }

  get lines(): string[] {
    return this.got.map(({ kind, id }) => `${kind} ${id}`);
  }

  get cursor(): string | null {
    return this.got.at(-1)?.cursor ?? null;
  }

  leave(): void {
    void this.#iterator.return?.();
  }
}
