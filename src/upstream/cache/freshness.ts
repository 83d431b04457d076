import type { ReadScope } from '../read/read.js';
import type { CachedResponse } from './response-cache.js';
import type { ListedVersion } from './validators.js';

/** What a record is, as far as its ageing goes. */
export type RecordKind = 'trigger' | 'sensor' | 'event' | 'project' | 'health' | 'network' | 'waveform';

/** How long a response is fresh: its lifetime (docs/behaviour.md 5.6). */
export const freshMs: Readonly<Record<RecordKind, number>> = {
  trigger: 2_000,
  sensor: 10_000,
  event: 10_000,
  // Assumed: a waveform that is not final yet can still be completed within seconds (docs/interfaces.md P1).
  waveform: 10_000,
  project: 30_000,
  health: 60_000,
  network: 300_000,
};

const hourMs = 3_600_000;

/**
 * Stale-while-revalidate reaches five lifetimes (docs/behaviour.md 5.6): up to this age a response is served at once and
 * revalidated in the background. An older one waits for upstream.
 */
export const staleWhileRevalidateMs = (kind: RecordKind): number => 5 * freshMs[kind];

/** Up to this age a response is better than none while upstream fails or the budget is spent (docs/behaviour.md 5.6). */
export const staleIfErrorMs = 24 * hourMs;

// What upstream said is not there may appear at any time.
const notFoundMs = 10_000;

// Assumed: what sensors recorded has reached the service an hour later; docs/interfaces.md P1 only says 'a few seconds' for
// the way from the platform to the interface, and a sensor that was cut off delivers when it is back.
export const recordedMs = hourMs;

// docs/behaviour.md 9.2: triggers can become visible up to a day after their start.
export const triggersListedMs = 24 * hourMs;

/** What a cached response is good for. */
export type Freshness = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'none';

/**
 * `maxAgeMs`: the oldest answer that will do, where the caller has an age of its own in mind; `notBeforeMs`: the earliest
 * time that it may have been read at. `seen`: how a list last showed the resource.
 */
export function freshnessOf(
  kept: CachedResponse,
  kind: RecordKind,
  { maxAgeMs, notBeforeMs, seen, nowMs }: Wanted,
): Freshness {
  if (notBeforeMs !== undefined && kept.readAtMs < notBeforeMs) return 'none';
  const ageMs = nowMs - kept.readAtMs;
  if (kept.absent)
    return maxAgeMs !== 0 && ageMs <= Math.min(maxAgeMs ?? freshMs[kind], notFoundMs) ? 'fresh' : 'none';
  if (maxAgeMs !== undefined) return maxAgeMs > 0 && ageMs <= maxAgeMs ? 'fresh' : 'none';
  if (notBeforeMs !== undefined || kept.final) return 'fresh';
  const changed = seen !== undefined && kept.version !== null && seen.version !== kept.version;
  if (changed && seen.atMs > kept.readAtMs) return ageMs <= staleIfErrorMs ? 'stale-if-error' : 'none';
  // A list that shows it unchanged is as good as having asked again.
  const unchanged = seen !== undefined && seen.version === kept.version;
  const sinceMs = unchanged ? Math.min(ageMs, nowMs - seen.atMs) : ageMs;
  if (sinceMs <= freshMs[kind]) return 'fresh';
  if (sinceMs <= staleWhileRevalidateMs(kind)) return 'stale-while-revalidate';
  return ageMs <= staleIfErrorMs ? 'stale-if-error' : 'none';
}

/** Until when `freshnessOf` says 'fresh', unless something changes; in milliseconds since 1970. */
export function freshUntilMs(
  kept: CachedResponse,
  kind: RecordKind,
  { maxAgeMs, notBeforeMs, seen }: Omit<Wanted, 'nowMs'>,
): number {
  const { readAtMs } = kept;
  if (kept.absent) return readAtMs + Math.min(maxAgeMs ?? freshMs[kind], notFoundMs);
  if (maxAgeMs !== undefined) return readAtMs + maxAgeMs;
  if (notBeforeMs !== undefined || kept.final) return Number.POSITIVE_INFINITY;
  const isUnchanged = seen !== undefined && seen.version === kept.version;
  return (isUnchanged ? Math.max(readAtMs, seen.atMs) : readAtMs) + freshMs[kind];
}

interface Wanted extends Pick<ReadScope, 'maxAgeMs' | 'notBeforeMs'> {
  readonly seen: ListedVersion | undefined;
  readonly nowMs: number;
}
