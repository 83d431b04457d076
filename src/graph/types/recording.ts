import { arrivalAt, type Recording, recordedAtKm, recordingsOf } from '../../unify/recording.js';
import { sensorOfTrigger } from '../../unify/trigger-sensor.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { shown } from '../malformed.js';
import { EventRef, SensorRef, TriggerRef } from '../refs.js';
import { defaultFirst, forwardArgs } from './connection.js';

const RecordingRef = builder.objectRef<Recording>('Recording').implement({
  description:
    "A trigger that an earthquake explains: its station lies where the earthquake's waves were due when it started.",
  fields: (t) => ({
    trigger: t.expose('trigger', { type: TriggerRef, nullable: false, description: 'The trigger.' }),
    sensor: t.field({
      type: SensorRef,
      description: 'The sensor that recorded it.',
      resolve: ({ trigger }, _, { unify }) => sensorOfTrigger(unify, trigger),
    }),
    distanceKm: t.float({
      description: 'From the epicentre to the sensor, in kilometres. Null for a masked sensor.',
      resolve: (recording, _, { unify }) => recordedAtKm(unify, recording),
    }),
    pArrival: t.field({
      type: 'DateTime',
      description:
        "When the P wave reached the sensor: from the catalogue's arrivals where there are any, which costs an upstream " +
        'request for each event, else estimated from the distance by the Earth model AK135. Null for a masked sensor.',
      extensions: cost({ requests: (_, parents) => Math.ceil(parents / defaultFirst) }),
      resolve: async (recording, _, { unify }) => shown(await arrivalAt(unify, recording, 'p')),
    }),
    sArrival: t.field({
      type: 'DateTime',
      description: 'When the S wave reached the sensor, as `pArrival`.',
      resolve: async (recording, _, { unify }) => shown(await arrivalAt(unify, recording, 's')),
    }),
  }),
});

builder.objectFields(EventRef, (t) => ({
  recordings: t.field({
    type: [RecordingRef],
    nullable: { list: true, items: false },
    description: 'Recordings that this earthquake explains, nearest first: who felt it, and how much.',
    args: { first: forwardArgs().first },
    extensions: cost<{ readonly first?: number | null }>({
      requests: () => 6,
      items: ({ first }) => first ?? defaultFirst,
    }),
    resolve: async (event, { first }, { unify }) =>
      (await recordingsOf(unify, event)).slice(0, first ?? defaultFirst),
  }),
}));
