import type { FieldMap } from '@pothos/core';
import type { Delivery } from '../../../live/tracking/change.js';
import type { Pair } from '../../../unify/sensor/identity.js';
import { sensorNow } from '../../../unify/sensor/lookup.js';
import { builder } from '../../builder.js';
import { SensorRef } from '../../refs.js';
import type { FieldsOf } from '../delivery-fields.js';
import { deviceIdsArg } from './device-id.js';

/** The field `sensor` of a change of a feed of sensors. */
export function changedSensor<C extends { readonly pair: Pair }>(t: FieldsOf<Delivery<C>>): FieldMap[string] {
  return t.field({
    type: SensorRef,
    nullable: false,
    description: 'Sensor with its present values, as a query would answer them.',
    resolve: ({ change: { pair } }, _args, { unify }) => sensorNow(unify, pair),
  });
}

/** The argument `filter` of a feed of sensors. */
export function sensorSelectionInput(name: string) {
  return builder.inputType(name, {
    description:
      'Selection of sensors for a subscription. A sensor must meet every condition given, and an empty ' +
      'list selects nothing.',
    fields: (t) => ({
      deviceIds: t.stringList({
        validate: deviceIdsArg,
        description:
          'Device IDs, of which the sensor must have one: 12 hexadecimal characters each, in any case. ' +
          'Error: BAD_USER_INPUT for another text.',
      }),
      stationCodes: t.stringList({
        description: 'Station codes, of which the sensor must have one; case matters.',
      }),
    }),
  });
}
