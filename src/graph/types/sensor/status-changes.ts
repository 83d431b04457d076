import { limits } from '../../../limits.js';
import type { SensorStatusChange } from '../../../live/feeds/sensor/status.js';
import type { Delivery } from '../../../live/tracking/change.js';
import { builder } from '../../builder.js';
import { cursorField, replayedField } from '../delivery-fields.js';
import { changedSensor, sensorSelectionInput } from './feeds.js';
import { SensorStatusEnum } from './sensor.js';

const SensorStatusChangeRef = builder
  .objectRef<Delivery<SensorStatusChange>>('SensorStatusChange')
  .implement({
    description: "A change of a sensor's status, as a feed observed it.",
    fields: (t) => ({
      sensor: changedSensor(t),
      previousStatus: t.field({
        type: SensorStatusEnum,
        nullable: false,
        description: 'Status before the change.',
        resolve: ({ change }) => change.previousStatus,
      }),
      status: t.field({
        type: SensorStatusEnum,
        nullable: false,
        description:
          'Status after the change. A sensor of the project becomes OFFLINE when it has not reported ' +
          'for 150 seconds.',
        resolve: ({ change }) => change.status,
      }),
      observedAt: t.field({
        type: 'DateTime',
        nullable: false,
        description:
          'Time at which the gateway observed the change, or at which the 150 seconds without a report ' +
          "were over, by the gateway's own clock.",
        resolve: ({ change }, _, { unify }) => unify.dateOf(change.observedAtMs),
      }),
      cursor: cursorField(t),
      replayed: replayedField(t),
    }),
  });

const SensorStatusChangeFilterInput = sensorSelectionInput('SensorStatusChangeFilter');

builder.subscriptionField('sensorStatusChanges', (t) =>
  t.field({
    type: SensorStatusChangeRef,
    nullable: false,
    description:
      'Feed of sensor status changes from now on, or since the cursor `after`: from the change log every ' +
      'change; past it, such as after a restart, each sensor whose status is another than at the cursor, ' +
      'once. It polls the project interface; where only the catalogue interface is configured, it polls ' +
      'that one, about once a minute. Errors: BAD_USER_INPUT; NOT_CONFIGURED when no interface is ' +
      'configured; CURSOR_INVALID; CURSOR_EXPIRED when `after` can no longer be resumed from without ' +
      'loss, as where the statuses of more than 50 of a hundred sensors or more have changed; FORBIDDEN; ' +
      `FELL_BEHIND for a subscriber that is ${limits.changesBehind} changes behind.`,
    args: {
      filter: t.arg({
        type: SensorStatusChangeFilterInput,
        description: 'Selection of sensors; the default is all.',
      }),
      after: t.arg.string({
        description:
          'Cursor of a change, or `changesCursor` of a list of sensors, behind which the feed resumes; ' +
          'the default is to begin with the changes from now on.',
      }),
    },
    subscribe: (_, { filter, after }, { feeds }) =>
      feeds.sensorStatusChanges({ filter: filter ?? null, after: after ?? null }),
    resolve: (delivery) => delivery,
  }),
);
