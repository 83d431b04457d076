import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { observedIn, refusedForMs } from '../../src/upstream/rate-limit/response-headers.js';

const clock = new ManualClock(Date.UTC(2026, 0, 1, 12));
const now = clock.wallMs();
const observed = (headers: IncomingHttpHeaders) => {
  const { resetAtMs, ...rest } = observedIn(headers, clock);
  return { ...rest, ...(resetAtMs !== undefined && { resetInMs: resetAtMs - clock.now() }) };
};
const date = new Date(now).toUTCString();

describe('Retry-After', () => {
  it.each<[value: string, ms: number | null]>([
    ['5', 5_000],
    ['0.5', 1_000],
    ['0', 1_000],
    ['120', 120_000],
    ['99999999', 3_600_000],
    [new Date(now + 30_000).toUTCString(), 30_000],
    [new Date(now - 30_000).toUTCString(), 1_000],
    ['-5', null],
    ['soon', null],
    ['', null],
  ])('of "%s" is %s ms', (value, ms) => {
    expect(refusedForMs({ 'retry-after': value, date }, now, true)).toBe(ms);
  });

  it("as a date is measured by upstream's own clock", () => {
    const upstreamNow = now - 600_000;
    const headers = {
      'retry-after': new Date(upstreamNow + 30_000).toUTCString(),
      date: new Date(upstreamNow).toUTCString(),
    };
    expect(refusedForMs(headers, now, true)).toBe(30_000);
  });

  it('gives way to the reset of the limit where only that is said, and only for a request over the limit', () => {
    const headers = { 'x-ratelimit-reset': '20', date };
    expect(refusedForMs(headers, now, true)).toBe(21_000);
    expect(refusedForMs(headers, now, false)).toBeNull();
    expect(refusedForMs({}, now, true)).toBeNull();
  });
});

describe('X-RateLimit', () => {
  it("is read by our own clock where upstream's Date makes no sense of it", () => {
    const reset = String(now / 1000 + 40);
    const wrong = {
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': reset,
      date: 'Thu, 01 Jan 1970 00:00:00 GMT',
    };
    expect(observed(wrong).resetInMs).toBe(41_000);
  });

  const headers = (limit: unknown, remaining: unknown, reset: unknown) => ({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
    date,
  });

  it.each<[unit: string, reset: number]>([
    ['seconds from now', 40],
    ['milliseconds from now', 40_000],
    ['Unix seconds', now / 1000 + 40],
    ['Unix milliseconds', now + 40_000],
  ])('says when the minute is over in %s', (_, reset) => {
    expect(observed(headers(60, 3, reset))).toEqual({
      perMinute: 60,
      remaining: 3,
      resetInMs: 41_000,
    });
  });

  it('of a day does not change the rate, and is looked at again within the hour', () => {
    const daily = observed(headers(10_000, 0, 40_000));
    expect(daily).toEqual({ perMinute: undefined, remaining: 0, resetInMs: 3_600_000 });
    const small = observed(headers(500, 2, now / 1000 + 7_200));
    expect(small).toEqual({ perMinute: undefined, remaining: 2, resetInMs: 3_600_000 });
  });

  it('without a reset, or one that cannot be, is taken to be of this minute', () => {
    for (const reset of ['', 'soon', 1e15, 5e8]) {
      expect(observed(headers(60, 0, reset)).resetInMs).toBe(60_000);
    }
  });

  it('never raises the rate above the highest tier, nor believes more left than there is', () => {
    expect(observed(headers(1_000_000, 999_999, 30)).perMinute).toBeUndefined();
    expect(observed(headers(60, 61, 30))).toEqual({ perMinute: 60 });
    expect(observed(headers(0, 0, 30)).perMinute).toBeUndefined();
    expect(observed(headers('many', 'some', 'later'))).toEqual({ perMinute: undefined });
    expect(observed({})).toEqual({ perMinute: undefined });
  });
});
