import type { IncomingHttpHeaders } from 'node:http';
import { asMoment, type Clock, dayMs, hourMs, minuteMs, plus, type UnixMs } from '../../clock.js';
import type { ObservedLimit } from './limiter.js';

// docs/interfaces.md C8: the highest tier.
const highestPerMinute = 1_000;

/**
 * The pause that upstream asks for, in milliseconds, between a second and an hour: `Retry-After` as seconds
 * (docs/interfaces.md P7) or HTTP date, else, for a request over the limit, `X-RateLimit-Reset`. Null without either.
 */
export function refusedForMs(
  headers: IncomingHttpHeaders,
  wallMs: UnixMs,
  overLimit: boolean,
): number | null {
  const waitMs = retryAfterMs(headers, wallMs) ?? (overLimit ? resetInMs(headers, wallMs, hourMs) : null);
  return waitMs === null ? null : Math.min(Math.max(waitMs, 1000), hourMs);
}

function retryAfterMs(headers: IncomingHttpHeaders, wallMs: UnixMs): number | null {
  const text = headers['retry-after']?.trim();
  if (!text) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse finds a year in almost any number.
  const dateMs = /^[a-z]{3},? /i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(dateMs)) return null;
  const readings = clocks(headers, wallMs).map((clockMs) => dateMs - clockMs);
  return readings.find((ms) => ms >= 0 && ms <= hourMs) ?? readings[0] ?? null;
}

/** The `X-RateLimit-*` headers of a response, as far as they are credible. */
export function observedIn(
  headers: IncomingHttpHeaders,
  clock: Pick<Clock, 'now' | 'wallMs'>,
): ObservedLimit {
  const limit = count(headers['x-ratelimit-limit']);
  const remaining = count(headers['x-ratelimit-remaining']);
  const resetMs = resetInMs(
    headers,
    clock.wallMs(),
    limit !== undefined && limit > highestPerMinute ? dayMs : minuteMs,
  );
  // A limit that resets later than in a minute, or exceeds the highest tier's, is not a per-minute limit.
  const ofMinute =
    limit !== undefined && limit >= 1 && limit <= highestPerMinute && (resetMs ?? 0) <= longest(minuteMs);
  const perMinute = ofMinute ? Math.floor(limit) : undefined;
  if (remaining === undefined || (limit !== undefined && remaining > limit)) return { perMinute };
  return { perMinute, remaining, resetAtMs: plus(clock.now(), Math.min(resetMs ?? minuteMs, hourMs)) };
}

// Assumed: X-RateLimit-Reset is seconds from now when small, a Unix time in seconds when large, one in milliseconds
// when larger; docs/interfaces.md C8 gives no unit. Of several readings the one that suits the window is taken, and
// none that is more than a day off.
function resetInMs(headers: IncomingHttpHeaders, wallMs: UnixMs, windowMs: number): number | null {
  const value = count(headers['x-ratelimit-reset']);
  if (value === undefined) return null;
  const readings = [
    value * 1000,
    value,
    ...clocks(headers, wallMs).flatMap((clockMs) => [value * 1000 - clockMs, value - clockMs]),
  ].filter((ms) => ms >= -1000);
  const inMs = readings.find((ms) => ms <= longest(windowMs)) ?? readings.find((ms) => ms <= longest(dayMs));
  // The Date header has whole seconds: a second is added, so that nothing is sent too early.
  return inMs === undefined ? null : Math.max(0, inMs) + 1000;
}

// Two seconds are added for clocks that disagree.
function longest(windowMs: number): number {
  return windowMs + 2000;
}

/** Upstream's clock, which may differ from ours, as its `Date` header shows it; then our own. */
function clocks(headers: IncomingHttpHeaders, wallMs: UnixMs): readonly UnixMs[] {
  const dateMs: UnixMs = asMoment(Date.parse(headers.date ?? ''));
  return Number.isNaN(dateMs) ? [wallMs] : [dateMs, wallMs];
}

function count(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
