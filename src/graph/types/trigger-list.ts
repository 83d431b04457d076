import {
  listTriggers,
  listTriggersOf,
  mostListRequests,
  type TriggerFilter,
  type TriggerSlice,
} from '../../unify/trigger.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { SensorRef, TriggerRef } from '../refs.js';
import { defaultFirst, forwardArgs } from './connection.js';
import { deviceIdArg } from './device-id.js';
import { TriggerStatusEnum } from './trigger.js';

const TriggerFilterInput = builder.inputType('TriggerFilter', {
  description: 'Which triggers. All that is given must hold.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'Start time, at or after.' }),
    to: t.field({ type: 'DateTime', description: 'Start time, at or before.' }),
    deviceId: t.string({ validate: deviceIdArg, description: 'Device ID of the sensor, in any case.' }),
    status: t.field({ type: TriggerStatusEnum, description: 'Status; the gateway filters by it.' }),
    minPgaMg: t.float({
      description: 'Horizontal peak ground acceleration at least, in mg; the gateway filters by it.',
    }),
  }),
});

const TriggerOrderEnum = builder.enumType('TriggerOrder', {
  description: 'Order of triggers, by start time to its last digit.',
  values: {
    START_TIME_DESC: { description: 'Newest first.' },
    START_TIME_ASC: { description: 'Oldest first.' },
  } as const,
});

const TriggerConnection = builder.connectionObject<typeof TriggerRef, TriggerSlice>(
  {
    type: TriggerRef,
    name: 'TriggerConnection',
    description: 'One page of triggers.',
    fields: (t) => ({
      totalCount: t.int({
        description:
          'How many there are on all pages, as upstream counts them. Null where a filter that upstream does not know is ' +
          'applied by the gateway. Behind `after` it costs an upstream request of its own.',
        resolve: (slice) => slice.totalCount(),
      }),
      changesCursor: t.string({
        nullable: true,
        description:
          'Where this list leaves off: pass it as `after` of `triggerChanges`, and list and subscription together tell ' +
          'every trigger once, however long lies between. For a list that reaches up to the newest. While nobody listens, ' +
          'it costs an upstream request.',
        // One read of what is there, for all lists of an operation.
        extensions: cost({ requests: () => 1 }),
        resolve: (slice, _, { unify, feeds }) => {
          unify.scope.dependencies?.refuse('a feed was asked for its cursor');
          return feeds.changesCursor(unify, slice);
        },
      }),
    }),
  },
  { name: 'TriggerEdge', description: 'A trigger and its place in the list.' },
);

function triggerListArgs() {
  return {
    ...builder.args((t) => ({
      filter: t.field({ type: TriggerFilterInput, description: 'Which triggers; all when left out.' }),
      orderBy: t.field({
        type: TriggerOrderEnum,
        required: true,
        defaultValue: 'START_TIME_DESC',
        description: 'Which come first.',
      }),
    })),
    ...forwardArgs(),
  };
}

interface TriggerListInput {
  readonly filter?: TriggerFilter | null | undefined;
  readonly first?: number | null | undefined;
}

/** Beyond the page itself, one for the total and one where the page ends within a moment. */
function triggerListCost({ filter }: TriggerListInput): number {
  return filter?.status != null || filter?.minPgaMg != null ? mostListRequests : 2;
}

builder.queryField('triggers', (t) =>
  t.field({
    type: TriggerConnection,
    description:
      'Triggers of the project in exact start-time order. A walk through the pages neither repeats nor skips a trigger ' +
      'while new ones arrive. A filtered page may hold fewer than `first` with `hasNextPage` true, when the gateway ' +
      `has looked at ${mostListRequests} upstream pages: go on from \`endCursor\`, or narrow \`filter\`.`,
    args: triggerListArgs(),
    extensions: cost<TriggerListInput>({
      requests: triggerListCost,
      items: ({ first }) => first ?? defaultFirst,
    }),
    resolve: (_, { filter, orderBy, first, after }, { unify }) =>
      listTriggers(unify, { filter, orderBy, first: first ?? defaultFirst, after }),
  }),
);

builder.objectFields(SensorRef, (t) => ({
  triggers: t.field({
    type: TriggerConnection,
    description:
      'What this sensor recorded, in exact start-time order. Null for a sensor that the project does not have. One ' +
      'upstream request for each sensor, or more as for `Query.triggers`.',
    args: triggerListArgs(),
    extensions: cost<TriggerListInput>({
      requests: (args, parents) => triggerListCost(args) * parents,
      items: ({ first }) => first ?? defaultFirst,
    }),
    resolve: async (sensor, { filter, orderBy, first, after }, { unify }) =>
      listTriggersOf(unify, await sensor.deviceId(), {
        filter,
        orderBy,
        first: first ?? defaultFirst,
        after,
      }),
  }),
}));
