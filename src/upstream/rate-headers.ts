import type { IncomingHttpHeaders } from 'node:http';
import type { Observed } from './allowance.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
// catalogue §8: the highest tier.
const highestPerMinute = 1_000;

/**
 * For how many milliseconds upstream asks to be left alone, between a second and an hour: `Retry-After` as seconds
 * (key-scoped §7) or HTTP date, else, for a request over the limit, `X-RateLimit-Reset`. Null where it does not say.
 */
export function refusedForMs(headers: IncomingHttpHeaders, nowMs: number, overLimit: boolean): number | null {
  const waitMs = retryAfterMs(headers, nowMs) ?? (overLimit ? resetInMs(headers, nowMs, hourMs) : null);
  return waitMs === null ? null : Math.min(Math.max(waitMs, 1000), hourMs);
}

function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const text = headers['retry-after']?.trim();
  if (!text) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse finds a year in almost any number.
  const dateMs = /^[a-z]{3},? /i.test(text) ? Date.parse(text) : Number.NaN;
  // Upstream's clock may be off ours: its own `Date` says by how much.
  return Number.isNaN(dateMs) ? null : dateMs - upstreamNowMs(headers, nowMs);
}

/** `X-RateLimit-*` of an answer, as far as it can be believed. */
export function observedIn(headers: IncomingHttpHeaders, nowMs: number): Observed {
  const limit = count(headers['x-ratelimit-limit']);
  const remaining = count(headers['x-ratelimit-remaining']);
  // A limit above the highest tier's is that of the day, or nonsense: neither changes the pace.
  const perMinute = limit !== undefined && limit >= 1 && limit <= highestPerMinute ? limit : undefined;
  if (remaining === undefined || (limit !== undefined && remaining > limit)) return { perMinute };
  const longestMs = perMinute === undefined ? 24 * hourMs : minuteMs;
  const resetMs = resetInMs(headers, nowMs, longestMs) ?? minuteMs;
  return { perMinute, remaining, resetAtMs: nowMs + Math.min(resetMs, hourMs) };
}

// Assumed: X-RateLimit-Reset is seconds from now when small, a Unix time in seconds when large, one in milliseconds
// when larger; catalogue §8 gives no unit. One that is further off than its window is long is not believed.
function resetInMs(headers: IncomingHttpHeaders, nowMs: number, longestMs: number): number | null {
  const value = count(headers['x-ratelimit-reset']);
  if (value === undefined) return null;
  const upstreamMs = upstreamNowMs(headers, nowMs);
  const readings = [value * 1000, value, value * 1000 - upstreamMs, value - upstreamMs];
  // The Date header has whole seconds: a second is added, so that nothing is sent too early.
  const inMs = readings.find((reading) => reading >= -1000 && reading <= longestMs + 1000);
  return inMs === undefined ? null : Math.max(0, inMs) + 1000;
}

function upstreamNowMs(headers: IncomingHttpHeaders, nowMs: number): number {
  const dateMs = Date.parse(headers.date ?? '');
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}

function count(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
