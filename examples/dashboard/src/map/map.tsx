import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useNow, useWorld } from '../data/use-world.js';
import { hrefOf } from '../shell/route.js';
import { useTexts } from '../texts/texts.js';
import { canvasOf, type Sprites, useDarkTheme } from './canvas.js';
import { Card } from './card.js';
import { drawEvents, drawFronts, drawLit, drawNames } from './draw.js';
import { drawEarth } from './earth.js';
import { useLand } from './land.js';
import { Legend } from './legend.js';
import { litSensors } from './lit.js';
import { placedNames } from './names.js';
import { type Drawn, type Found, nearest } from './nearest.js';
import { drawStations, radiusOfCluster } from './stations.js';
import { placeIn } from './unit.js';
import { useMapView } from './use-map-view.js';
import { pointIn, projectionOf } from './view.js';
import { frontsOf } from './waves.js';

const agesMs = 60_000;
const layersFromBelow = ['earth', 'events', 'stations', 'waves', 'names'] as const;

/** Stations, earthquakes and waves on their way, in a canvas each: one is drawn when what it shows has changed. */
export function WorldMap() {
  const texts = useTexts();
  const { sensors, events, triggers } = useWorld();
  const now = useNow(1_000);
  const land = useLand();
  const frame = useRef<HTMLDivElement>(null);
  const layers = useRef<Partial<Record<(typeof layersFromBelow)[number], HTMLCanvasElement | null>>>({});
  const drawn = useRef<Drawn>({ singles: [], clusters: [], events: [] });
  const [found, setFound] = useState<Found | null>(null);
  const isDark = useDarkTheme();
  const places = useMemo(() => [...sensors.values()].flatMap(({ location }) => location ?? []), [sensors]);
  const { size, view, zoom, showAll, handlers } = useMapView(frame, places);
  const where = useMemo(
    () => ({ size, view, projection: projectionOf(view, size), point: pointIn(view, size) }),
    [view, size],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sprites have the colours of the theme
  const sprites = useMemo((): Sprites => new Map(), [isDark]);
  const lit = useMemo(() => litSensors(triggers, now), [triggers, now]);
  const litIds = [...lit.keys()].sort().join();
  const ages = Math.floor(now / agesMs);

  useEffect(() => {
    const canvas = canvasOf(layers.current.earth, where, sprites);
    if (canvas) drawEarth(canvas, land);
  }, [land, where, sprites]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: earthquakes fade with their age
  useEffect(() => {
    const canvas = canvasOf(layers.current.events, where, sprites);
    if (!canvas) return;
    canvas.context.clearRect(0, 0, size.width, size.height);
    drawn.current.events = drawEvents(canvas, events, Date.now());
  }, [events, where, sprites, ages]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: which sensors are lit, not when that was computed
  useEffect(() => {
    const canvas = canvasOf(layers.current.stations, where, sprites);
    const above = canvasOf(layers.current.names, where, sprites);
    if (!canvas || !above) return;
    canvas.context.clearRect(0, 0, size.width, size.height);
    above.context.clearRect(0, 0, size.width, size.height);
    const { singles, clusters } = drawStations(canvas, sensors.values(), new Set(lit.keys()));
    Object.assign(drawn.current, { singles, clusters });
    const named = [
      ...clusters.map(({ x, y, count }) => ({ x, y, text: '', radius: radiusOfCluster(count) })),
      // What shakes is named before the others where there is not room for all.
      ...[...singles]
        .sort((one, other) => Number(lit.has(other.sensor.id)) - Number(lit.has(one.sensor.id)))
        .map(({ x, y, sensor }) => ({ x, y, text: sensor.stationCode, radius: lit.has(sensor.id) ? 11 : 6 })),
    ];
    drawNames(above, placedNames(named, size));
  }, [sensors, litIds, where, sprites]);

  useEffect(() => {
    const canvas = canvasOf(layers.current.waves, where, sprites);
    if (!canvas) return;
    let next = 0;
    const isStill = globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;
    const draw = () => {
      const nowMs = Date.now();
      const fronts = frontsOf(events, nowMs);
      canvas.context.clearRect(0, 0, size.width, size.height);
      drawFronts(canvas, fronts);
      drawLit(canvas, drawn.current.singles, lit, isStill ? 0.5 : (nowMs % 1_600) / 1_600);
      if (!isStill && (fronts.length > 0 || lit.size > 0)) next = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(next);
  }, [events, lit, size, where, sprites]);

  function find(event: PointerEvent<HTMLElement>): void {
    const { x, y } = placeIn(event.currentTarget, event);
    setFound(nearest(drawn.current, x, y));
  }

  function open({ sensor, event, cluster, x, y }: Found): void {
    if (cluster) zoom(3, x, y);
    else if (sensor) globalThis.location.hash = hrefOf('sensors', sensor.id);
    else if (event) globalThis.location.hash = hrefOf('earthquakes', event.id);
    setFound(null);
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
          else if (found) setFound(null);
        }}
        onPointerLeave={() => setFound(null)}
        onClick={() => {
          if (found) open(found);
        }}
        onKeyDown={handlers.onKeyDown}
        data-found={found ? '' : undefined}
      >
        {layersFromBelow.map((layer) => (
          <canvas
            key={layer}
            ref={(element) => {
              layers.current[layer] = element;
            }}
          />
        ))}
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
