import { builder } from '../builder.js';
import { deviceIdsArg } from './device-id.js';

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
