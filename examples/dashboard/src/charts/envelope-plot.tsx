import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { closer, type Span, shifted, whole } from '../sensor/span.js';
import { useFormat } from '../texts/format.js';
import { linear, steps } from './scale.js';
import { useWidth } from './use-width.js';

interface EnvelopePlotProps {
  readonly label: string;
  readonly describe: (least: number, most: number) => string;
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  /** Single samples, drawn as a line with a dot each, in place of the spans. */
  readonly points: readonly (number | null)[] | null;
  /** A part that was dragged over, from 0 to 1 of what is shown. */
  readonly onSpan: (from: number, to: number) => void;
  readonly onMove: (change: (span: Span) => Span) => void;
}

const [height, left] = [220, 62];
const leastDrag = 0.005;

/** A waveform by the smallest and greatest sample of each span, or by its samples. A gap stays empty. */
export function EnvelopePlot({ label, describe, min, max, points, onSpan, onMove }: EnvelopePlotProps) {
  const format = useFormat();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  const values = [...min, ...max].filter((value) => value !== null);
  const least = values.reduce((one, other) => Math.min(one, other), Infinity);
  const most = values.reduce((one, other) => Math.max(one, other), -Infinity);
  const x = linear([0, Math.max(1, min.length)], [left, width]);
  const y = linear([least, most > least ? most : least + 1], [height - 8, 8]);
  const path = points ? lineOf(points, x, y) : columnsOf(min, max, x, y);

  function placeOf({ clientX, currentTarget }: PointerEvent<Element>): number {
    const box = currentTarget.getBoundingClientRect();
    const inPlot = ((clientX - box.left) / box.width) * width - left;
    return Math.max(0, Math.min(1, inPlot / (width - left)));
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key } = event;
    if (key === '+' || key === '=') onMove((span) => closer(span, 0.5));
    else if (key === '-') onMove((span) => closer(span, 2));
    else if (key === 'ArrowLeft') onMove((span) => shifted(span, -0.25));
    else if (key === 'ArrowRight') onMove((span) => shifted(span, 0.25));
    else if (key === '0') onMove(() => whole);
    else return;
    event.preventDefault();
  }

  return (
    <div
      ref={frame}
      className="zoomable"
      role="application"
      aria-label={`${label}. ${values.length > 0 ? describe(least, most) : ''}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the plot need its focus
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <svg
        className="chart"
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = placeOf(event);
          setDrag([at, at]);
        }}
        onPointerMove={(event) => {
          if (drag) setDrag([drag[0], placeOf(event)]);
        }}
        onPointerUp={() => {
          setDrag(null);
          if (drag && Math.abs(drag[1] - drag[0]) > leastDrag) onSpan(Math.min(...drag), Math.max(...drag));
        }}
        onPointerCancel={() => setDrag(null)}
      >
        {values.length > 0 &&
          steps(least, most, 4).map((value) => (
            <g key={value}>
              <path className="axis" d={`M${left} ${y(value)}H${width}`} />
              <text x={left - 6} y={y(value) + 4} textAnchor="end">
                {format.number(value)}
              </text>
            </g>
          ))}
        <path className={points ? 'line' : 'line columns'} d={path} />
        {points &&
          points.length <= 200 &&
          points.map((value, i) =>
            value === null ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a sample is known by its place
              <circle key={i} className="trace" r="2.4" cx={x(i + 0.5)} cy={y(value)} />
            ),
          )}
        {drag && (
          <rect
            className="gap"
            x={left + Math.min(...drag) * (width - left)}
            y={0}
            width={Math.abs(drag[1] - drag[0]) * (width - left)}
            height={height}
          />
        )}
      </svg>
    </div>
  );
}

type Scale = (value: number) => number;

function lineOf(points: readonly (number | null)[], x: Scale, y: Scale): string {
  let isDrawing = false;
  let path = '';
  for (const [i, value] of points.entries()) {
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${x(i + 0.5).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = value !== null;
  }
  return path;
}

function columnsOf(
  min: readonly (number | null)[],
  max: readonly (number | null)[],
  x: Scale,
  y: Scale,
): string {
  return min
    .flatMap((low, i) => {
      const high = max[i];
      if (low === null || high === null || high === undefined) return [];
      return `M${x(i + 0.5).toFixed(1)} ${(y(low) + 0.5).toFixed(1)}V${(y(high) - 0.5).toFixed(1)}`;
    })
    .join('');
}
