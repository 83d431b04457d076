import { limits } from '../../../limits.js';
import { countOf } from '../../../unify/paging.js';
import { filtersByDevice } from '../../../unify/sensor/selection.js';
import { isSearch } from '../../../unify/trigger/filter.js';
import {
  listTriggers,
  listTriggersOf,
  type TriggerListArgs,
  type TriggerSlice,
} from '../../../unify/trigger/trigger.js';
import { builder } from '../../builder.js';
import { cost } from '../../limits/cost.js';
import { SensorRef, TriggerRef } from '../../refs.js';
import { bothWaysArgs, UnavailableSourceRef } from '../connection.js';
import { changesCursor } from '../delivery-fields.js';
import { deviceIdArg } from '../sensor/device-id.js';
import { triggerConditions } from './conditions.js';

const TriggerFilterInput = builder.inputType('TriggerFilter', {
  description:
    'Selection of triggers. A trigger must meet every condition given. The service itself selects by ' +
    'time and by one Device ID alone; for the other conditions the gateway reads more pages and selects ' +
    'from them, and the networks and areas of sensors take up to 3 further requests.',
  fields: (t) => ({
    from: t.field({
      type: 'DateTime',
      description: 'Earliest start time, included. Error: BAD_USER_INPUT when it is later than `to`.',
    }),
    to: t.field({ type: 'DateTime', description: 'Latest start time, included.' }),
    deviceId: t.string({
      validate: deviceIdArg,
      description:
        'Device ID of the sensor: 12 hexadecimal characters in any case, with separators or without. ' +
        'Error: BAD_USER_INPUT for another text.',
    }),
    ...triggerConditions(t),
  }),
});

const TriggerOrderEnum = builder.enumType('TriggerOrder', {
  description: 'Order of a list of triggers by start time, compared to its last digit.',
  values: {
    START_TIME_DESC: { description: 'The latest start time comes first.' },
    START_TIME_ASC: { description: 'The earliest start time comes first.' },
  } as const,
});

const TriggerConnection = builder.connectionObject<typeof TriggerRef, TriggerSlice>(
  {
    type: TriggerRef,
    name: 'TriggerConnection',
    description: 'One page of a list of triggers.',
    fields: (t) => ({
      totalCount: t.int({
        description:
          'Number of triggers on all pages together, as the service counts them; null when the filter ' +
          'has a condition that the service does not know, as all but `from`, `to` and one Device ID. ' +
          'On a page behind ' +
          '`after` or before `before` it costs one request to the service.',
        resolve: (slice) => slice.totalCount(),
      }),
      changesCursor: t.string(
        changesCursor({
          description:
            'Cursor for the argument `after` of `triggerChanges`, with which the subscription continues ' +
            'this list: the two together have every trigger once, however much time passes between them. ' +
            'It is meant for a list that reaches up to the newest trigger. While the feed has no ' +
            'subscribers it costs one request to the service.',
          resolve: (slice: TriggerSlice, { unify, feeds }) => feeds.cursorAfterTriggers(unify, slice),
        }),
      ),
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: { list: false, items: false },
        description:
          'The project interface, where it sent triggers that cannot be read, and an interface that ' +
          'could not say which sensors the filter selects, so that the page can lack triggers; empty ' +
          'when the page is complete.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'TriggerEdge', description: 'A trigger with its cursor in the list.' },
);

function triggerListArgs() {
  return {
    ...builder.args((t) => ({
      filter: t.field({
        type: TriggerFilterInput,
        description: 'Selection of triggers; the default is all.',
      }),
      orderBy: t.field({
        type: TriggerOrderEnum,
        required: true,
        defaultValue: 'START_TIME_DESC',
        description: 'Order of the list; the default is the latest start time first.',
      }),
    })),
    ...bothWaysArgs(),
  };
}

/** Besides the page, one request for the total and one where the page ends between triggers of the same time. */
function triggerListCost({ filter }: TriggerListArgs): number {
  return isSearch(filter ?? {}) ? limits.triggerPageRequests : 2;
}

/** The lists of sensors and the masking setting, which all lists of an operation share. */
function sensorsCost({ filter }: TriggerListArgs): number {
  return filtersByDevice(filter ?? {}) ? 3 : 0;
}

builder.queryField('triggers', (t) =>
  t.field({
    type: TriggerConnection,
    description:
      'Triggers of the project in exact order of start time. The pages, read one after ' +
      'another, neither repeat nor skip a trigger while new ones arrive. A page of a filtered list may have fewer triggers ' +
      `than \`first\` although \`hasNextPage\` is true, when ${limits.triggerPageRequests} requests to the ` +
      'service did not find more: continue from the cursor of `pageInfo`, or narrow `filter`. Errors: ' +
      'BAD_USER_INPUT, CURSOR_INVALID, FORBIDDEN; NOT_CONFIGURED without the project interface; ' +
      'UPSTREAM_RATE_LIMITED, UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE.',
    args: triggerListArgs(),
    extensions: cost<TriggerListArgs>({
      requests: (args) => triggerListCost(args) + sensorsCost(args),
      items: (args) => countOf(args),
    }),
    resolve: (_, args, { unify }) => listTriggers(unify, args),
  }),
);

builder.objectFields(SensorRef, (t) => ({
  triggers: t.field({
    type: TriggerConnection,
    description:
      'Triggers that this sensor recorded, in exact order of start time; paged as `Query.triggers`, ' +
      'with the same errors. Null for a sensor that only the catalogue knows. Costs one request to the ' +
      'service for each sensor, and more with a filter by other than time.',
    args: triggerListArgs(),
    extensions: cost<TriggerListArgs>({
      requests: (args, parents) => triggerListCost(args) * parents + sensorsCost(args),
      items: (args) => countOf(args),
    }),
    resolve: async (sensor, args, { unify }) => listTriggersOf(unify, await sensor.deviceId(), args),
  }),
}));
