import { limits } from '../../limits.js';
import type { SensorStatusChange } from '../../live/feeds/sensor-status.js';
import type { Delivery } from '../../live/tracking/change.js';
import { builder } from '../builder.js';
import { SensorStatusEnum } from './sensor.js';
import { changedSensor, sensorSelectionInput } from './sensor-feeds.js';

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
    }),
  });

const SensorStatusChangeFilterInput = sensorSelectionInput('SensorStatusChangeFilter');

builder.subscriptionField('sensorStatusChanges', (t) =>
  t.field({
    type: SensorStatusChangeRef,
    nullable: false,
    description:
      'Feed of sensor status changes from now on; it has no cursors and cannot be resumed. It polls ' +
      'the project interface; where only the catalogue interface is configured, it polls that one, ' +
      'about once a minute. Errors: BAD_USER_INPUT; NOT_CONFIGURED when no interface is configured; ' +
      `FORBIDDEN; FELL_BEHIND for a subscriber that is ${limits.changesBehind} changes behind.`,
    args: {
      filter: t.arg({
        type: SensorStatusChangeFilterInput,
        description: 'Selection of sensors; the default is all.',
      }),
    },
    subscribe: (_, { filter }, { feeds }) => feeds.sensorStatusChanges(filter ?? null),
    resolve: (delivery) => delivery,
  }),
);
