import { useContext } from 'react';
import { LanguageContext } from './texts.js';

export interface Format {
  /** Time of day in UTC, with the date where it is not today. */
  utc(time: string): string;
  /** Date and time in UTC to the hundredth of a second, for values that are compared. */
  precise(time: string): string;
  local(time: string): string;
  number(value: number | null | undefined, digits?: number, unit?: string): string;
  /** A length of time in its largest unit, such as `3 min`. */
  span(ms: number): string;
  ageOf(time: string | null, nowMs: number): string;
  /** Such as `33.74° N, 116.83° W`. */
  place(latitude: number, longitude: number, digits?: number): string;
}

export function useFormat(): Format {
  return formats[useContext(LanguageContext)] ?? english;
}

interface Zone {
  readonly day: Intl.DateTimeFormat;
  readonly hours: Intl.DateTimeFormat;
}

/** Kept, since making a formatter takes longer than all that it formats. Dates are written as in ISO 8601, in any language. */
function zone(options: Intl.DateTimeFormatOptions): Zone {
  const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return {
    day: new Intl.DateTimeFormat('sv', options),
    hours: new Intl.DateTimeFormat('en-GB', { ...parts, ...options }),
  };
}

const utcZone = zone({ timeZone: 'UTC' });
const localZone = zone({});

const eastOf: Readonly<Record<string, string>> = { en: 'E', de: 'O' };

function formatIn(language: string): Format {
  const clock = (time: string, { day, hours }: Zone) => {
    const date = new Date(time);
    const today = day.format(new Date());
    return day.format(date) === today ? hours.format(date) : `${day.format(date)} ${hours.format(date)}`;
  };
  const kept = new Map<number, Intl.NumberFormat>();
  const numberWith = (digits: number) => {
    const known =
      kept.get(digits) ??
      new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    kept.set(digits, known);
    return known;
  };
  const number = (value: number | null | undefined, digits = 0, unit = '') =>
    value === null || value === undefined
      ? '–'
      : `${numberWith(digits).format(value)}${unit && `\u202f${unit}`}`;
  const span = (ms: number) => {
    const s = Math.max(0, Math.round(ms / 1_000));
    if (s < 90) return `${s} s`;
    if (s < 5_400) return `${Math.round(s / 60)} min`;
    return s < 172_800 ? `${Math.round(s / 3_600)} h` : `${Math.round(s / 86_400)} d`;
  };
  return {
    utc: (time) => clock(time, utcZone),
    precise: (time) => new Date(time).toISOString().replace('T', ' ').slice(0, 22),
    local: (time) => clock(time, localZone),
    number,
    place: (latitude, longitude, digits = 2) =>
      `${number(Math.abs(latitude), digits)}° ${latitude < 0 ? 'S' : 'N'}, ` +
      `${number(Math.abs(longitude), digits)}° ${longitude < 0 ? 'W' : eastOf[language]}`,
    span,
    ageOf: (time, nowMs) => (time === null ? '–' : span(nowMs - Date.parse(time))),
  };
}

const english = formatIn('en');
const formats: Readonly<Record<string, Format>> = { en: english, de: formatIn('de') };
