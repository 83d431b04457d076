import { accelerationIn, velocityIn } from './units.js';

/** Modified Mercalli intensity, as ShakeMap shows it. */
export interface Intensity {
  /** 1 to 10, not rounded. */
  readonly mmi: number;
  /** Roman numeral of the nearest whole intensity, I to X. */
  readonly roman: string;
  readonly shaking: string;
  /** #RRGGBB. */
  readonly color: string;
}

/**
 * Intensity estimated from the peaks of one recording, the larger of the two; null when there is neither.
 *
 * Worden, Gerstenberger, Rhoades and Wald (2012), Bull. Seism. Soc. Am. 102(1), 204–221, table 2 and equation 3,
 * without the optional magnitude and distance terms. Their peaks are of the larger horizontal component;
 * Assumed: the vertical velocity, the only one that upstream measures, stands in for it (it is rarely the larger, so
 * the estimate errs to the low side).
 */
export function estimateIntensity(peaks: {
  readonly pgaMg: number | null;
  readonly pgvMmPerS: number | null;
}): Intensity | null {
  const pgaGal = accelerationIn('GAL', peaks.pgaMg);
  const pgvCmPerS = velocityIn('CM_PER_S', peaks.pgvMmPerS);
  const estimates = [
    typeof pgaGal === 'number' ? worden(pgaGal, ofPgaGal) : null,
    typeof pgvCmPerS === 'number' ? worden(pgvCmPerS, ofPgvCmPerS) : null,
  ].filter((estimate) => estimate !== null);
  return estimates.length === 0 ? null : intensityOf(Math.max(...estimates));
}

interface Bilinear {
  /** log10 of the peak where the two lines meet. */
  readonly bend: number;
  readonly below: readonly [intercept: number, slope: number];
  readonly above: readonly [intercept: number, slope: number];
}

// Table 2: c1, c2 below t1, c3, c4 above.
const ofPgaGal: Bilinear = { bend: 1.57, below: [1.78, 1.55], above: [-1.6, 3.7] };
const ofPgvCmPerS: Bilinear = { bend: 0.53, below: [3.78, 1.47], above: [2.89, 3.16] };

// A peak of 0 gives intensity I; the sign of a peak is only its direction.
function worden(peak: number, lines: Bilinear): number {
  const log = Math.log10(Math.abs(peak));
  const [intercept, slope] = log <= lines.bend ? lines.below : lines.above;
  return Math.min(10, Math.max(1, intercept + slope * log));
}

// Wording and colours of the ShakeMap legend (USGS ShakeMap 4, scale based on Worden et al. 2012).
const scale: readonly Omit<Intensity, 'mmi'>[] = [
  { roman: 'I', shaking: 'not felt', color: '#FFFFFF' },
  { roman: 'II', shaking: 'weak', color: '#BFCCFF' },
  { roman: 'III', shaking: 'weak', color: '#A0E6FF' },
  { roman: 'IV', shaking: 'light', color: '#80FFFF' },
  { roman: 'V', shaking: 'moderate', color: '#7AFF93' },
  { roman: 'VI', shaking: 'strong', color: '#FFFF00' },
  { roman: 'VII', shaking: 'very strong', color: '#FFC800' },
  { roman: 'VIII', shaking: 'severe', color: '#FF9100' },
  { roman: 'IX', shaking: 'violent', color: '#FF0000' },
  { roman: 'X', shaking: 'extreme', color: '#C80000' },
];

function intensityOf(mmi: number): Intensity {
  const step = scale[Math.round(mmi) - 1];
  if (!step) throw new RangeError(`no intensity ${mmi}`);
  return { mmi, ...step };
}
