import type { Num } from '../../upstream/decode/fields.js';

/** Conversions of peak ground motion from the units that upstream measures in (docs/interfaces.md P2, Trigger). */

export type AccelerationUnit = 'MG' | 'PERCENT_G' | 'M_PER_S2' | 'GAL';
export type VelocityUnit = 'MM_PER_S' | 'CM_PER_S' | 'M_PER_S';

/** Standard gravity in cm/s², exact by definition (3rd CGPM, 1901). */
const standardGravityGal = 980.665;

// Division by a power of ten preserves the short decimal that upstream wrote; 3 × 0.1 would give 0.30000000000000004.
const ofMg: Record<AccelerationUnit, (mg: number) => number> = {
  MG: (mg) => mg,
  PERCENT_G: (mg) => mg / 10,
  M_PER_S2: (mg) => (mg * standardGravityGal) / 100_000,
  GAL: (mg) => (mg * standardGravityGal) / 1000,
};

const ofMmPerS: Record<VelocityUnit, (mmPerS: number) => number> = {
  MM_PER_S: (mmPerS) => mmPerS,
  CM_PER_S: (mmPerS) => mmPerS / 10,
  M_PER_S: (mmPerS) => mmPerS / 1000,
};

/**
 * Converts an acceleration from thousandths of standard gravity to `unit`; missing and malformed values are unchanged.
 */
export function accelerationIn(unit: AccelerationUnit, mg: Num): Num {
  return typeof mg === 'number' ? ofMg[unit](mg) : mg;
}

/** Converts a velocity from mm/s to `unit`; missing and malformed values are unchanged. */
export function velocityIn(unit: VelocityUnit, mmPerS: Num): Num {
  return typeof mmPerS === 'number' ? ofMmPerS[unit](mmPerS) : mmPerS;
}
