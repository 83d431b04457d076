/** A part of a window of time, from 0 to 1. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const whole: Span = { from: 0, to: 1 };

// Some ten samples of five minutes at 100 Hz.
const shortest = 1 / 3_000;

export const isWhole = ({ from, to }: Span): boolean => from <= 0 && to >= 1;

/** @param factor below 1 zooms in about the middle */
export function closer({ from, to }: Span, factor: number): Span {
  const middle = (from + to) / 2;
  const length = Math.max(shortest, Math.min(1, (to - from) * factor));
  return kept(middle - length / 2, length);
}

/** @param parts of the span's own length; negative is earlier */
export function shifted({ from, to }: Span, parts: number): Span {
  return kept(from + (to - from) * parts, to - from);
}

function kept(from: number, length: number): Span {
  const start = Math.max(0, Math.min(1 - length, from));
  return { from: start, to: start + length };
}
