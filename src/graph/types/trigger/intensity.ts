import type { Intensity } from '../../../unify/trigger/intensity.js';
import { builder } from '../../builder.js';
import { intensityShown } from '../../digits.js';

export const IntensityRef = builder.objectRef<Intensity>('Intensity').implement({
  description:
    'Modified Mercalli intensity of the shaking at a sensor, with the wording and colours of the USGS ' +
    'ShakeMap legend.',
  fields: (t) => ({
    mmi: t.float({
      nullable: false,
      description:
        'Modified Mercalli intensity from 1 to 10, with two decimals. The estimate ends at 10, although ' +
        'the scale itself reaches 12.',
      resolve: ({ mmi }) => intensityShown(mmi),
    }),
    roman: t.exposeString('roman', {
      nullable: false,
      description: 'Nearest whole intensity as a Roman numeral, from I to X.',
    }),
    shaking: t.exposeString('shaking', {
      nullable: false,
      description: "Perceived shaking at the nearest whole intensity, from 'not felt' to 'extreme'.",
    }),
    color: t.exposeString('color', {
      nullable: false,
      description: 'Colour of the nearest whole intensity in the ShakeMap legend, as #RRGGBB.',
    }),
  }),
});

export const AccelerationUnitEnum = builder.enumType('AccelerationUnit', {
  description:
    'Unit of acceleration. The service gives mg, and the gateway computes the other units from it.',
  values: {
    MG: { description: 'Milli-g: thousandths of standard gravity (9.80665 m/s²).' },
    PERCENT_G: { description: 'Percent of standard gravity (9.80665 m/s²).' },
    M_PER_S2: { description: 'Metres per second squared (m/s²).' },
    GAL: { description: 'Gal: centimetres per second squared (cm/s²).' },
  } as const,
});

export const VelocityUnitEnum = builder.enumType('VelocityUnit', {
  description: 'Unit of velocity. The service gives mm/s, and the gateway computes the other units from it.',
  values: {
    MM_PER_S: { description: 'Millimetres per second (mm/s).' },
    CM_PER_S: { description: 'Centimetres per second (cm/s).' },
    M_PER_S: { description: 'Metres per second (m/s).' },
  } as const,
});
