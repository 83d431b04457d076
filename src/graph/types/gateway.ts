import type { ForwardMs } from '../../clock.js';
import type { Source } from '../../errors.js';
import type { FeedStatus } from '../../live/feeds/feed.js';
import { mergeFeeds } from '../../live/feeds/merged-feeds.js';
import type { Instant } from '../../unify/time/instant.js';
import type { InterfaceStatus, RateLimitStatus } from '../../upstream/read/read.js';
import { statusOfAll } from '../../upstream/resilience/merged-status.js';
import { builder } from '../builder.js';
import type { GraphContext, OtherProcesses } from '../context.js';
import { SourceEnum } from './connection.js';

/** State of the gateway itself, from memory: these fields cause no upstream requests. */

const RateLimitRef = builder.objectRef<RateLimitStatus>('RateLimit').implement({
  description: 'Rate limit that an interface sets for the key in use, and the budget that is left of it.',
  fields: (t) => ({
    perMinute: t.exposeInt('perMinute', {
      nullable: false,
      description: 'Requests that the interface permits in one minute.',
    }),
    burst: t.exposeInt('burst', {
      nullable: true,
      description:
        'Requests that the interface permits at once; null when it permits those of a whole minute at ' +
        'once.',
    }),
    remaining: t.int({
      nullable: false,
      description: 'Requests that could be sent immediately, as the budget stands now.',
      resolve: ({ remaining }) => Math.floor(remaining),
    }),
    remainingToday: t.int({
      nullable: true,
      description: 'Requests left of the daily quota; null when the interface has no daily quota.',
      resolve: ({ remainingToday }) => remainingToday && Math.floor(remainingToday),
    }),
    resetAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time at which the full budget of `burst` is available again; null when it is available now.',
      resolve: ({ resetAtMs }, _, ctx) => dateOf(ctx, resetAtMs),
    }),
  }),
});

interface InterfaceRow {
  readonly source: Source;
  /** Null where the interface is not configured. */
  readonly status: InterfaceStatus | null;
}

const InterfaceStatusRef = builder.objectRef<InterfaceRow>('InterfaceStatus').implement({
  description: 'State of one of the two interfaces under the key in use.',
  fields: (t) => ({
    source: t.expose('source', {
      type: SourceEnum,
      nullable: false,
      description: 'Interface that this state is about.',
    }),
    configured: t.boolean({
      nullable: false,
      description: 'True when the gateway has an address and a key for the interface.',
      resolve: ({ status }) => status !== null,
    }),
    reachable: t.boolean({
      nullable: true,
      description:
        'True when the interface answered the last request, false when it did not; false also while ' +
        'the circuit breaker is open after repeated failures. Null before the first request.',
      resolve: ({ status }) => status?.reachable ?? null,
    }),
    lastErrorCode: t.string({
      nullable: true,
      description:
        'Error code of the last failed request, as in `extensions.code`; null when none has failed.',
      resolve: ({ status }) => status?.lastErrorCode ?? null,
    }),
    lastErrorAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last failed request; null when none has failed.',
      resolve: ({ status }, _, ctx) => dateOf(ctx, status?.lastErrorAtMs ?? null),
    }),
    rateLimit: t.field({
      type: RateLimitRef,
      nullable: true,
      description: 'Rate limit and remaining budget; null when the interface is not configured.',
      resolve: ({ status }) => status?.rateLimit ?? null,
    }),
    requestCount: t.float({
      nullable: false,
      description: 'Requests sent to the interface since the gateway started.',
      resolve: ({ status }) => status?.requestCount ?? 0,
    }),
    cacheHitCount: t.float({
      nullable: false,
      description:
        'Reads answered from the cache, without a request to the interface, since the gateway started.',
      resolve: ({ status }) => status?.cacheHitCount ?? 0,
    }),
  }),
});

