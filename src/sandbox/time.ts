import { minuteMs } from '../clock.js';

const shape = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d))?$/;

/** Milliseconds since 1970 (with fraction) of an RFC 3339 time or plain date; undefined when it is neither, or no such day exists. */
export function instantOf(text: string): number | undefined {
  const parts = shape.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const wholeMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(wholeMs);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCFullYear() !== year) {
    return undefined;
  }
  return wholeMs + Number(`0${parts[7] ?? ''}`) * 1000 - offsetMs(parts[8]);
}

/** RFC 3339 in UTC; `digits` of a second's fraction, at most 6. */
export function textOf(ms: number, digits = 3): string {
  const perSecond = 10 ** digits;
  const units = Math.round((ms / 1000) * perSecond);
  const wholeS = Math.floor(units / perSecond);
  const base = new Date(wholeS * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${base}Z` : `${base}.${String(units - wholeS * perSecond).padStart(digits, '0')}Z`;
}

/** A time whose zone is UTC, written as `Z` or as an offset of nothing. */
export function isUtc(text: string): boolean {
  return /(?:Z|[+-]00:00)$/.test(text);
}

export function isPlainDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * minuteMs;
}
