/** Ranges that upstream takes: docs/interfaces.md P4 limits `to` minus `from` to 7 days. */
export const longestRangeMs = 7 * 86_400_000;

const dayMs = 86_400_000;
// 2026-01-05, a Monday: any fixed point would do.
const weekGridMs = 1_767_571_200_000;

/**
 * Where the window that begins at `fromMs` ends, on the way to `toMs`. Ends lie on a grid where that costs no window
 * more, so that ranges that overlap share their windows, which are final once they are past (docs/behaviour.md 5.5).
 */
export function windowEndMs(fromMs: number, toMs: number): number {
  if (toMs - fromMs <= longestRangeMs) return toMs;
  const fewest = Math.ceil((toMs - fromMs) / longestRangeMs);
  const latest = fromMs + longestRangeMs;
  const onGrid = [longestRangeMs, dayMs].map((stepMs) => latest - modulo(latest - weekGridMs, stepMs));
  return (
    onGrid.find((endMs) => endMs > fromMs && 1 + Math.ceil((toMs - endMs) / longestRangeMs) <= fewest) ??
    latest
  );
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
