import { useRef } from 'react';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { linear } from './scale.js';
import { useWidth } from './use-width.js';

export interface RangePoint {
  readonly from: string;
  readonly to: string;
  /** Null where no report has the value: a gap. */
  readonly value: { readonly min: number; readonly mean: number; readonly max: number } | null;
}

interface RangeChartProps {
  readonly name: string;
  readonly unit: string;
  readonly digits: number;
  /** One of them has a value. */
  readonly points: readonly RangePoint[];
}

const [height, left, bottom] = [130, 44, 18];

/** The smallest, mean and greatest value of each part of a time, with its gaps. */
export function RangeChart({ name, unit, digits, points }: RangeChartProps) {
  const texts = useTexts();
  const format = useFormat();
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const values = points.flatMap(({ value }) => value ?? []);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return null;
  const least = Math.min(...values.map(({ min }) => min));
  const most = Math.max(...values.map(({ max }) => max));
  const margin = (most - least) * 0.1 || Math.max(0.1, Math.abs(most) * 0.02);
  const x = linear([Date.parse(first.from), Date.parse(last.to)], [left, width]);
  const y = linear([least - margin, most + margin], [height - bottom, 6]);
  const shown = (value: number) => format.number(value, digits, unit);
  const gaps = runsOf(points, ({ value }) => value === null);
  const drawn = runsOf(points, ({ value }) => value !== null);
  const middleOf = ({ from, to }: RangePoint) => (x(Date.parse(from)) + x(Date.parse(to))) / 2;
  const path = (run: readonly RangePoint[], choose: (value: NonNullable<RangePoint['value']>) => number) =>
    run.flatMap((point) => (point.value ? `${middleOf(point)},${y(choose(point.value))}` : []));
  return (
    <figure ref={frame}>
      <figcaption>
        {name}
        <span>{shown(values.at(-1)?.mean ?? 0)}</span>
      </figcaption>
      <svg
        className="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={texts.chart(name, shown(least), shown(most), gaps.length)}
      >
        {gaps.map((run) => {
          const [start, end] = [run[0], run.at(-1)];
          if (!start || !end) return null;
          const at = x(Date.parse(start.from));
          return (
            <rect
              key={start.from}
              className="gap"
              x={at}
              y={6}
              width={x(Date.parse(end.to)) - at}
              height={height - bottom - 6}
            />
          );
        })}
        <path className="axis" d={`M${left} 6V${height - bottom}H${width}`} />
        {[least, most].map((value) => (
          <text key={value} x={left - 5} y={y(value) + 4} textAnchor="end">
            {format.number(value, digits)}
          </text>
        ))}
        <text x={left} y={height - 4}>
          {format.utc(first.from).slice(0, -3)}
        </text>
        <text x={width} y={height - 4} textAnchor="end">
          {format.utc(last.to).slice(0, -3)} {texts.utc}
        </text>
        {drawn.map((run) => {
          const tops = path(run, ({ max }) => max);
          const bottoms = path(run, ({ min }) => min);
          const means = path(run, ({ mean }) => mean);
          const key = run[0]?.from;
          return (
            <g key={key}>
              <polygon className="band" points={[...tops, ...bottoms.reverse()].join(' ')} />
              {means.length === 1 ? (
                <circle className="trace" r="1.5" cx={means[0]?.split(',')[0]} cy={means[0]?.split(',')[1]} />
              ) : (
                <polyline className="line" points={means.join(' ')} />
              )}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** Neighbouring points that pass the test, run by run. */
function runsOf(
  points: readonly RangePoint[],
  passes: (point: RangePoint) => boolean,
): readonly (readonly RangePoint[])[] {
  const runs: RangePoint[][] = [];
  let isRunning = false;
  for (const point of points) {
    if (passes(point)) {
      if (!isRunning) runs.push([]);
      runs.at(-1)?.push(point);
    }
    isRunning = passes(point);
  }
  return runs;
}
