import { limits } from '../../../limits.js';
import type { SensorHealthChange } from '../../../live/feeds/sensor/health.js';
import type { Delivery } from '../../../live/tracking/change.js';
import { builder } from '../../builder.js';
import { HealthReportRef } from '../../refs.js';
import { changedSensor, sensorSelectionInput } from './feeds.js';

const SensorHealthChangeRef = builder
  .objectRef<Delivery<SensorHealthChange>>('SensorHealthChange')
  .implement({
    description: 'A new state-of-health report of a sensor, as a feed read it.',
    fields: (t) => ({
      sensor: changedSensor(t),
      report: t.field({
        type: HealthReportRef,
        nullable: false,
        description: 'Latest report of the sensor.',
        resolve: ({ change }) => change.report,
      }),
      roundS: t.float({
        nullable: false,
        description:
          'Time in seconds within which the feed comes back to this sensor, at the present rate: the ' +
          'number of sensors that somebody watches times the interval of the reads, and at least 60.',
        resolve: ({ change }) => change.roundMs / 1000,
      }),
      observedAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'Time at which the gateway read the report, by its own clock.',
        resolve: ({ change }, _, { unify }) => unify.dateOf(change.observedAtMs),
      }),
      replayed: t.boolean({
        nullable: false,
        description:
          'True for a report that the gateway knew already when the subscription began; false for one ' +
          'that was read since.',
        resolve: ({ isReplayed }) => isReplayed,
      }),
    }),
  });

const SensorHealthChangeFilterInput = sensorSelectionInput('SensorHealthChangeFilter');

builder.subscriptionField('sensorHealthChanges', (t) =>
  t.field({
    type: SensorHealthChangeRef,
    nullable: false,
    description:
      'Feed of state-of-health reports of the selected sensors of the project: the latest report of each ' +
      'first, then every later one that is found. The sensors that somebody watches are read one after ' +
      'the other, the longest unread first, from the part of the rate limit that queries and other feeds ' +
      'leave; a sensor that has not been in contact since is read every ten minutes at most. Select the ' +
      'sensors on screen: the fewer are watched, the more often each is read. It has no cursors. Errors: ' +
      'BAD_USER_INPUT; NOT_CONFIGURED without the project interface; FORBIDDEN; FELL_BEHIND for a ' +
      `subscriber that is ${limits.changesBehind} changes behind.`,
    args: {
      filter: t.arg({
        type: SensorHealthChangeFilterInput,
        description: 'Selection of sensors; the default is all.',
      }),
    },
    subscribe: (_, { filter }, { feeds }) => feeds.sensorHealthChanges(filter ?? null),
    resolve: (delivery) => delivery,
  }),
);
