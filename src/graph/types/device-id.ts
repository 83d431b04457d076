import { z } from 'zod';
import { deviceIdOf } from '../../unify/sensor/identity.js';

/**
 * A Device ID as an argument. What cannot be one, a station code say, is wrong input rather than a sensor that is not
 * there: the graph promises 12 hexadecimal characters, though the project interface only shows them (docs/interfaces.md P2). A
 * sensor whose Device ID should be of another shape is reached by its station, its catalogue id or its global id.
 */
export const deviceIdArg = z.string().refine(isDeviceId, expected('')).nullish();

/** Several of them. */
export const deviceIdsArg = z
  .array(z.string())
  .refine((texts) => texts.every(isDeviceId), expected(' each'))
  .nullish();

function isDeviceId(text: string): boolean {
  return deviceIdOf(text) !== null;
}

function expected(each: string): string {
  return `must be a Device ID${each}: 12 hexadecimal characters, in any case, with separators or without`;
}
