import { type ForwardMs, forever, hourMs, latest, minuteMs, plus } from '../../clock.js';
import type { ReadScope } from '../read/read.js';
import type { CachedResponse } from './response-cache.js';
import type { ListedVersion } from './validators.js';

/** The kinds of record, which age at different rates. */
export type RecordKind = 'trigger' | 'sensor' | 'event' | 'project' | 'health' | 'network' | 'waveform';

/** Lifetimes: how long a response of each kind is fresh (docs/behaviour.md 5.6). */
export const freshMs: Readonly<Record<RecordKind, number>> = {
  trigger: 2_000,
  sensor: 10_000,
  event: 10_000,
  // Assumed: a waveform that is not immutable yet can still be completed within seconds (docs/interfaces.md P1).
  waveform: 10_000,
  project: 30_000,
  health: minuteMs,
  network: 5 * minuteMs,
};

/**
 * Stale-while-revalidate reaches five lifetimes (docs/behaviour.md 5.6): up to this age a response is served at once
 * and revalidated in the background. An older one waits for upstream.
 */
export const staleWhileRevalidateMs = (kind: RecordKind): number => 5 * freshMs[kind];

/**
 * Up to this age a response is better than none while upstream fails or the budget is spent (docs/behaviour.md 5.6).
 */
export const staleIfErrorMs = 24 * hourMs;

// A resource that does not exist may appear at any time.
const notFoundMs = 10_000;

// Assumed: recordings have reached the service an hour later; docs/interfaces.md P1 only says 'a few seconds' for the
// way from the platform to the interface, and a sensor that was offline delivers when it is back.
export const recordedMs = hourMs;

// docs/behaviour.md 9.2: triggers can become visible up to a day after their start.
export const triggersListedMs = 24 * hourMs;

/** The ways in which a cached response may be served. */
export type Freshness = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'none';

/**
 * `maxAgeMs`: the oldest response accepted, where the caller has a limit of its own; `notBeforeMs`: the earliest read
 * time accepted. `listed`: the version in which a list last showed the resource.
 */
export function freshnessOf(
  cached: CachedResponse,
  kind: RecordKind,
  { maxAgeMs, notBeforeMs, listed, nowMs }: Wanted,
): Freshness {
  if (notBeforeMs !== undefined && cached.readAtMs < notBeforeMs) return 'none';
  const ageMs = nowMs - cached.readAtMs;
  if (cached.absent)
    return maxAgeMs !== 0 && ageMs <= Math.min(maxAgeMs ?? freshMs[kind], notFoundMs) ? 'fresh' : 'none';
  if (maxAgeMs !== undefined) return maxAgeMs > 0 && ageMs <= maxAgeMs ? 'fresh' : 'none';
  if (notBeforeMs !== undefined || cached.immutable) return 'fresh';
  const changed = listed !== undefined && cached.version !== null && listed.version !== cached.version;
  if (changed && listed.atMs > cached.readAtMs) return ageMs <= staleIfErrorMs ? 'stale-if-error' : 'none';
  // A list that shows the resource unchanged revalidates the response.
  const unchanged = listed !== undefined && listed.version === cached.version;
  const sinceMs = unchanged ? Math.min(ageMs, nowMs - listed.atMs) : ageMs;
  if (sinceMs <= freshMs[kind]) return 'fresh';
  if (sinceMs <= staleWhileRevalidateMs(kind)) return 'stale-while-revalidate';
  return ageMs <= staleIfErrorMs ? 'stale-if-error' : 'none';
}

/** When `freshnessOf` stops returning 'fresh', unless something changes; on the forward clock. */
export function freshUntilMs(
  cached: CachedResponse,
  kind: RecordKind,
  { maxAgeMs, notBeforeMs, listed }: Omit<Wanted, 'nowMs'>,
): ForwardMs {
  const { readAtMs } = cached;
  if (cached.absent) return plus(readAtMs, Math.min(maxAgeMs ?? freshMs[kind], notFoundMs));
  if (maxAgeMs !== undefined) return plus(readAtMs, maxAgeMs);
  if (notBeforeMs !== undefined || cached.immutable) return forever;
  const isUnchanged = listed !== undefined && listed.version === cached.version;
  return plus(isUnchanged ? latest(readAtMs, listed.atMs) : readAtMs, freshMs[kind]);
}

interface Wanted extends Pick<ReadScope, 'maxAgeMs' | 'notBeforeMs'> {
  readonly listed: ListedVersion | undefined;
  readonly nowMs: ForwardMs;
}
