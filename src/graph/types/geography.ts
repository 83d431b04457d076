import { z } from 'zod';
import { builder } from '../builder.js';

/** Geographic inputs: three forms. Degrees are WGS 84; longitudes beyond ±180 wrap around. */

const latitude = z.number().min(-90, 'must be from -90 to 90').max(90, 'must be from -90 to 90');
const longitude = z.number().min(-540, 'must be from -540 to 540').max(540, 'must be from -540 to 540');

export const PointInput = builder.inputType('PointInput', {
  description: 'A place on the globe, by latitude and longitude (WGS 84).',
  fields: (t) => ({
    latitude: t.float({
      required: true,
      validate: latitude,
      description: 'Latitude in degrees north, from -90 to 90. Error: BAD_USER_INPUT outside that range.',
    }),
    longitude: t.float({
      required: true,
      validate: longitude,
      description:
        'Longitude in degrees east, from -180 to 180; values from -540 to 540 are accepted and mean ' +
        'the same place as 360 degrees more or less. Error: BAD_USER_INPUT outside that range.',
    }),
  }),
});

export const RadiusInput = builder.inputType('RadiusInput', {
  description:
    'A circle on the globe: every place within a geodesic distance of its centre (WGS 84). It may ' +
    'contain a pole.',
  fields: (t) => ({
    latitude: t.float({
      required: true,
      validate: latitude,
      description:
        'Latitude of the centre in degrees north, from -90 to 90. Error: BAD_USER_INPUT outside that ' +
        'range.',
    }),
    longitude: t.float({
      required: true,
      validate: longitude,
      description:
        'Longitude of the centre in degrees east, from -180 to 180; values from -540 to 540 are ' +
        'accepted and mean the same place as 360 degrees more or less. Error: BAD_USER_INPUT outside ' +
        'that range.',
    }),
    radiusKm: t.float({
      required: true,
      validate: z.number().positive('must be more than 0'),
      description: 'Radius of the circle in kilometres, more than 0. Error: BAD_USER_INPUT otherwise.',
    }),
  }),
});

export const BoundingBoxInput = builder.inputType('BoundingBoxInput', {
  description:
    'A box between two meridians and two parallels (WGS 84). It crosses the antimeridian when ' +
    '`minLongitude` is greater than `maxLongitude`.',
  validate: z
    .object({ minLatitude: z.number(), maxLatitude: z.number() })
    .loose()
    .refine((box) => box.minLatitude <= box.maxLatitude, {
      path: ['minLatitude'],
      message: 'must not be greater than maxLatitude',
    }),
  fields: (t) => ({
    minLongitude: t.float({
      required: true,
      validate: longitude,
      description:
        'Western edge in degrees east, from -180 to 180 (values from -540 to 540 are accepted). Error: ' +
        'BAD_USER_INPUT outside that range.',
    }),
    minLatitude: t.float({
      required: true,
      validate: latitude,
      description:
        'Southern edge in degrees north, from -90 to 90. Error: BAD_USER_INPUT outside that range, or ' +
        'when it is greater than `maxLatitude`.',
    }),
    maxLongitude: t.float({
      required: true,
      validate: longitude,
      description:
        'Eastern edge in degrees east, from -180 to 180 (values from -540 to 540 are accepted). Error: ' +
        'BAD_USER_INPUT outside that range.',
    }),
    maxLatitude: t.float({
      required: true,
      validate: latitude,
      description:
        'Northern edge in degrees north, from -90 to 90. Error: BAD_USER_INPUT outside that range.',
    }),
  }),
});
