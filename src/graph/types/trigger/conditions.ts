import type { InputFieldMap } from '@pothos/core';
import type { builder } from '../../builder.js';
import { BoundingBoxInput, RadiusInput } from '../geography.js';
import { deviceIdsArg } from '../sensor/device-id.js';
import { TriggerStatusEnum } from './trigger.js';

/** The conditions that the filters of the list of triggers and of their feed have in common. */
export function triggerConditions(t: InputFields) {
  return {
    deviceIds: t.stringList({
      validate: deviceIdsArg,
      description:
        'Device IDs, of which the sensor must have one: 12 hexadecimal characters each, in any case. ' +
        'An empty list selects nothing. Error: BAD_USER_INPUT for another text.',
    }),
    stationCodes: t.stringList({
      description:
        'Station codes, of which the sensor must have one; case matters, and an empty list selects ' +
        'nothing. A sensor that moves to another project loses its station code. A subscription still ' +
        'selects its open triggers by the code that they had before.',
    }),
    networkCodes: t.stringList({
      description:
        'Seismic network codes, of which the sensor must have one at present; case matters, and an ' +
        'empty list selects nothing.',
    }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description:
        'Box in which the present position of the sensor must lie, its edges included. A trigger of a ' +
        'sensor without a position that may be shown is left out.',
    }),
    within: t.field({
      type: RadiusInput,
      description:
        'Circle in which the present position of the sensor must lie, its edge included. A trigger of a ' +
        'sensor without a position that may be shown is left out.',
    }),
    status: t.field({
      type: TriggerStatusEnum,
      description:
        'Status of the trigger: in a list the present one, in a subscription the one that the change ' +
        'reports.',
    }),
    minPgaMg: t.float({
      description:
        'Least horizontal peak ground acceleration (PGA) in mg, included. A subscription delivers a ' +
        'trigger that opens below it once it reaches it: as UPDATED, or as CLOSED alone when that is ' +
        'first known at the end of the recording.',
    }),
  } satisfies InputFieldMap;
}

type SchemaTypes = (typeof builder)['$inferSchemaTypes'];
type InputFields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;
