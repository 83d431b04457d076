import { dayMs, minuteMs } from '../../clock.js';
/** docs/interfaces.md P8: a bucket per key that holds `burst` requests and gains `perMinute` of them a minute. */
export function tokenBuckets(
  perMinute: number,
  burst: number,
): (key: string, nowMs: number) => BucketVerdict {
  const perMs = perMinute / minuteMs;
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (key, nowMs) => {
    const bucket = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    buckets.set(key, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, nowMs - bucket.atMs) * perMs);
    bucket.atMs = nowMs;
    // A bucket filled in many small steps ends a hair below the whole number.
    if (bucket.tokens >= 1 - 1e-9) {
      bucket.tokens = Math.max(0, bucket.tokens - 1);
      return { isAllowed: true };
    }
    return { isAllowed: false, retryAfterS: Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)) };
  };
}

export type BucketVerdict =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly retryAfterS: number };

/** docs/interfaces.md C8: so many a minute and so many a day per key, in windows that begin with the first request. */
export function windowCounters(
  perMinute: number,
  perDay: number,
): { take(key: string, nowMs: number): WindowVerdict; untouched(nowMs: number): WindowVerdict } {
  const spans: readonly Span[] = [
    { limit: perMinute, lengthMs: minuteMs },
    { limit: perDay, lengthMs: dayMs },
  ];
  const windows = new Map<string, Window[]>();
  return {
    take(key, nowMs) {
      const known = windows.get(key) ?? [];
      const current = spans.map((span, index) => {
        const window = known[index];
        return window && nowMs < window.endsMs ? window : { ...span, used: 0, endsMs: nowMs + span.lengthMs };
      });
      windows.set(key, current);
      const isAllowed = current.every((window) => window.used < window.limit);
      if (isAllowed) for (const window of current) window.used++;
      return { isAllowed, ...tightest(current) };
    },
    untouched: (nowMs) => ({
      isAllowed: true,
      ...tightest(spans.map((span) => ({ ...span, used: 0, endsMs: nowMs + span.lengthMs }))),
    }),
  };
}

export interface WindowVerdict {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

interface Span {
  readonly limit: number;
  readonly lengthMs: number;
}

interface Window extends Span {
  used: number;
  readonly endsMs: number;
}

// Assumed: the headers speak of the minute until the day has less left; docs/interfaces.md C8 does not say of which they speak.
function tightest(windows: readonly Window[]): Omit<WindowVerdict, 'isAllowed'> {
  const least = windows.reduce((a, b) => (b.limit - b.used < a.limit - a.used ? b : a));
  return { limit: least.limit, remaining: least.limit - least.used, resetMs: least.endsMs };
}
