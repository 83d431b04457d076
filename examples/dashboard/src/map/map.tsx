import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useNow, useWorld } from '../data/use-world.js';
import { hrefOf } from '../shell/route.js';
import { useTexts } from '../texts/texts.js';
import { Card } from './card.js';
import { type Canvas, drawEarth, drawEvents, drawFronts, drawLit, drawSensors, type Mark } from './draw.js';
import { useLand } from './land.js';
import { Legend } from './legend.js';
import { litSensors } from './lit.js';
import { paletteOf } from './palette.js';
import { useMapView } from './use-map-view.js';
import { projectionOf } from './view.js';
import { frontsOf } from './waves.js';

const nearPixels = 8;

/** Stations, earthquakes and waves on their way, in three canvases: each is drawn when what it shows has changed. */
export function WorldMap() {
  const texts = useTexts();
  const { sensors, events, triggers } = useWorld();
  const now = useNow(1_000);
  const land = useLand();
  const frame = useRef<HTMLDivElement>(null);
  const layers = useRef<(HTMLCanvasElement | null)[]>([]);
  const marks = useRef<{ sensors: readonly Mark[]; events: readonly Mark[] }>({ sensors: [], events: [] });
  const [found, setFound] = useState<Mark | null>(null);
  const [isDark, setDark] = useState(() => darkTheme().matches);
  const places = useMemo(() => [...sensors.values()].flatMap(({ location }) => location ?? []), [sensors]);
  const { size, view, zoom, showAll, handlers } = useMapView(frame, places);
  const projection = useMemo(() => projectionOf(view, size), [view, size]);
  const lit = useMemo(() => litSensors(triggers, now), [triggers, now]);
  const litIds = [...lit.keys()].sort().join();

  useEffect(() => {
    const theme = darkTheme();
    const change = () => setDark(theme.matches);
    theme.addEventListener('change', change);
    return () => theme.removeEventListener('change', change);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides on the palette
  useEffect(() => {
    const canvas = canvasOf(layers.current[0], size, projection);
    if (canvas) drawEarth(canvas, land);
  }, [land, size, projection, isDark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: which sensors are lit, not when that was computed
  useEffect(() => {
    const canvas = canvasOf(layers.current[1], size, projection);
    if (!canvas) return;
    canvas.context.clearRect(0, 0, size.width, size.height);
    marks.current.sensors = drawSensors(canvas, sensors.values(), new Set(lit.keys()));
  }, [sensors, litIds, size, projection, isDark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides on the palette
  useEffect(() => {
    const canvas = canvasOf(layers.current[2], size, projection);
    if (!canvas) return;
    let next = 0;
    const isStill = globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;
    const draw = () => {
      const nowMs = Date.now();
      const fronts = frontsOf(events, nowMs);
      canvas.context.clearRect(0, 0, size.width, size.height);
      marks.current.events = drawEvents(canvas, events, nowMs);
      drawFronts(canvas, fronts);
      drawLit(canvas, marks.current.sensors, lit, isStill ? 0.5 : (nowMs % 1_600) / 1_600);
      if (!isStill && (fronts.length > 0 || lit.size > 0)) next = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(next);
  }, [events, lit, size, projection, isDark]);

  function find({ clientX, clientY, currentTarget }: PointerEvent<HTMLElement>): void {
    const box = currentTarget.getBoundingClientRect();
    setFound(nearest(marks.current, clientX - box.left, clientY - box.top));
  }

  const withoutPosition = sensors.size - places.length;
  const isMasked = places.some(({ masked }) => masked);
  return (
    <div className="map">
      <div
        ref={frame}
        className="map-frame"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the map need its focus
        tabIndex={0}
        aria-label={`${texts.map(sensors.size, events.length, lit.size)} ${texts.mapKeys}`}
        {...handlers}
        onPointerMove={(event) => {
          handlers.onPointerMove(event);
          if (event.buttons === 0) find(event);
        }}
        onPointerLeave={() => setFound(null)}
        onClick={() => {
          if (found) globalThis.location.hash = hrefOf(found.sensor ? 'sensors' : 'earthquakes', idOf(found));
        }}
        onKeyDown={handlers.onKeyDown}
        data-found={found ? '' : undefined}
      >
        {[0, 1, 2].map((layer) => (
          <canvas
            key={layer}
            ref={(element) => {
              layers.current[layer] = element;
            }}
          />
        ))}
        {found && <Card mark={found} size={size} />}
      </div>
      <div className="map-buttons">
        <button type="button" onClick={() => zoom(1.6)} aria-label={texts.zoomIn} title={texts.zoomIn}>
          +
        </button>
        <button type="button" onClick={() => zoom(1 / 1.6)} aria-label={texts.zoomOut} title={texts.zoomOut}>
          −
        </button>
        <button type="button" onClick={showAll} aria-label={texts.fit} title={texts.fit}>
          ⤢
        </button>
      </div>
      <Legend isMasked={isMasked} withoutPosition={withoutPosition} />
    </div>
  );
}

const darkTheme = () => globalThis.matchMedia('(prefers-color-scheme: dark)');

const idOf = ({ sensor, event }: Mark) => sensor?.id ?? event?.id ?? '';

function canvasOf(
  element: HTMLCanvasElement | null | undefined,
  size: Canvas['size'],
  projection: Canvas['projection'],
): Canvas | null {
  const context = element?.getContext('2d');
  if (!element || !context) return null;
  const ratio = globalThis.devicePixelRatio;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  // Setting the size clears the canvas, and costs even where it stays the same.
  if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, size, projection, palette: paletteOf(element) };
}

function nearest(
  marks: { readonly sensors: readonly Mark[]; readonly events: readonly Mark[] },
  x: number,
  y: number,
): Mark | null {
  let best: Mark | null = null;
  let bestDistance = nearPixels;
  for (const mark of [...marks.sensors, ...marks.events]) {
    // Within a large circle its centre counts: a station in it can still be pointed at.
    const distance = Math.hypot(mark.x - x, mark.y - y) - Math.min(mark.radius, nearPixels);
    if (distance < bestDistance) [best, bestDistance] = [mark, distance];
  }
  return best;
}
