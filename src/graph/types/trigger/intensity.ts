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
