import { whenKnown } from '../../maybe.js';
import { estimateIntensity } from '../../unify/intensity.js';
import { readTrigger } from '../../unify/trigger.js';
import { eventOfTrigger } from '../../unify/trigger-event.js';
import { durationS } from '../../unify/trigger-record.js';
import { locationNameOf, sensorOfTrigger } from '../../unify/trigger-sensor.js';
import { accelerationIn, velocityIn } from '../../unify/units.js';
import { known } from '../../upstream/decode.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { loadEach } from '../load-nodes.js';
import { shown } from '../malformed.js';
import { idOf, nodeKey } from '../node-id.js';
import { EventRef, SensorRef, TriggerRef } from '../refs.js';
import { AccelerationUnitEnum, IntensityRef, VelocityUnitEnum } from './intensity.js';

export const TriggerStatusEnum = builder.enumType('TriggerStatus', {
  description: 'Whether a trigger is still recording (key-scoped §3).',
  values: {
    OPEN: { description: 'Still recording: values can change.' },
    CLOSED: { description: 'Finished: values are final.' },
    UNKNOWN: { description: 'A status that upstream does not document.' },
  } as const,
});

builder.node(TriggerRef, {
  description:
    'A triggered recording of the project. Peaks are measured after filtering to 0.5 to 25 Hz (key-scoped §2).',
  id: nodeKey((trigger) => trigger.key),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, (key) => readTrigger(unify, key)),
  fields: (t) => ({
    triggerId: t.exposeString('triggerId', {
      nullable: false,
      description: 'The identifier that upstream gives it.',
    }),
    deviceId: t.exposeString('deviceId', {
      nullable: false,
      description: 'Device ID of the sensor that recorded it, as upstream writes it.',
    }),
    stationCode: t.string({
      description: 'Station code of the sensor; null when the sensor has since moved to another project.',
      resolve: (trigger) => shown(trigger.stationCode),
    }),
    locationName: t.string({
      description: "Name of the sensor's location; null when withheld by location masking.",
      resolve: (trigger, _, { unify }) => whenKnown(locationNameOf(unify, trigger), shown<string | null>),
    }),
    sensor: t.field({
      type: SensorRef,
      description: 'The sensor that recorded it; null when it has since moved to another project.',
      extensions: cost({ requests: () => 1 }),
      resolve: (trigger, _, { unify }) => sensorOfTrigger(unify, trigger),
    }),
    status: t.expose('status', {
      type: TriggerStatusEnum,
      nullable: false,
      description: 'Whether it is still recording.',
    }),
    startTime: t.expose('startTime', {
      type: 'DateTime',
      nullable: false,
      description: 'When the recording started.',
    }),
    endTime: t.field({
      type: 'DateTime',
      description: 'When the recording ended; null while it is open, where upstream gives none.',
      resolve: (trigger) => shown(trigger.endTime),
    }),
    peakTime: t.field({
      type: 'DateTime',
      description: 'When the ground moved most.',
      resolve: (trigger) => shown(trigger.peakTime),
    }),
    durationS: t.float({
      description: 'Seconds from the start to the end; null without an end.',
      resolve: (trigger) => shown(durationS(trigger)),
    }),
    pgaHorizontal: t.float({
      description: 'Peak ground acceleration, horizontal.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationIn(unit, trigger.pgaHorizontalMg)),
    }),
    pgaHne: t.float({
      description: 'Peak ground acceleration of component HNE.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationIn(unit, trigger.pgaHneMg)),
    }),
    pgaHnn: t.float({
      description: 'Peak ground acceleration of component HNN.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationIn(unit, trigger.pgaHnnMg)),
    }),
    pgaHnz: t.float({
      description: 'Peak ground acceleration of component HNZ.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationIn(unit, trigger.pgaHnzMg)),
    }),
    pgvEhz: t.float({
      description: 'Peak ground velocity, vertical (EHZ).',
      args: {
        unit: t.arg({
          type: VelocityUnitEnum,
          required: true,
          defaultValue: 'MM_PER_S',
          description: 'Unit of the answer.',
        }),
      },
      resolve: (trigger, { unit }) => shown(velocityIn(unit, trigger.pgvEhzMmPerS)),
    }),
    peakEhzCounts: t.float({
      description: 'Peak of EHZ in counts of the digitiser.',
      resolve: (trigger) => shown(trigger.peakEhzCounts),
    }),
    peakFrequencyHz: t.float({
      description: 'Dominant frequency at the peak, in hertz (`peak_hz`).',
      resolve: (trigger) => shown(trigger.peakFrequencyHz),
    }),
    estimatedIntensity: t.field({
      type: IntensityRef,
      description:
        'Modified Mercalli intensity estimated from the horizontal acceleration and the vertical velocity (Worden et ' +
        'al. 2012), the larger of the two. Null without peaks.',
      resolve: (trigger) =>
        estimateIntensity({
          pgaMg: known(trigger.pgaHorizontalMg),
          pgvMmPerS: known(trigger.pgvEhzMmPerS),
        }),
    }),
    event: t.field({
      type: EventRef,
      description:
        'The earthquake that explains this recording best, if one is known: the sensor lies where its waves were due when ' +
        'the recording started.',
      extensions: cost({ requests: () => 4 }),
      resolve: (trigger, _, { unify }) => eventOfTrigger(unify, trigger),
    }),
    asOf: t.expose('asOf', {
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway read this from upstream.',
    }),
  }),
});

builder.queryField('trigger', (t) =>
  t.field({
    type: TriggerRef,
    description: 'A trigger by its global id; null when it is not there. One upstream request.',
    args: { id: t.arg.id({ required: true, description: 'Global id, as `id` of a Trigger gave it.' }) },
    extensions: cost({ requests: () => 1 }),
    resolve: (_, { id }, { unify }) => readTrigger(unify, idOf('Trigger', String(id), 'id')),
  }),
);

function accelerationArgs() {
  return builder.args((t) => ({
    unit: t.field({
      type: AccelerationUnitEnum,
      required: true,
      defaultValue: 'MG',
      description: 'Unit of the answer.',
    }),
  }));
}
