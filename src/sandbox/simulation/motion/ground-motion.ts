/**
 * Median horizontal peaks by Atkinson (2015), Ground-Motion Prediction Equation for Small-to-Moderate Events at Short
 * Hypocentral Distances, BSSA 105(2A), equations 1–3 with the anelastic term: for rock sites, magnitude 3 to 6, and
 * here stretched a little to both sides.
 */
export function groundMotion(magnitude: number, hypocentralKm: number): GroundMotion {
  return {
    // 1 cm/s² is 1/0.980665 mg.
    pgaMg: peak(magnitude, hypocentralKm, -2.376, 1.818, -0.1153, -1.752, -0.002) / 0.980665,
    pgvMmS: peak(magnitude, hypocentralKm, -4.151, 1.762, -0.09509, -1.669, -0.0006) * 10,
  };
}

export interface GroundMotion {
  /** Thousandths of standard gravity. */
  readonly pgaMg: number;
  readonly pgvMmS: number;
}

/** cm/s² or cm/s, by the coefficients. */
function peak(
  magnitude: number,
  hypocentralKm: number,
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  c4: number,
) {
  // Near the source the peak saturates: an effective depth that grows with magnitude.
  const effectiveKm = Math.hypot(hypocentralKm, Math.max(1, 10 ** (-1.72 + 0.43 * magnitude)));
  const log = c0 + c1 * magnitude + c2 * magnitude ** 2 + c3 * Math.log10(effectiveKm) + c4 * effectiveKm;
  return 10 ** log;
}
