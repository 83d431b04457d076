import { linear } from './scale.js';

interface SparklineProps {
  /** Null where there is no value: a gap. */
  readonly values: readonly (number | null)[];
  readonly label: string;
}

const [width, height] = [90, 20];

/** A course of values in a cell of a table, without axes: the label has its ends. */
export function Sparkline({ values, label }: SparklineProps) {
  const known = values.filter((value) => value !== null);
  const x = linear([0, values.length - 1], [2, width - 2]);
  // A battery that stays the same must not look as if it went up and down.
  const margin = Math.max(0, 0.4 - (Math.max(...known) - Math.min(...known))) / 2;
  const y = linear([Math.min(...known) - margin, Math.max(...known) + margin], [height - 3, 3]);
  let isDrawing = false;
  let path = '';
  for (const [i, value] of values.entries()) {
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = value !== null;
  }
  return (
    <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path className="line" d={path} />
    </svg>
  );
}
