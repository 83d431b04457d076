import { type PointerEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useNow, useWorld } from '../data/use-world.js';
import { hrefOf } from '../shell/route.js';
import { useTexts } from '../texts/texts.js';
import { canvasOf, type Sprites, useDarkTheme } from './canvas.js';
import { Card } from './card.js';
import { drawEvents, drawFronts, drawLit, drawNames, reachOfLit } from './draw.js';
import { drawEarth } from './earth.js';
import { useLand } from './land.js';
import { Legend } from './legend.js';
import { litSensors } from './lit.js';
import { placedNames } from './names.js';
import { type Drawn, type Found, nearest } from './nearest.js';
import { drawStations, radiusOfCluster } from './stations.js';
import { placeIn, unitPixels } from './unit.js';
import { useLayers } from './use-layers.js';
import { useMapView } from './use-map-view.js';
import { frontsOf } from './waves.js';

const agesMs = 60_000;
const layersFromBelow = ['earth', 'marks', 'waves'] as const;

/** Stations, earthquakes and waves on their way, in a canvas each: one is drawn when what it shows has changed. */
export function WorldMap() {
  const texts = useTexts();
  // The lists come first: to draw both in one task would hold the page up.
  const { sensors, events, triggers, connection, answeredAtMs } = useDeferredValue(useWorld());
  const now = useNow(1_000);
  const land = useLand();
  const frame = useRef<HTMLDivElement>(null);
  const layers = useRef<Partial<Record<(typeof layersFromBelow)[number], HTMLCanvasElement | null>>>({});
  const drawn = useRef<Drawn>({ singles: [], clusters: [], events: [] });
  const [found, setFound] = useState<Found | null>(null);
  const isDark = useDarkTheme();
  const places = useMemo(() => [...sensors.values()].flatMap(({ location }) => location ?? []), [sensors]);
  const { size, view, zoom, showAll, handlers } = useMapView(frame, places);
  const { where, margin, placement } = useLayers(view, size);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sprites have the colours of the theme
  const sprites = useMemo((): Sprites => new Map(), [isDark]);
  const asOfMs = connection === 'live' ? now : (answeredAtMs ?? now);
  const lit = useMemo(() => litSensors(triggers, now, asOfMs), [triggers, now, asOfMs]);
  const litIds = [...lit.keys()].sort().join();
  const ages = Math.floor(now / agesMs);

  useEffect(() => {
    const canvas = canvasOf(layers.current.earth, where, sprites);
    if (canvas) drawEarth(canvas, land);
  }, [land, where, sprites]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: earthquakes fade with their age, and of the lit only who they are counts
  useEffect(() => {
    const canvas = canvasOf(layers.current.marks, where, sprites);
    if (!canvas) return;
    canvas.context.clearRect(0, 0, where.size.width, where.size.height);
    const marks = drawEvents(canvas, events, Date.now());
    const { singles, clusters } = drawStations(canvas, sensors.values(), new Set(lit.keys()));
    drawn.current = { events: marks, singles, clusters };
    const named = [
      ...clusters.map(({ x, y, count }) => ({ x, y, text: '', radius: radiusOfCluster(count) })),
      // What shakes is named before the others where there is not room for all.
      ...[...singles]
        .sort((one, other) => Number(lit.has(other.sensor.id)) - Number(lit.has(one.sensor.id)))
        .map(({ x, y, sensor }) => ({
          x,
          y,
          text: sensor.stationCode,
          radius: lit.has(sensor.id) ? reachOfLit : 6,
        })),
    ];
    drawNames(canvas, placedNames(named, where.size, margin));
  }, [events, ages, sensors, litIds, where, margin, sprites]);

  useEffect(() => {
    const canvas = canvasOf(layers.current.waves, where, sprites);
    if (!canvas) return;
    let next = 0;
    const isStill = globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;
    const draw = () => {
      const nowMs = Date.now();
      const fronts = frontsOf(events, nowMs);
      canvas.context.clearRect(0, 0, where.size.width, where.size.height);
      drawFronts(canvas, fronts);
      drawLit(canvas, drawn.current.singles, lit, isStill ? 0.5 : (nowMs % 1_600) / 1_600);
      if (!isStill && (fronts.length > 0 || lit.size > 0)) next = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(next);
  }, [events, lit, where, sprites]);

  function find(event: PointerEvent<HTMLElement>): void {
    const { x, y } = placeIn(event.currentTarget, event);
    const { scale, right, down } = placement;
    // The middle of the frame, in it and in the canvases.
    const [middleX, middleY] = [size.width / 2 + right, size.height / 2 + down];
    const [drawnX, drawnY] = [where.size.width / 2, where.size.height / 2];
    const mark = nearest(drawn.current, drawnX + (x - middleX) / scale, drawnY + (y - middleY) / scale);
    setFound(
      mark && {
        ...mark,
        x: middleX + (mark.x - drawnX) * scale,
        y: middleY + (mark.y - drawnY) * scale,
      },
    );
  }

  function open({ sensor, event, cluster, x, y }: Found): void {
    if (cluster) zoom(3, x, y);
    else if (sensor) globalThis.location.hash = hrefOf('sensors', sensor.id);
    else if (event) globalThis.location.hash = hrefOf('earthquakes', event.id);
    setFound(null);
  }

  const pixels = unitPixels();
  // Whole pixels: between them the browser would have to compute each anew.
  const [right, down] = [Math.round(placement.right * pixels), Math.round(placement.down * pixels)];
  const placed = {
    inset: -margin * pixels,
    transform: `translate(${right}px, ${down}px) scale(${placement.scale})`,
  };
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
          else if (found) setFound(null);
        }}
        onPointerLeave={() => setFound(null)}
        onClick={() => {
          if (found) open(found);
        }}
        onKeyDown={handlers.onKeyDown}
        data-found={found ? '' : undefined}
      >
        <div className="map-layers" style={placed}>
          {layersFromBelow.map((layer) => (
            <canvas
              key={layer}
              ref={(element) => {
                layers.current[layer] = element;
              }}
            />
          ))}
        </div>
        {found && <Card found={found} size={size} />}
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
