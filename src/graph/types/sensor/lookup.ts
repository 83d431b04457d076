import { readSensor, type SensorLookup } from '../../../unify/sensor/lookup.js';
import { asId } from '../../../upstream/decode/fields.js';
import { builder } from '../../builder.js';
import { cost } from '../../limits/cost.js';
import { idOf } from '../../node-id.js';
import { SensorRef } from '../../refs.js';
import { deviceIdArg } from './device-id.js';

const StationInput = builder.inputType('StationInput', {
  description: 'Name of a station by network code and station code, which together are unique.',
  fields: (t) => ({
    networkCode: t.string({ required: true, description: 'Seismic network code.' }),
    stationCode: t.string({ required: true, description: 'Seismic station code.' }),
  }),
});

const SensorLookupInput = builder.inputType('SensorLookup', {
  description: 'Name of one sensor, by exactly one of the fields.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({
      description:
        'Global id, taken from `Sensor.id`. Error: BAD_USER_INPUT for a text that is no global id of a ' +
        'sensor.',
    }),
    deviceId: t.string({
      validate: deviceIdArg,
      description:
        'Device ID: 12 hexadecimal characters in any case, with separators or without. Errors: ' +
        'BAD_USER_INPUT for another text, NOT_CONFIGURED without the project interface.',
    }),
    stationCode: t.string({
      description:
        'Station code in any network. Error: BAD_USER_INPUT when two networks have such a station, ' +
        'with a message that names them; use `station` then.',
    }),
    station: t.field({ type: StationInput, description: 'Network code and station code together.' }),
    catalogueId: t.string({
      description:
        'Identifier of the sensor in the catalogue interface. Error: NOT_CONFIGURED without that ' +
        'interface.',
    }),
  }),
});

builder.queryField('sensor', (t) =>
  t.field({
    type: SensorRef,
    description:
      'One sensor with the values of both interfaces; null when there is no such sensor. Costs at most ' +
      'two requests to the service. Errors: BAD_USER_INPUT for a wrong or ambiguous name, ' +
      'NOT_CONFIGURED when the interface of the identifier is not configured.',
    args: {
      by: t.arg({
        type: SensorLookupInput,
        required: true,
        description: 'Identifier of the sensor, in one of its forms.',
      }),
    },
    extensions: cost({ requests: () => 2 }),
    resolve: (_, { by }, { unify }) => readSensor(unify, lookupOf(by)),
  }),
);

function lookupOf(by: typeof SensorLookupInput.$inferInput): SensorLookup {
  if (by.id != null) return { key: idOf('Sensor', String(by.id), 'by.id') };
  if (by.deviceId != null) return { deviceId: asId(by.deviceId) };
  if (by.stationCode != null) return { stationCode: by.stationCode.trim() };
  if (by.station != null) {
    const { stationCode, networkCode } = by.station;
    return { station: { stationCode: stationCode.trim(), networkCode: networkCode.trim() } };
  }
  return { catalogueId: asId(by.catalogueId ?? '') };
}
