import { dayMs } from '../../../clock.js';
import { limits } from '../../../limits.js';
import type { TriggerChange, TriggerChangeKind } from '../../../live/feeds/trigger/subject.js';
import type { Delivery } from '../../../live/tracking/change.js';
import { builder } from '../../builder.js';
import { TriggerRef } from '../../refs.js';
import { deliveryFields } from '../delivery-fields.js';
import { triggerConditions } from './conditions.js';

const ChangeKindEnum = builder.enumType('ChangeKind', {
  description: 'Kind of a change of a trigger.',
  values: {
    OPENED: {
      value: 'OPENED',
      description: 'The trigger appeared for the first time, and the sensor is still recording.',
    },
    UPDATED: {
      value: 'UPDATED',
      description: 'A value of the trigger changed while the sensor was recording.',
    },
    CLOSED: {
      value: 'CLOSED',
      description:
        'The sensor has stopped recording, the values are final, and no change of this trigger ' +
        'follows. It is the only change of a trigger that was never observed open.',
    },
  } as const satisfies Record<TriggerChangeKind, object>,
});

const TriggerChangeRef = builder.objectRef<Delivery<TriggerChange>>('TriggerChange').implement({
  description: 'A change of a trigger, as a feed observed it.',
  fields: (t) => ({
    kind: t.field({
      type: ChangeKindEnum,
      nullable: false,
      description: 'Kind of change.',
      resolve: ({ change }) => change.kind,
    }),
    trigger: t.field({
      type: TriggerRef,
      nullable: false,
      description:
        'Trigger as it was when the change was observed. Its fields `sensor` and `event` have the ' +
        'present values, as a query would answer them.',
      resolve: ({ change }) => change.record,
    }),
    ...deliveryFields(t),
  }),
});

const TriggerChangeFilterInput = builder.inputType('TriggerChangeFilter', {
  description:
    'Selection of changes for a subscription. A change must meet every condition given; the conditions ' +
    'are those of `TriggerFilter`, so that a list and a subscription select the same triggers. A trigger ' +
    'that once met `stationCodes` or `minPgaMg` keeps meeting it until it is closed. `networkCodes`, ' +
    '`boundingBox` and `within` compare the sensor as it is when the change is delivered; while the ' +
    'sensors cannot be read, the changes wait.',
  fields: (t) => ({
    kinds: t.field({
      type: [ChangeKindEnum],
      description: 'Kinds of change to deliver; an empty list selects nothing.',
    }),
    ...triggerConditions(t),
  }),
});

builder.subscriptionField('triggerChanges', (t) =>
  t.field({
    type: TriggerChangeRef,
    nullable: false,
    description:
      'Feed of every change of a trigger, in the order in which the gateway observed them: opened, ' +
      'updated while open, closed with final values. A subscription gets each change exactly once. To ' +
      'resume without loss after a disconnect, at another instance or after a restart, pass the last ' +
      'cursor received as `after`; to continue from a list of triggers, pass its `changesCursor`. ' +
      'Errors: BAD_USER_INPUT; CURSOR_INVALID; CURSOR_EXPIRED when `after` can no longer be resumed ' +
      `from without loss, as after ${limits.resumeMs / dayMs} days; NOT_CONFIGURED without the project interface; FORBIDDEN; ` +
      `FELL_BEHIND for a subscriber that is ${limits.changesBehind} changes behind.`,
    args: {
      filter: t.arg({
        type: TriggerChangeFilterInput,
        description: 'Selection of changes; the default is all.',
      }),
      after: t.arg.string({
        description:
          'Cursor of a change, or `changesCursor` of a list of triggers, behind which the feed ' +
          'resumes; the default is to begin with the changes from now on.',
      }),
    },
    subscribe: (_, { filter, after }, { feeds }) =>
      feeds.triggerChanges({ filter: filter ?? null, after: after ?? null }),
    resolve: (delivery) => delivery,
  }),
);
