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
  return formats[useContext(LanguageContext)] ?? formatIn('en');
}

const eastOf: Readonly<Record<string, string>> = { en: 'E', de: 'O' };

const formats: Readonly<Record<string, Format>> = { en: formatIn('en'), de: formatIn('de') };

function formatIn(language: string): Format {
  // Names of months and the order of a date differ between countries, which the texts do not know.
  const clock = (time: string, timeZone: string | undefined) => {
    const date = new Date(time);
    const options = { hourCycle: 'h23', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
    const zone = timeZone === undefined ? {} : { timeZone };
    const day = (moment: Date) => moment.toLocaleDateString('sv', zone);
    const text = date.toLocaleTimeString('en-GB', { ...options, ...zone });
    return day(date) === day(new Date()) ? text : `${day(date)} ${text}`;
  };
  const number = (value: number | null | undefined, digits = 0, unit = '') =>
    value === null || value === undefined
      ? '–'
      : `${value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits })}${unit && `\u202f${unit}`}`;
  const span = (ms: number) => {
    const s = Math.max(0, Math.round(ms / 1_000));
    if (s < 90) return `${s} s`;
    if (s < 5_400) return `${Math.round(s / 60)} min`;
    return s < 172_800 ? `${Math.round(s / 3_600)} h` : `${Math.round(s / 86_400)} d`;
  };
  return {
    utc: (time) => clock(time, 'UTC'),
    precise: (time) => new Date(time).toISOString().replace('T', ' ').slice(0, 22),
    local: (time) => clock(time, undefined),
    number,
    place: (latitude, longitude, digits = 2) =>
      `${number(Math.abs(latitude), digits)}° ${latitude < 0 ? 'S' : 'N'}, ` +
      `${number(Math.abs(longitude), digits)}° ${longitude < 0 ? 'W' : eastOf[language]}`,
    span,
    ageOf: (time, nowMs) => (time === null ? '–' : span(nowMs - Date.parse(time))),
  };
}
