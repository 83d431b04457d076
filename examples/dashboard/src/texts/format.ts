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

// Dates are written as in ISO 8601, in any language. To make one formatter of Intl takes longer than all these texts.
const utcText = (date: Date): string => date.toISOString();
const localText = (date: Date): string =>
  utcText(new Date(date.getTime() - date.getTimezoneOffset() * 60_000));

function clock(time: string, textOf: (date: Date) => string): string {
  const [day = '', hours = ''] = textOf(new Date(time)).slice(0, 19).split('T');
  return textOf(new Date()).startsWith(day) ? hours : `${day} ${hours}`;
}

const eastOf: Readonly<Record<string, string>> = { en: 'E', de: 'O' };

function formatIn(language: string): Format {
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
    utc: (time) => clock(time, utcText),
    precise: (time) => new Date(time).toISOString().replace('T', ' ').slice(0, 22),
    local: (time) => clock(time, localText),
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
