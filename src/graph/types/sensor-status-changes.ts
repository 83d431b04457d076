import type { Delivery } from '../../live/change.js';
import type { SensorStatusChange } from '../../live/sensor-status.js';
import { promised } from '../../maybe.js';
import { sensorByDeviceId, sensorOf } from '../../unify/sensor.js';
import { Instant } from '../../unify/time.js';
import { builder } from '../builder.js';
import { SensorRef } from '../refs.js';
import { deviceIdsArg } from './device-id.js';
import { SensorStatusEnum } from './sensor.js';

const SensorStatusChangeRef = builder
  .objectRef<Delivery<SensorStatusChange>>('SensorStatusChange')
  .implement({
    description: 'A sensor whose status became another.',
    fields: (t) => ({
      sensor: t.field({
        type: SensorRef,
        nullable: false,
        description: 'The sensor, as fresh as a query gives it.',
        resolve: async ({ change: { pair } }, _args, { unify }) => {
          const { project, catalogue } = pair;
          if (!project) return sensorOf(unify, { catalogue: { record: catalogue } });
          const now = await promised(() => sensorByDeviceId(unify, project.value.device_id)).catch(
            () => null,
          );
          return now ?? sensorOf(unify, { project: { record: project } });
        },
      }),
      previousStatus: t.field({
        type: SensorStatusEnum,
        nullable: false,
        description: 'What it was before.',
        resolve: ({ change }) => change.previousStatus,
      }),
      status: t.field({
        type: SensorStatusEnum,
        nullable: false,
        description:
          'What it became. A sensor of the project not heard of for 150 seconds is OFFLINE (key-scoped §3).',
        resolve: ({ change }) => change.status,
      }),
      observedAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: "When that was seen, or when the 150 seconds had passed, by the gateway's own clock.",
        resolve: ({ change }) => Instant.fromMs(change.observedAtMs),
      }),
    }),
  });

const SensorStatusChangeFilterInput = builder.inputType('SensorStatusChangeFilter', {
  description: 'Which sensors. All that is given must hold, and an empty list matches nothing.',
  fields: (t) => ({
    deviceIds: t.stringList({
      validate: deviceIdsArg,
      description: 'Only sensors with these Device IDs, in any case.',
    }),
    stationCodes: t.stringList({ description: 'Only sensors at these stations.' }),
  }),
});

builder.subscriptionField('sensorStatusChanges', (t) =>
  t.field({
    type: SensorStatusChangeRef,
    nullable: false,
    description:
      'A sensor that came online, went offline, or changed status otherwise, from now on. Of the project; with the catalogue ' +
      'alone of the catalogue, once a minute.',
    args: {
      filter: t.arg({
        type: SensorStatusChangeFilterInput,
        description: 'Which sensors; all when left out.',
      }),
    },
    subscribe: (_, { filter }, { feeds }) => feeds.sensorStatusChanges(filter ?? null),
    resolve: (delivery) => delivery,
  }),
);
