import { useRef } from 'react';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { decades, linear } from './scale.js';
import { useWidth } from './use-width.js';

export interface DistancePoint {
  readonly key: string;
  readonly name: string;
  readonly distanceKm: number;
  readonly pgaMg: number;
  readonly color: string;
}

const [height, left, bottom] = [320, 52, 38];

/** Peak acceleration against distance, both on logarithmic axes, as attenuation is drawn. */
export function DistancePlot({ points }: { readonly points: readonly DistancePoint[] }) {
  const texts = useTexts();
  const format = useFormat();
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const xs = decades(points.map(({ distanceKm }) => distanceKm));
  const ys = decades(points.map(({ pgaMg }) => pgaMg));
  const ends = (ticks: readonly number[]) =>
    [Math.log10(ticks[0] ?? 1), Math.log10(ticks.at(-1) ?? 10)] as const;
  const x = linear(ends(xs), [left, width - 8]);
  const y = linear(ends(ys), [height - bottom, 8]);
  const shown = (value: number) => format.number(value, Math.max(0, -Math.round(Math.log10(value))));
  return (
    <figure ref={frame}>
      <svg
        className="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${texts.plot}: ${texts.plotNote(points.length)}`}
      >
        {xs.map((value) => (
          <g key={value}>
            <path className="axis" d={`M${x(Math.log10(value))} 8V${height - bottom}`} />
            <text x={x(Math.log10(value))} y={height - bottom + 15} textAnchor="middle">
              {shown(value)}
            </text>
          </g>
        ))}
        {ys.map((value) => (
          <g key={value}>
            <path className="axis" d={`M${left} ${y(Math.log10(value))}H${width - 8}`} />
            <text x={left - 6} y={y(Math.log10(value)) + 4} textAnchor="end">
              {shown(value)}
            </text>
          </g>
        ))}
        <text x={width - 8} y={height - 4} textAnchor="end">
          {texts.distance} (km)
        </text>
        <text transform={`translate(12 ${height / 2 - 15}) rotate(-90)`} textAnchor="middle">
          {texts.pga} (mg)
        </text>
        {points.map(({ key, name, distanceKm, pgaMg, color }) => (
          <circle
            key={key}
            className="point"
            cx={x(Math.log10(distanceKm))}
            cy={y(Math.log10(pgaMg))}
            r="5"
            fill={color}
          >
            <title>{`${name}: ${format.number(pgaMg, 2, 'mg')}, ${format.number(distanceKm, 1, 'km')}`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  );
}
