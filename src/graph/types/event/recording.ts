import {
  arrivalAt,
  listRecordings,
  type Recording,
  type RecordingSlice,
  recordedAtKm,
  recordingsOf,
} from '../../../unify/event/recording.js';
import { countOf, defaultFirst, type PageArgs } from '../../../unify/paging.js';
import { sensorOfTrigger } from '../../../unify/trigger/sensor.js';
import { builder } from '../../builder.js';
import { kmShown } from '../../digits.js';
import { shown } from '../../errors/malformed.js';
import { cost } from '../../limits/cost.js';
import { EventRef, SensorRef, TriggerRef } from '../../refs.js';
import { bothWaysArgs, forwardArgs } from '../connection.js';

const RecordingRef = builder.objectRef<Recording>('Recording').implement({
  description:
    'A trigger that an earthquake explains, because its recording began while the waves of that ' +
    'earthquake were passing the station.',
  fields: (t) => ({
    trigger: t.expose('trigger', {
      type: TriggerRef,
      nullable: false,
      description: 'Trigger with its peaks and times.',
    }),
    sensor: t.field({
      type: SensorRef,
      description: 'Sensor that made the recording; null when it has since moved to another project.',
      resolve: ({ trigger }, _, { unify }) => sensorOfTrigger(unify, trigger),
    }),
    distanceKm: t.float({
      description:
        'Distance from the epicentre to the sensor in kilometres, along the geodesic on the WGS 84 ' +
        'ellipsoid and rounded to metres. Null for a sensor under location masking, and for one that has moved to another ' +
        'project.',
      resolve: async (recording, _, { unify }) => {
        const km = await recordedAtKm(unify, recording);
        return km === null ? null : kmShown(km);
      },
    }),
    pArrival: t.field({
      type: 'DateTime',
      description:
        "Arrival time of the P wave at the sensor: from the catalogue's arrivals, which cost one " +
        'request to the service for each earthquake, or else estimated from the distance with the ' +
        'Earth model AK135. Null for a sensor under location masking, and for one that has moved to ' +
        'another project.',
      extensions: cost({ requests: (_, parents) => Math.ceil(parents / defaultFirst) }),
      resolve: async (recording, _, { unify }) => shown(await arrivalAt(unify, recording, 'p')),
    }),
    sArrival: t.field({
      type: 'DateTime',
      description:
        "Arrival time of the S wave at the sensor: from the catalogue's arrivals, which cost one " +
        'request to the service for each earthquake, or else estimated from the distance with the ' +
        'Earth model AK135. Null for a sensor under location masking, and for one that has moved to ' +
        'another project.',
      resolve: async (recording, _, { unify }) => shown(await arrivalAt(unify, recording, 's')),
    }),
  }),
});

const RecordingConnection = builder.connectionObject<typeof RecordingRef, RecordingSlice>(
  {
    type: RecordingRef,
    name: 'RecordingConnection',
    description: 'One page of the recordings of an earthquake.',
    fields: (t) => ({
      totalCount: t.exposeInt('totalCount', {
        nullable: false,
        description: 'Number of recordings on all pages together.',
      }),
    }),
  },
  { name: 'RecordingEdge', description: 'A recording with its cursor in the list.' },
);

builder.objectFields(EventRef, (t) => ({
  recordings: t.field({
    type: [RecordingRef],
    nullable: { list: true, items: false },
    description:
      'Triggers that this earthquake explains better than any other, the nearest to the epicentre ' +
      'first. Costs at most six requests to the service. Error: NOT_CONFIGURED without the project ' +
      'interface, which alone has triggers.',
    args: { first: forwardArgs().first },
    extensions: cost<{ readonly first?: number | null }>({
      requests: () => 6,
      items: (args) => countOf(args),
    }),
    resolve: async (event, args, { unify }) => (await recordingsOf(unify, event)).slice(0, countOf(args)),
  }),
  recordingsConnection: t.field({
    type: RecordingConnection,
    description:
      'The list `recordings` in pages, from either end. Costs at most six requests to the service, which ' +
      'it shares with `recordings` in the same operation. Errors: ' +
      'BAD_USER_INPUT, CURSOR_INVALID; NOT_CONFIGURED without the project interface, which alone has ' +
      'triggers.',
    args: bothWaysArgs(),
    extensions: cost<PageArgs>({
      requests: () => 6,
      items: (args) => countOf(args),
    }),
    resolve: (event, args, { unify }) => listRecordings(unify, event, args),
  }),
}));
