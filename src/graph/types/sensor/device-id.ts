import { z } from 'zod';
import { deviceIdOf } from '../../../unify/sensor/identity.js';

/**
 * A Device ID as an argument. Any other text, such as a station code, is BAD_USER_INPUT and not an unknown sensor: the
 * graph defines 12 hexadecimal characters, which the project interface shows only in examples (docs/interfaces.md P2).
 * A sensor with a Device ID of another form can be read by its station, its catalogue id or its global id.
 */
export const deviceIdArg = z.string().refine(isDeviceId, expected('')).nullish();

/** Several Device IDs. */
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