const FeedStatusRef = builder.objectRef<FeedStatus>('FeedStatus').implement({
  description: 'State of one feed: the polling that one of the subscriptions is served from.',
  fields: (t) => ({
    name: t.exposeString('name', {
      nullable: false,
      description: 'Name of the subscription that the feed serves, such as triggerChanges.',
    }),
    active: t.boolean({
      nullable: false,
      description: 'True while the feed polls the service, which it does as long as it has subscribers.',
      resolve: ({ isActive }) => isActive,
    }),
    subscriberCount: t.exposeInt('subscriberCount', {
      nullable: false,
      description: 'Number of subscriptions that the feed serves at present.',
    }),
    intervalS: t.float({
      nullable: false,
      description: 'Seconds between two polls at present; the interval grows while the budget is short.',
      resolve: ({ intervalMs }) => intervalMs / 1000,
    }),
    lastPollAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the last poll ended, with success or without; null before the first poll.',
      resolve: ({ lastPollAtMs }, _, ctx) => dateOf(ctx, lastPollAtMs),
    }),
    lagS: t.float({
      nullable: true,
      description:
        'Seconds since the last poll that read the service to the end. More than a few intervals mean ' +
        'that the polls fail. Null while the feed has no subscribers, and before the first successful ' +
        'poll.',
      resolve: ({ lagMs }) => (lagMs === null ? null : lagMs / 1000),
    }),
  }),
});

interface GatewayRow {
  readonly ctx: GraphContext;
  readonly otherProcesses: OtherProcesses;
}

const GatewayRef = builder.objectRef<GatewayRow>('Gateway').implement({
  description: 'State of the gateway: its version, the interfaces that it reads, and its feeds.',
  fields: (t) => ({
    version: t.string({
      nullable: false,
      description: 'Version of seisgraph, such as 0.1.0.',
      resolve: ({ ctx }) => ctx.gateway.version,
    }),
    sandbox: t.boolean({
      nullable: false,
      description: 'True when the gateway reads its embedded sandbox, which simulates the service.',
      resolve: ({ ctx }) => ctx.gateway.sandbox,
    }),
    interfaces: t.field({
      type: [InterfaceStatusRef],
      nullable: false,
      description: 'State of both interfaces, also of one that is not configured.',
      resolve: ({ ctx: { unify }, otherProcesses }): InterfaceRow[] => [
        rowOf('PROJECT', unify.project?.status(), otherProcesses),
        rowOf('CATALOGUE', unify.catalogue?.status(), otherProcesses),
      ],
    }),
    feeds: t.field({
      type: [FeedStatusRef],
      nullable: false,
      description: 'State of each feed that the configured interfaces can serve.',
      resolve: ({ ctx: { feeds }, otherProcesses }) => [
        ...mergeFeeds([...feeds.status(), ...otherProcesses.feeds]),
      ],
    }),
  }),
});

builder.queryField('gateway', (t) =>
  t.field({
    type: GatewayRef,
    nullable: false,
    description:
      'State of the gateway: configured interfaces, remaining budget and feeds. It costs no request to ' +
      'the service.',
    resolve: (_root, _args, ctx) => {
      ctx.unify.scope.dependencies?.refuse('the gateway was asked about itself');
      const others = ctx.gateway.otherProcesses?.();
      return others
        ? others.then((otherProcesses) => ({ ctx, otherProcesses }))
        : { ctx, otherProcesses: nowhereElse };
    },
  }),
);

const nowhereElse: OtherProcesses = { interfaces: [], feeds: [] };

function rowOf(
  source: Source,
  status: InterfaceStatus | undefined,
  { interfaces }: OtherProcesses,
): InterfaceRow {
  const others = interfaces.filter((other) => other.source === source);
  return { source, status: status ? statusOfAll([status, ...others]) : null };
}

function dateOf({ unify }: GraphContext, atMs: ForwardMs | null): Instant | null {
  return atMs === null ? null : unify.dateOf(atMs);
}
