import { type DurationMs, latest, type UnixMs } from '../../clock.js';
/** A span of time in Unix milliseconds, both ends inclusive. */
export interface Span {
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
}

/** The spans sorted by start; spans at most `gapMs` apart are merged. */
export function mergeSpans(spans: readonly Span[], gapMs: DurationMs): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last && span.fromMs <= last.toMs + gapMs) {
      merged[merged.length - 1] = { fromMs: last.fromMs, toMs: latest(last.toMs, span.toMs) };
    } else {
      merged.push(span);
    }
  }
  return merged;
}

/** The items of a list, sorted by a time in Unix milliseconds, that lie in a span. */
export function within<T>(
  sorted: readonly T[],
  timeOf: (item: T) => UnixMs,
  { fromMs, toMs }: Span,
): readonly T[] {
  return sorted.slice(
    firstIndex(sorted, (item) => timeOf(item) >= fromMs),
    firstIndex(sorted, (item) => timeOf(item) > toMs),
  );
}

/** Binary search: the index of the first item that fulfils a condition which all later items fulfil too. */
export function firstIndex<T>(sorted: readonly T[], isReached: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isReached(sorted[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
