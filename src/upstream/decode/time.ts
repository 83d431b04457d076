import { z } from 'zod';
import { asMoment, msOf, type UnixMs, type UnixS } from '../../clock.js';
import { MalformedValue } from './fields.js';

export interface ReadTime {
  /** Whole Unix seconds, rounded down. A leap second counts as the second before it. */
  readonly unixS: UnixS;
  /** Decimal digits of the second, as in the source. */
  readonly digits: string;
  readonly leap: boolean;
}

/**
 * ISO 8601 in extended form (RFC 3339) or basic form, a plain date (midnight UTC), or Unix time. A time without a zone
 * is UTC; 24:00 is the end of its day. Null for any other text.
 */
export function readTime(text: string): ReadTime | null {
  const trimmed = text.trim();
  const match = extended.exec(trimmed) ?? basic.exec(trimmed);
  if (!match) return unixTime(trimmed);
  const [, year, month, day, hour = '00', minute = '00', second = '00', digits = '', zone = 'Z'] = match;
  const offsetMinutes = offsetOf(zone);
  const leap = second === '60';
  const endsDay = hour === '24' && Number(minute) === 0 && Number(second) === 0 && Number(digits) === 0;
  if (offsetMinutes === null || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(hour) > 23 && !endsDay) return null;
  const midnightMs = midnight(Number(year), Number(month), Number(day));
  if (midnightMs === null) return null;
  const secondOfDay = Number(hour) * 3600 + Number(minute) * 60 + (leap ? 59 : Number(second));
  const unixS: UnixS = asMoment(midnightMs / 1000 + secondOfDay - offsetMinutes * 60);
  // A leap second is the last second of a UTC day, whatever its offset from UTC is.
  if (leap && ((unixS % 86_400) + 86_400) % 86_400 !== 86_399) return null;
  return { unixS, digits, leap };
}

/** Unix milliseconds with a fraction, rounded to double precision. */
export function unixMsOf({ unixS, digits, leap }: ReadTime): UnixMs {
  const fraction = digits === '' ? 0 : Number(`0.${digits}`);
  return asMoment((unixS + (leap ? 1 : 0) + fraction) * 1000);
}

/** The time by which a list orders its records: without it the record is dropped and counted (docs/behaviour.md 5.12). */
export const listTime = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((text) => readTime(text) !== null)
  .transform((text) => (extended.test(text) ? text : rfc3339Of(text)));

/** Unix seconds; the field may also hold Unix milliseconds, or a text that `readTime` can read. */
export const unixSeconds = z.unknown().optional().transform(secondsOf);

function secondsOf(value: unknown): UnixS | null | MalformedValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' && Math.abs(value) < leastMs) return asMoment(value);
  const time = typeof value === 'number' || typeof value === 'string' ? readTime(String(value)) : null;
  if (!time) return new MalformedValue('Upstream sent a value that is not a time');
  return asMoment(time.unixS + Number(`0.${time.digits || '0'}`));
}

function rfc3339Of(text: string): string {
  const time = readTime(text);
  if (!time) return text;
  const whole = new Date(msOf(time.unixS)).toISOString().slice(0, 17);
  const second = time.leap ? '60' : new Date(msOf(time.unixS)).toISOString().slice(17, 19);
  return `${whole}${second}${time.digits === '' ? '' : `.${time.digits}`}Z`;
}

// Assumed: a number of at least 1e11 is Unix milliseconds, since as seconds it would be beyond the year 5000.
const leastMs = 1e11;
const mostMs = 1e14;

// At least nine digits: a shorter number may be a date or a counter.
function unixTime(text: string): ReadTime | null {
  const [, whole = '', fraction = ''] = /^(\d{9,14})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '' || Number(whole) >= mostMs) return null;
  if (Number(whole) < leastMs) return { unixS: asMoment(Number(whole)), digits: fraction, leap: false };
  return {
    unixS: asMoment(Number(whole.slice(0, -3))),
    digits: `${whole.slice(-3)}${fraction}`,
    leap: false,
  };
}

const extended =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s?([Zz]|[+-]\d{2}(?::?\d{2})?))?)?$/;
const basic =
  /^(\d{4})(\d{2})(\d{2})(?:[Tt](\d{2})(\d{2})(?:(\d{2})(?:[.,](\d+))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

function offsetOf(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function midnight(year: number, month: number, day: number): UnixMs | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? asMoment(date.getTime()) : null;
}
