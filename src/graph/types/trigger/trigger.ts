import { whenKnown } from '../../../maybe.js';
import { eventOfTrigger } from '../../../unify/trigger/event.js';
import { estimateIntensity } from '../../../unify/trigger/intensity.js';
import { readTrigger } from '../../../unify/trigger/lookup.js';
import { durationS } from '../../../unify/trigger/record.js';
import { locationNameOf, sensorOfTrigger } from '../../../unify/trigger/sensor.js';
import { type AccelerationUnit, accelerationIn, velocityIn } from '../../../unify/trigger/units.js';
import { known, type Num } from '../../../upstream/decode/fields.js';
import { builder } from '../../builder.js';
import { convertedShown, shiftedShown } from '../../digits.js';
import { shown } from '../../errors/malformed.js';
import { cost } from '../../limits/cost.js';
import { loadEach } from '../../load-nodes.js';
import { idOf, nodeKey } from '../../node-id.js';
import { EventRef, SensorRef, TriggerRef } from '../../refs.js';
import { IntensityRef } from './intensity.js';
import { AccelerationUnitEnum, VelocityUnitEnum } from './units.js';

export const TriggerStatusEnum = builder.enumType('TriggerStatus', {
  description: 'Status of a trigger.',
  values: {
    OPEN: { description: 'The sensor is still recording, and the values can change.' },
    CLOSED: { description: 'The sensor has stopped recording, and the values are final.' },
    UNKNOWN: { description: 'A status that the service does not document.' },
  } as const,
});

