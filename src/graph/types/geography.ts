import { z } from 'zod';
import { builder } from '../builder.js';

/** The three ways a client names a place. Degrees are WGS 84; longitudes beyond ±180 are the same place again. */

const latitude = z.number().min(-90, 'must be from -90 to 90').max(90, 'must be from -90 to 90');
const longitude = z.number().min(-540, 'must be from -540 to 540').max(540, 'must be from -540 to 540');

export const PointInput = builder.inputType('PointInput', {
  description: 'A place on the globe.',
  fields: (t) => ({
    latitude: t.float({ required: true, validate: latitude, description: 'Degrees north, -90 to 90.' }),
    longitude: t.float({ required: true, validate: longitude, description: 'Degrees east.' }),
  }),
});

export const RadiusInput = builder.inputType('RadiusInput', {
  description: 'Everything within a geodesic distance of a place. The circle may contain a pole.',
  fields: (t) => ({
    latitude: t.float({ required: true, validate: latitude, description: 'Degrees north, -90 to 90.' }),
    longitude: t.float({ required: true, validate: longitude, description: 'Degrees east.' }),
    radiusKm: t.float({
      required: true,
      validate: z.number().positive('must be more than 0'),
      description: 'Kilometres, more than 0.',
    }),
  }),
});

export const BoundingBoxInput = builder.inputType('BoundingBoxInput', {
  description: 'A box; minLongitude greater than maxLongitude crosses the antimeridian.',
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
      description: 'Western edge, degrees east.',
    }),
    minLatitude: t.float({
      required: true,
      validate: latitude,
      description: 'Southern edge, degrees north.',
    }),
    maxLongitude: t.float({
      required: true,
      validate: longitude,
      description: 'Eastern edge, degrees east.',
    }),
    maxLatitude: t.float({
      required: true,
      validate: latitude,
      description: 'Northern edge, degrees north.',
    }),
  }),
});
