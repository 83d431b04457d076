import type { Intensity } from '../../unify/intensity.js';
import { builder } from '../builder.js';

export const IntensityRef = builder.objectRef<Intensity>('Intensity').implement({
  description: 'Modified Mercalli intensity, in the words and colours of the ShakeMap legend.',
  fields: (t) => ({
    mmi: t.exposeFloat('mmi', { nullable: false, description: '1 to 10, with its decimals.' }),
    roman: t.exposeString('roman', { nullable: false, description: 'I to X: the nearest whole intensity.' }),
    shaking: t.exposeString('shaking', {
      nullable: false,
      description: "Perceived shaking of the nearest whole intensity, for example 'light'.",
    }),
    color: t.exposeString('color', {
      nullable: false,
      description: 'The colour that ShakeMap gives the nearest whole intensity, as #RRGGBB.',
    }),
  }),
});

export const AccelerationUnitEnum = builder.enumType('AccelerationUnit', {
  description: 'Units of acceleration. Upstream measures in mg; the others are computed from it.',
  values: {
    MG: { description: 'Thousandths of standard gravity (9.80665 m/s²).' },
    PERCENT_G: { description: 'Percent of standard gravity.' },
    M_PER_S2: { description: 'm/s².' },
    GAL: { description: 'cm/s².' },
  } as const,
});

export const VelocityUnitEnum = builder.enumType('VelocityUnit', {
  description: 'Units of velocity. Upstream measures in mm/s; the others are computed from it.',
  values: {
    MM_PER_S: { description: 'mm/s.' },
    CM_PER_S: { description: 'cm/s.' },
    M_PER_S: { description: 'm/s.' },
  } as const,
});
