import { builder } from '../../builder.js';

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