builder.node(TriggerRef, {
  description:
    'A trigger: a recording that a sensor of the project began by itself because the ground shook. Its ' +
    'peaks are those of the signal filtered to 0.5 to 25 Hz.',
  id: nodeKey((trigger) => trigger.key),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, (key) => readTrigger(unify, key)),
  fields: (t) => ({
    triggerId: t.exposeString('triggerId', {
      nullable: false,
      description: 'Identifier of the trigger in the project interface.',
    }),
    deviceId: t.exposeString('deviceId', {
      nullable: false,
      description: 'Device ID of the sensor that made the recording, as the service writes it.',
    }),
    stationCode: t.string({
      description: 'Station code of the sensor; null when the sensor has since moved to another project.',
      resolve: (trigger) => shown(trigger.stationCode),
    }),
    locationName: t.string({
      description:
        "Name of the sensor's location; null when it is not known, and for a sensor under location " +
        'masking.',
      resolve: (trigger, _, { unify }) => whenKnown(locationNameOf(unify, trigger), shown<string | null>),
    }),
    sensor: t.field({
      type: SensorRef,
      description: 'Sensor that made the recording; null when it has since moved to another project.',
      extensions: cost({ requests: () => 1 }),
      resolve: (trigger, _, { unify }) => sensorOfTrigger(unify, trigger),
    }),
    status: t.expose('status', {
      type: TriggerStatusEnum,
      nullable: false,
      description: 'Status of the recording: open, or closed with final values.',
    }),
    startTime: t.expose('startTime', {
      type: 'DateTime',
      nullable: false,
      description: 'Time at which the recording began.',
    }),
    endTime: t.field({
      type: 'DateTime',
      description:
        'Time at which the recording ended; null when the service gives none, as while the trigger is ' +
        'open.',
      resolve: (trigger) => shown(trigger.endTime),
    }),
    peakTime: t.field({
      type: 'DateTime',
      description: 'Time of the strongest ground motion; null when the service gives none.',
      resolve: (trigger) => shown(trigger.peakTime),
    }),
    durationS: t.float({
      description: 'Length of the recording in seconds, from its start to its end; null without an end.',
      resolve: (trigger) => shown(durationS(trigger)),
    }),
    pgaHorizontal: t.float({
      description:
        'Horizontal peak ground acceleration (PGA), in the unit of the argument `unit`; null when the ' +
        'service gives none.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationShown(unit, trigger.pgaHorizontalMg)),
    }),
    pgaHne: t.float({
      description:
        'Peak ground acceleration (PGA) on channel HNE, the east component of the accelerometer, in ' +
        'the unit of the argument `unit`; null when the service gives none.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationShown(unit, trigger.pgaHneMg)),
    }),
    pgaHnn: t.float({
      description:
        'Peak ground acceleration (PGA) on channel HNN, the north component of the accelerometer, in ' +
        'the unit of the argument `unit`; null when the service gives none.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationShown(unit, trigger.pgaHnnMg)),
    }),
    pgaHnz: t.float({
      description:
        'Peak ground acceleration (PGA) on channel HNZ, the vertical component of the accelerometer, ' +
        'in the unit of the argument `unit`; null when the service gives none.',
      args: accelerationArgs(),
      resolve: (trigger, { unit }) => shown(accelerationShown(unit, trigger.pgaHnzMg)),
    }),
    pgvEhz: t.float({
      description:
        'Peak ground velocity (PGV) on channel EHZ, the vertical component of the geophone, in the ' +
        'unit of the argument `unit`; null when the service gives none.',
      args: {
        unit: t.arg({
          type: VelocityUnitEnum,
          required: true,
          defaultValue: 'MM_PER_S',
          description: 'Unit of the velocity; the default is mm/s.',
        }),
      },
      resolve: (trigger, { unit }) => shown(shiftedShown(velocityIn(unit, trigger.pgvEhzMmPerS))),
    }),
    peakEhzCounts: t.float({
      description:
        'Peak on channel EHZ, the vertical component of the geophone, in counts of the digitiser; null ' +
        'when the service gives none.',
      resolve: (trigger) => shown(trigger.peakEhzCounts),
    }),
    peakFrequencyHz: t.float({
      description: 'Frequency at the peak in hertz; null when the service gives none.',
      resolve: (trigger) => shown(trigger.peakFrequencyHz),
    }),
    estimatedIntensity: t.field({
      type: IntensityRef,
      description:
        'Modified Mercalli intensity at the sensor, estimated from the horizontal PGA and the vertical ' +
        'PGV by Worden et al. (2012); the larger of the two estimates. Null without either peak.',
      resolve: (trigger) =>
        estimateIntensity({
          pgaMg: known(trigger.pgaHorizontalMg),
          pgvMmPerS: known(trigger.pgvEhzMmPerS),
        }),
    }),
    event: t.field({
      type: EventRef,
      description:
        'Earthquake that explains the recording best: its waves were passing the sensor when the ' +
        'recording began. Null when no known earthquake does.',
      extensions: cost({ requests: () => 4 }),
      resolve: (trigger, _, { unify }) => eventOfTrigger(unify, trigger),
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'Time at which the gateway read this from the service.',
      resolve: ({ readAtMs }, _, { unify }) => unify.dateOf(readAtMs),
    }),
  }),
});

builder.queryField('trigger', (t) =>
  t.field({
    type: TriggerRef,
    description:
      'One trigger; null when there is no such trigger. Costs one request to the service. Errors: ' +
      'BAD_USER_INPUT for a text that is no global id of a trigger, NOT_CONFIGURED without the project ' +
      'interface.',
    args: { id: t.arg.id({ required: true, description: 'Global id, taken from `Trigger.id`.' }) },
    extensions: cost({ requests: () => 1 }),
    resolve: (_, { id }, { unify }) => readTrigger(unify, idOf('Trigger', String(id), 'id')),
  }),
);

function accelerationShown(unit: AccelerationUnit, mg: Num): Num {
  const value = accelerationIn(unit, mg);
  return unit === 'GAL' || unit === 'M_PER_S2' ? convertedShown(value) : shiftedShown(value);
}

function accelerationArgs() {
  return builder.args((t) => ({
    unit: t.field({
      type: AccelerationUnitEnum,
      required: true,
      defaultValue: 'MG',
      description: 'Unit of the acceleration; the default is mg.',
    }),
  }));
}
