import type { Source } from '../../errors.js';
import type { FeedStatus } from '../../live/feed.js';
import { mergeFeeds } from '../../live/merged-feeds.js';
import { Instant } from '../../unify/time.js';
import { statusOfAll } from '../../upstream/merged-status.js';
import type { InterfaceStatus, RateLimitStatus } from '../../upstream/read.js';
import { builder } from '../builder.js';
import type { Elsewhere, GraphContext } from '../context.js';
import { SourceEnum } from './connection.js';

/** The gateway about itself: what it knows already, so that asking costs upstream nothing. */

const RateLimitRef = builder.objectRef<RateLimitStatus>('RateLimit').implement({
  description:
    'What an interface allows the key that is in use (key-scoped §8, catalogue §8), and what is left of it.',
  fields: (t) => ({
    perMinute: t.exposeInt('perMinute', { nullable: false, description: 'Requests per minute.' }),
    burst: t.exposeInt('burst', {
      nullable: true,
      description: 'Requests at once; null where the interface allows as many as a minute does.',
    }),
    remaining: t.int({
      nullable: false,
      description: 'Requests that could be sent at once now.',
      resolve: ({ remaining }) => Math.floor(remaining),
    }),
    remainingToday: t.int({
      nullable: true,
      description: "Left of the day's allowance; null where there is none.",
      resolve: ({ remainingToday }) => remainingToday && Math.floor(remainingToday),
    }),
    resetAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the allowance is whole again; null when it is.',
      resolve: ({ resetAtMs }) => momentOf(resetAtMs),
    }),
  }),
});

interface InterfaceRow {
  readonly source: Source;
  /** Null where it is not configured. */
  readonly status: InterfaceStatus | null;
}

const InterfaceStatusRef = builder.objectRef<InterfaceRow>('InterfaceStatus').implement({
  description: 'How one of the two interfaces is doing under the key in use.',
  fields: (t) => ({
    source: t.expose('source', { type: SourceEnum, nullable: false, description: 'Which interface.' }),
    configured: t.boolean({
      nullable: false,
      description: 'Whether there is an address and a key for it.',
      resolve: ({ status }) => status !== null,
    }),
    reachable: t.boolean({
      nullable: true,
      description: 'Whether it answered when it was last asked. Null before the first request.',
      resolve: ({ status }) => status?.reachable ?? null,
    }),
    lastErrorCode: t.string({
      nullable: true,
      description: 'Code of the last failed request, as in `extensions.code`; null without one.',
      resolve: ({ status }) => status?.lastErrorCode ?? null,
    }),
    lastErrorAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When that was.',
      resolve: ({ status }) => momentOf(status?.lastErrorAtMs ?? null),
    }),
    rateLimit: t.field({
      type: RateLimitRef,
      nullable: true,
      description: 'The allowance; null where the interface is not configured.',
      resolve: ({ status }) => status?.rateLimit ?? null,
    }),
    requestCount: t.float({
      nullable: false,
      description: 'Requests sent since the start.',
      resolve: ({ status }) => status?.requestCount ?? 0,
    }),
    cacheHitCount: t.float({
      nullable: false,
      description: 'Reads answered from the cache since the start.',
      resolve: ({ status }) => status?.cacheHitCount ?? 0,
    }),
  }),
});

const FeedStatusRef = builder.objectRef<FeedStatus>('FeedStatus').implement({
  description: 'How one of the live feeds is doing.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: 'The subscription that it feeds.' }),
    active: t.boolean({
      nullable: false,
      description: 'Whether upstream is being polled for it: while someone listens.',
      resolve: ({ isActive }) => isActive,
    }),
    subscriberCount: t.exposeInt('subscriberCount', {
      nullable: false,
      description: 'Subscriptions that listen to it.',
    }),
    intervalS: t.float({
      nullable: false,
      description: 'Seconds from one poll to the next, as things are.',
      resolve: ({ intervalMs }) => intervalMs / 1000,
    }),
    lastPollAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last poll ended, well or not; null before the first.',
      resolve: ({ lastPollAtMs }) => momentOf(lastPollAtMs),
    }),
    lagS: t.float({
      nullable: true,
      description:
        'Seconds since upstream was last read to the end: more than a few intervals, and it is not getting through. Null ' +
        'while nobody listens, and before the first time.',
      resolve: ({ lagMs }) => (lagMs === null ? null : lagMs / 1000),
    }),
  }),
});

interface GatewayRow {
  readonly ctx: GraphContext;
  readonly elsewhere: Elsewhere;
}

const GatewayRef = builder.objectRef<GatewayRow>('Gateway').implement({
  description: 'How the gateway itself is doing.',
  fields: (t) => ({
    version: t.string({
      nullable: false,
      description: 'Version of seisgraph.',
      resolve: ({ ctx }) => ctx.gateway.version,
    }),
    sandbox: t.boolean({
      nullable: false,
      description: 'True when the interfaces behind are the embedded sandbox.',
      resolve: ({ ctx }) => ctx.gateway.sandbox,
    }),
    interfaces: t.field({
      type: [InterfaceStatusRef],
      nullable: false,
      description: 'Both interfaces, configured or not.',
      resolve: ({ ctx: { unify }, elsewhere }): InterfaceRow[] => [
        rowOf('PROJECT', unify.project?.status(), elsewhere),
        rowOf('CATALOGUE', unify.catalogue?.status(), elsewhere),
      ],
    }),
    feeds: t.field({
      type: [FeedStatusRef],
      nullable: false,
      description: 'The live feeds that what is configured can feed.',
      resolve: ({ ctx: { feeds }, elsewhere }) => [...mergeFeeds([...feeds.status(), ...elsewhere.feeds])],
    }),
  }),
});

builder.queryField('gateway', (t) =>
  t.field({
    type: GatewayRef,
    nullable: false,
    description:
      'How the gateway itself is doing: configured interfaces, remaining upstream budget, live feeds. Costs upstream nothing.',
    resolve: (_root, _args, ctx) => {
      ctx.unify.scope.dependencies?.refuse('the gateway was asked about itself');
      const others = ctx.gateway.elsewhere?.();
      return others ? others.then((elsewhere) => ({ ctx, elsewhere })) : { ctx, elsewhere: nowhereElse };
    },
  }),
);

const nowhereElse: Elsewhere = { interfaces: [], feeds: [] };

function rowOf(source: Source, status: InterfaceStatus | undefined, { interfaces }: Elsewhere): InterfaceRow {
  const others = interfaces.filter((other) => other.source === source);
  return { source, status: status ? statusOfAll([status, ...others]) : null };
}

function momentOf(ms: number | null): Instant | null {
  return ms === null ? null : Instant.fromMs(ms);
}
