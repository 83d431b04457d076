import { geoDistance, geoGraticule, geoPath } from 'd3-geo';
import type { GeometryCollection } from 'geojson';
import type { Canvas } from './draw.js';
import type { Land, Shape } from './land.js';
import { isPolar, mercatorY } from './view.js';

export function drawEarth(canvas: Canvas, { areas, coasts, borders }: Land): void {
  const { context, size, palette } = canvas;
  context.fillStyle = palette.water;
  context.fillRect(0, 0, size.width, size.height);
  context.strokeStyle = palette.graticule;
  context.lineWidth = 1;
  drawGraticule(canvas);
  const trace = isPolar(canvas.view) ? traceOnSphere : traceInMercator;
  context.fillStyle = palette.land;
  trace(canvas, areas, (path) => (path ? context.fill(path) : context.fill()));
  const stroke = (path?: Path2D) => (path ? context.stroke(path) : context.stroke());
  context.strokeStyle = palette.border;
  trace(canvas, borders, stroke);
  context.strokeStyle = palette.coast;
  trace(canvas, coasts, stroke);
}

type Paint = (path?: Path2D) => void;

/** In Mercator a map that moves is the same picture moved and scaled: no point is computed again. */
function traceInMercator({ view, size }: Canvas, shapes: readonly Shape[], paint: Paint): void {
  const path = new Path2D();
  const { scale } = view;
  const down = size.height / 2 + mercatorY(view.latitude) * scale;
  for (const turn of [-1, 0, 1]) {
    const right = size.width / 2 + (2 * turn - view.longitude / 180) * Math.PI * scale;
    for (const shape of shapes) {
      const isOutside =
        shape.east * scale + right < 0 ||
        shape.west * scale + right > size.width ||
        down - shape.south * scale < 0 ||
        down - shape.north * scale > size.height;
      if (!isOutside) path.addPath(shape.path, { a: scale, b: 0, c: 0, d: -scale, e: right, f: down });
    }
  }
  paint(path);
}

function traceOnSphere({ context, projection }: Canvas, shapes: readonly Shape[], paint: Paint): void {
  const all: GeometryCollection = {
    type: 'GeometryCollection',
    geometries: shapes.map(({ geometry }) => geometry),
  };
  context.beginPath();
  geoPath(projection, context)(all);
  paint();
}

/** Meridians and parallels at whole steps, in the view alone: those of the whole Earth take several frames. */
function drawGraticule(canvas: Canvas): void {
  const { context, projection, size } = canvas;
  const at = (x: number, y: number): [number, number] => projection.invert?.([x, y]) ?? [0, 0];
  const centre = at(size.width / 2, size.height / 2);
  const corners = [at(0, 0), at(size.width, 0), at(0, size.height), at(size.width, size.height)];
  // Of a wide view a corner can lie on the far side of the Earth, and says nothing.
  const isWide = size.width / projection.scale() > 1;
  const reachRad = isWide ? Math.PI : Math.max(...corners.map((corner) => geoDistance(centre, corner)));
  const reach = (reachRad * 180) / Math.PI;
  const step = [0.1, 0.5, 1, 5, 15].find((degrees) => degrees * 8 > reach) ?? 15;
  const [longitude, latitude] = centre;
  const highest = isPolar(canvas.view) ? 90 : 80;
  const nearest = Math.max(...corners.map(([, north]) => Math.abs(north)), Math.abs(latitude));
  const across = isPolar(canvas.view)
    ? 180
    : Math.min(180, reach / Math.cos((Math.min(80, nearest) * Math.PI) / 180));
  const down = (value: number) => Math.floor(value / step) * step;
  const up = (value: number) => Math.ceil(value / step) * step;
  const [south, north] = [
    Math.max(-highest, down(latitude - reach)),
    Math.min(highest, up(latitude + reach)),
  ];
  const graticule = geoGraticule()
    .step([isPolar(canvas.view) ? 15 : step, step])
    .stepMajor([360, 360])
    .extent([
      [down(longitude - across), south],
      [up(longitude + across), north + step / 100],
    ]);
  context.beginPath();
  geoPath(projection, context)(graticule());
  context.stroke();
}
