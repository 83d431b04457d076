import { readSensor, type SensorLookup } from '../../unify/sensor-lookup.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { idOf } from '../node-id.js';
import { SensorRef } from '../refs.js';
import { deviceIdArg } from './device-id.js';

const StationInput = builder.inputType('StationInput', {
  description: 'A station by both of its codes.',
  fields: (t) => ({
    networkCode: t.string({ required: true, description: 'Seismic network code.' }),
    stationCode: t.string({ required: true, description: 'Seismic station code.' }),
  }),
});

const SensorLookupInput = builder.inputType('SensorLookup', {
  description: 'Exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Global id, as `id` of a Sensor gave it.' }),
    deviceId: t.string({
      validate: deviceIdArg,
      description: 'Device ID, 12 hexadecimal characters, any case.',
    }),
    stationCode: t.string({
      description: 'Station code. BAD_USER_INPUT naming the networks where two share it: use `station`.',
    }),
    station: t.field({ type: StationInput, description: 'Station and network code together.' }),
    catalogueId: t.string({ description: "The catalogue's identifier." }),
  }),
});

builder.queryField('sensor', (t) =>
  t.field({
    type: SensorRef,
    description: 'One sensor; null when there is no such sensor.',
    args: { by: t.arg({ type: SensorLookupInput, required: true, description: 'How it is named.' }) },
    extensions: cost({ requests: () => 2 }),
    resolve: (_, { by }, { unify }) => readSensor(unify, lookupOf(by)),
  }),
);

function lookupOf(by: typeof SensorLookupInput.$inferInput): SensorLookup {
  if (by.id != null) return { key: idOf('Sensor', String(by.id), 'by.id') };
  if (by.deviceId != null) return { deviceId: by.deviceId };
  if (by.stationCode != null) return { stationCode: by.stationCode };
  if (by.station != null) return { station: by.station };
  return { catalogueId: by.catalogueId ?? '' };
}
