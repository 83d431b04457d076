import { dayMs, plus, type UnixMs } from '../../../clock.js';

/** Longest range that upstream accepts: docs/interfaces.md P4 limits `to` minus `from` to 7 days. */
export const longestRangeMs = 7 * dayMs;

// 2026-01-05, a Monday; any fixed time would do.
const weekGridMs = 1_767_571_200_000;

/**
 * End of the window that begins at `fromMs`, in a range up to `toMs`. Ends lie on a grid when that needs no additional
 * window, so that overlapping ranges share windows, which are immutable once past (docs/behaviour.md 5.5).
 */
export function windowEndMs(fromMs: UnixMs, toMs: UnixMs): UnixMs {
  if (toMs - fromMs <= longestRangeMs) return toMs;
  const fewest = Math.ceil((toMs - fromMs) / longestRangeMs);
  const lastMs = plus(fromMs, longestRangeMs);
  const onGrid = [longestRangeMs, dayMs].map((stepMs) => plus(lastMs, -modulo(lastMs - weekGridMs, stepMs)));
  return (
    onGrid.find((endMs) => endMs > fromMs && 1 + Math.ceil((toMs - endMs) / longestRangeMs) <= fewest) ??
    lastMs
  );
}

/** Start of a window that ends at `endMs`, on the same grid. */
export function windowStartMs(endMs: UnixMs): UnixMs {
  return plus(endMs, -(modulo(endMs - weekGridMs, longestRangeMs) || longestRangeMs));
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
