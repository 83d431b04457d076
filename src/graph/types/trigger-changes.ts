import type { Delivery } from '../../live/change.js';
import type { TriggerChange, TriggerChangeKind } from '../../live/trigger-subject.js';
import { builder } from '../builder.js';
import { TriggerRef } from '../refs.js';
import { deliveryFields } from './delivery-fields.js';
import { deviceIdsArg } from './device-id.js';

const ChangeKindEnum = builder.enumType('ChangeKind', {
  description: 'What happened to a trigger (contract 9.1; key-scoped §3).',
  values: {
    OPENED: { value: 'OPENED', description: 'Seen for the first time, still recording.' },
    UPDATED: { value: 'UPDATED', description: 'A value of it changed while it was open.' },
    CLOSED: {
      value: 'CLOSED',
      description:
        'Finished: its values are final, and nothing more comes for it. Comes alone when it was never seen open.',
    },
  } as const satisfies Record<TriggerChangeKind, object>,
});

const TriggerChangeRef = builder.objectRef<Delivery<TriggerChange>>('TriggerChange').implement({
  description: 'One change of a trigger, as the gateway observed it.',
  fields: (t) => ({
    kind: t.field({
      type: ChangeKindEnum,
      nullable: false,
      description: 'What happened.',
      resolve: ({ change }) => change.kind,
    }),
    trigger: t.field({
      type: TriggerRef,
      nullable: false,
      description:
        'The trigger as it was when the change was observed. Its `sensor` and `event` are as fresh as a query gives them.',
      resolve: ({ change }) => change.record,
    }),
    ...deliveryFields(t),
  }),
});

const TriggerChangeFilterInput = builder.inputType('TriggerChangeFilter', {
  description:
    'Which changes. All that is given must hold, and an empty list matches nothing. A sensor can be named by Device ID or ' +
    'by station code. A trigger that was let in by its station or its peak stays in until it is closed.',
  fields: (t) => ({
    kinds: t.field({ type: [ChangeKindEnum], description: 'Only these kinds.' }),
    deviceIds: t.stringList({
      validate: deviceIdsArg,
      description: 'Only of sensors with these Device IDs, in any case.',
    }),
    stationCodes: t.stringList({
      description:
        'Only of sensors at these stations. Upstream gives no station for a sensor that has moved to another project: what ' +
        'was told as opened under a code is told to its end under it.',
    }),
    minPgaMg: t.float({
      description:
        'Horizontal peak ground acceleration at least, in mg. A trigger that opens below it is told from the moment it ' +
        'has passed it: as UPDATED, or, if that was only known at its end, as CLOSED alone.',
    }),
  }),
});

builder.subscriptionField('triggerChanges', (t) =>
  t.field({
    type: TriggerChangeRef,
    nullable: false,
    description:
      'Every change of a trigger, in the order the gateway observed it: opened, updated while open, closed (final). Each ' +
      'change is delivered exactly once per subscription. Pass the last cursor received as `after` to resume without ' +
      'loss after a disconnect, a reconnect to another instance, or a restart of the gateway; or the `changesCursor` of a ' +
      'list of triggers, to go on from that list. Errors: CURSOR_INVALID, CURSOR_EXPIRED (older than 7 days), ' +
      'NOT_CONFIGURED, and FELL_BEHIND for a reader who is too slow.',
    args: {
      filter: t.arg({ type: TriggerChangeFilterInput, description: 'Which changes; all when left out.' }),
      after: t.arg.string({ description: 'Resume behind this cursor; from now on when left out.' }),
    },
    subscribe: (_, { filter, after }, { feeds }) =>
      feeds.triggerChanges({ filter: filter ?? null, after: after ?? null }),
    resolve: (delivery) => delivery,
  }),
);
