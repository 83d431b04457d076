import type { Num } from '../upstream/decode/fields.js';

// Computed values are rounded here alone, as they are shown: filters and orders test the exact ones (docs/behaviour.md
// 6.6). Values that an interface gives are never rounded.

/** Kilometres to the metre: no epicentre and no sensor is located better. */
export function kmShown(km: number): number {
  return Math.round(km * 1000) / 1000;
}

/** Six significant digits: finer than any digitiser is calibrated, and for values whose unit is not a power of ten away. */
export function convertedShown(value: Num): Num {
  return typeof value === 'number' ? meanShown(value) : value;
}

/** A mean of measured values, likewise. */
export function meanShown(value: number): number {
  return Number(value.toPrecision(6));
}

/** Shifted by powers of ten: all digits that were given, without the noise of binary fractions. */
export function shiftedShown(value: Num): Num {
  return typeof value === 'number' ? Number(value.toPrecision(15)) : value;
}

/** An intensity to the hundredth: the estimate itself errs by more than half a unit. */
export function intensityShown(mmi: number): number {
  return Math.round(mmi * 100) / 100;
}
