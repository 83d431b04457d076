import { linear } from './scale.js';

interface EnvelopePlotProps {
  readonly label: string;
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
}

const [width, height] = [1_000, 200];

/** A waveform by the smallest and greatest sample of each span: every peak is in it. A gap stays empty. */
export function EnvelopePlot({ label, min, max }: EnvelopePlotProps) {
  const all = [...min, ...max].filter((value) => value !== null);
  const most = all.reduce((one, other) => Math.max(one, Math.abs(other)), 0);
  const x = linear([0, Math.max(1, min.length)], [0, width]);
  const y = linear([-most, most], [height - 4, 4]);
  const path = min.flatMap((low, i) => {
    const high = max[i];
    if (low === null || high === null || high === undefined) return [];
    return `M${x(i).toFixed(1)} ${(y(low) + 0.5).toFixed(1)}V${(y(high) - 0.5).toFixed(1)}`;
  });
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path className="axis" d={`M0 ${height / 2}H${width}`} />
      <path className="line" d={path.join('')} />
    </svg>
  );
}
