import { useRef } from 'react';
import type { WaveformOverviewFragment } from '../operations/operations.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { linear, steps } from './scale.js';
import { useWidth } from './use-width.js';

export interface SectionTrace {
  readonly id: string;
  readonly name: string;
  readonly distanceKm: number;
  /** Seconds since the origin; null where it is not known. */
  readonly pS: number | null;
  readonly sS: number | null;
  /** Null where there is none, or none yet. */
  readonly waveform: WaveformOverviewFragment | null;
}

interface SectionPlotProps {
  readonly label: string;
  readonly originMs: number;
  readonly fromS: number;
  readonly toS: number;
  readonly traces: readonly SectionTrace[];
}

const [height, left, right, top, bottom] = [440, 42, 52, 22, 34];

/** Traces at their distance over the time since the origin, with the arrivals of P and S. */
export function SectionPlot({ label, originMs, fromS, toS, traces }: SectionPlotProps) {
  const texts = useTexts();
  const format = useFormat();
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const farthest = Math.max(...traces.map(({ distanceKm }) => distanceKm));
  const nearest = Math.min(...traces.map(({ distanceKm }) => distanceKm));
  const room = (height - top - bottom) / (traces.length + 1);
  const x = linear([fromS, toS], [left, width - right]);
  const y = linear([nearest, farthest], [top + room, height - bottom - room * 0.8]);
  const places = traces.map(({ distanceKm }) => y(distanceKm));
  /** A trace ends halfway to the next: the stations of a section are not evenly spread. */
  const halfHeightOf = (i: number) =>
    [places[i - 1], places[i + 1]].reduce<number>(
      (least, other) =>
        other === undefined ? least : Math.min(least, Math.abs(other - (places[i] ?? other)) / 2),
      room * 0.75,
    );
  return (
    <figure ref={frame}>
      <svg className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {steps(fromS, toS, Math.min(8, width / 40)).map((second) => (
          <g key={second}>
            <path className="axis" d={`M${x(second)} ${top}V${height - bottom}`} />
            <text x={x(second)} y={height - bottom + 14} textAnchor="middle">
              {format.number(second)}
            </text>
          </g>
        ))}
        <text x={width - right} y={height - 4} textAnchor="end">
          {texts.sinceOrigin}
        </text>
        <text x={4} y={12}>
          {texts.distance} (km)
        </text>
        {traces.map(({ id, name, distanceKm, pS, sS, waveform }, i) => (
          <g key={id}>
            <path className="axis" d={`M${left} ${y(distanceKm)}H${width - right}`} />
            {waveform && (
              <path
                className="trace-line"
                d={pathOf(waveform, originMs, x, y(distanceKm), halfHeightOf(i))}
              />
            )}
            <text x={left - 5} y={y(distanceKm) + 4} textAnchor="end">
              {format.number(distanceKm, 1)}
            </text>
            <text className="station" x={width - right + 5} y={y(distanceKm) + 4}>
              {name}
            </text>
            {[
              { phase: texts.pWave, at: pS, className: 'wave-p', side: 'end' as const },
              { phase: texts.sWave, at: sS, className: 'wave-s', side: 'start' as const },
            ].map(({ phase, at, className, side }) =>
              at === null || at < fromS || at > toS ? null : (
                <g key={className} className={className}>
                  <path d={`M${x(at)} ${y(distanceKm) - 15}V${y(distanceKm) + 15}`} />
                  {/* Beside the line: near the epicentre P and S are closer than their letters are wide. */}
                  <text x={x(at)} y={y(distanceKm) - 17} textAnchor={side}>
                    {phase}
                  </text>
                </g>
              ),
            )}
          </g>
        ))}
      </svg>
    </figure>
  );
}

const columnUnits = 1.1;

function pathOf(
  { startTime, envelope }: WaveformOverviewFragment,
  originMs: number,
  x: (second: number) => number,
  middle: number,
  halfHeight: number,
): string {
  const { min, max, secondsPerPoint } = envelope;
  // An accelerometer has an offset, gravity among it: the trace lies about its mean.
  const values = [...min, ...max].filter((value) => value !== null);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const most = values.reduce((one, value) => Math.max(one, Math.abs(value - mean)), 0) || 1;
  const startS = (Date.parse(startTime) - originMs) / 1_000;
  const shown = (value: number) => (middle - ((value - mean) / most) * halfHeight).toFixed(1);
  // Columns that touch would be one dark band.
  const each = Math.max(1, Math.ceil(columnUnits / (x(secondsPerPoint) - x(0))));
  return min
    .flatMap((_, i) => {
      if (i % each !== 0) return [];
      const lows = min.slice(i, i + each).filter((value) => value !== null);
      const highs = max.slice(i, i + each).filter((value) => value !== null);
      if (lows.length === 0 || highs.length === 0) return [];
      const at = x(startS + (i + each / 2) * secondsPerPoint).toFixed(1);
      return `M${at} ${shown(Math.min(...lows))}V${shown(Math.max(...highs))}`;
    })
    .join('');
}
