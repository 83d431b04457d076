import type { GeoProjection } from 'd3-geo';
import { geoCircle, geoDistance, geoGraticule, geoPath } from 'd3-geo';
import type { EventItem, SensorItem } from '../data/world.js';
import type { Land } from './land.js';
import type { Palette } from './palette.js';
import type { Size } from './view.js';
import type { Front } from './waves.js';

const earthRadiusKm = 6_371;
const kmPerDegree = 111.195;
/** Location masking displaces a position by 1000 m at most (docs/behaviour.md 6.4). */
const uncertaintyKm = 1;

export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  readonly size: Size;
  readonly projection: GeoProjection;
  readonly palette: Palette;
}

/** What is drawn at a point, for the pointer to find. */
export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly sensor?: SensorItem;
  readonly event?: EventItem;
}

export function drawEarth(canvas: Canvas, land: readonly Land[]): void {
  const { context, size, projection, palette } = canvas;
  context.fillStyle = palette.water;
  context.fillRect(0, 0, size.width, size.height);
  const path = geoPath(projection, context);
  const { centre, reachRad } = reachOf(canvas);
  context.strokeStyle = palette.graticule;
  context.lineWidth = 1;
  context.beginPath();
  path(graticuleAround(centre, reachRad));
  context.stroke();
  const inView = land.filter((one) => geoDistance([...one.centre], centre) < one.radiusRad + reachRad);
  context.beginPath();
  for (const { area } of inView) path(area);
  context.fillStyle = palette.land;
  context.fill();
  context.beginPath();
  for (const { coast } of inView) path(coast);
  context.strokeStyle = palette.coast;
  context.stroke();
}

/** A circle that the view lies in. */
function reachOf({ projection, size }: Canvas): { centre: [number, number]; reachRad: number } {
  const at = (x: number, y: number): [number, number] => projection.invert?.([x, y]) ?? [0, 0];
  const centre = at(size.width / 2, size.height / 2);
  // Of a wide view a corner can lie on the far side of the Earth, and says nothing.
  if (size.width / projection.scale() > 1) return { centre, reachRad: Math.PI };
  const corners = [at(0, 0), at(size.width, 0), at(0, size.height), at(size.width, size.height)];
  return { centre, reachRad: Math.max(...corners.map((corner) => geoDistance(centre, corner))) };
}

/** Meridians and parallels at whole steps, in the view alone: those of the whole Earth take several frames. */
function graticuleAround([longitude, latitude]: readonly [number, number], reachRad: number) {
  const reach = (reachRad * 180) / Math.PI;
  const step = [0.1, 0.5, 1, 5, 15].find((degrees) => degrees * 8 > reach) ?? 15;
  const across = Math.min(180, reach / Math.cos((Math.min(80, Math.abs(latitude)) * Math.PI) / 180));
  const down = (value: number) => Math.floor(value / step) * step;
  const up = (value: number) => Math.ceil(value / step) * step;
  const [south, north] = [Math.max(-80, down(latitude - reach)), Math.min(80, up(latitude + reach))];
  return geoGraticule()
    .step([step, step])
    .stepMajor([360, 360])
    .extent([
      [down(longitude - across), south],
      [up(longitude + across), north + step / 100],
    ])();
}

/** @param lit ids of the sensors that are drawn later, by `drawLit` */
export function drawSensors(
  canvas: Canvas,
  sensors: Iterable<SensorItem>,
  lit: ReadonlySet<string>,
): readonly Mark[] {
  const { size, projection } = canvas;
  const marks: Mark[] = [];
  for (const sensor of sensors) {
    const { location } = sensor;
    const point = location && projection([location.longitude, location.latitude]);
    if (!point) continue;
    const [x, y] = point;
    if (x < -20 || y < -20 || x > size.width + 20 || y > size.height + 20) continue;
    marks.push({ x, y, radius: 9, sensor });
  }
  drawUncertainty(canvas, marks);
  for (const status of ['UNKNOWN', 'ONLINE', 'OFFLINE'] as const) {
    const shown = marks.filter(({ sensor }) => sensor?.status === status && !lit.has(sensor.id));
    drawStations(canvas, shown, status);
  }
  if (marks.length <= 60 && projection.scale() > 2_500) drawNames(canvas, marks);
  return marks;
}

/** All of one status as one path: 10,000 paths of their own would take several frames. */
function drawStations(
  { context, palette }: Canvas,
  marks: readonly Mark[],
  status: SensorItem['status'],
): void {
  context.beginPath();
  for (const { x, y } of marks) triangle(context, x, y, 5.5);
  context.fillStyle = status === 'ONLINE' ? palette.online : palette.land;
  context.fill();
  context.lineWidth = status === 'ONLINE' ? 1 : 1.75;
  context.strokeStyle = { ONLINE: palette.land, OFFLINE: palette.offline, UNKNOWN: palette.coast }[status];
  context.stroke();
}

/** Circles in which masked stations lie. From afar they have a least size, so that they are never taken for points. */
function drawUncertainty({ context, projection, palette }: Canvas, marks: readonly Mark[]): void {
  const pixelsPerKm = projection.scale() / earthRadiusKm;
  context.beginPath();
  for (const { x, y, sensor } of marks) {
    if (!sensor?.location?.masked) continue;
    // Mercator stretches by the latitude.
    const stretch = 1 / Math.cos((sensor.location.latitude * Math.PI) / 180);
    const radius = Math.max(9, uncertaintyKm * pixelsPerKm * stretch);
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.globalAlpha = 0.12;
  context.fillStyle = palette.online;
  context.fill();
  context.globalAlpha = 0.8;
  context.setLineDash([3, 3]);
  context.lineWidth = 1;
  context.strokeStyle = palette.online;
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawNames({ context, palette }: Canvas, marks: readonly Mark[]): void {
  context.font = '500 11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.strokeStyle = palette.land;
  context.fillStyle = palette.muted;
  const taken: { x: number; y: number }[] = [];
  for (const { x, y, sensor } of marks) {
    // A name over another is no name.
    if (!sensor || taken.some((other) => Math.abs(other.x - x) < 44 && Math.abs(other.y - y) < 13)) continue;
    taken.push({ x, y });
    context.strokeText(sensor.stationCode, x + 12, y);
    context.fillText(sensor.stationCode, x + 12, y);
  }
}

/** @param pulse from 0 to 1, the state of the halo */
export function drawLit(
  { context, palette }: Canvas,
  marks: readonly Mark[],
  colors: ReadonlyMap<string, string>,
  pulse: number,
): void {
  for (const { x, y, sensor } of marks) {
    const color = sensor && colors.get(sensor.id);
    if (!color) continue;
    context.beginPath();
    context.arc(x, y, 11 + 7 * pulse, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.globalAlpha = 0.35 * (1 - pulse) + 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = palette.lit;
    context.stroke();
    context.beginPath();
    triangle(context, x, y, 5);
    // The colours of intensity are light up to VII, in both themes.
    context.fillStyle = '#10151a';
    context.fill();
  }
}

export function drawEvents(canvas: Canvas, events: readonly EventItem[], nowMs: number): readonly Mark[] {
  const { context, size, projection, palette } = canvas;
  const marks: Mark[] = [];
  // The latest lie on top.
  for (const event of [...events].reverse()) {
    const point = projection([event.longitude, event.latitude]);
    if (!point) continue;
    const [x, y] = point;
    const radius = radiusOf(event.magnitude);
    if (x < -radius || y < -radius || x > size.width + radius || y > size.height + radius) continue;
    marks.push({ x, y, radius, event });
    const strength = strengthOf(nowMs - Date.parse(event.originTime));
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.globalAlpha = 0.65 * strength;
    context.fillStyle = palette.event;
    context.fill();
    context.globalAlpha = Math.max(0.45, strength);
    context.lineWidth = strength > 0.9 ? 2 : 1;
    context.strokeStyle = palette.event;
    context.stroke();
    context.globalAlpha = 1;
  }
  return marks;
}

const radiusOf = (magnitude: number | null) => 2.5 + 0.6 * Math.max(0, magnitude ?? 1) ** 1.65;

function strengthOf(ageMs: number): number {
  const hours = ageMs / 3_600_000;
  if (hours < 1 / 6) return 1;
  if (hours < 1) return 0.7;
  return hours < 24 ? 0.4 : 0.12;
}

export function drawFronts(canvas: Canvas, fronts: readonly Front[]): void {
  const { context, projection, palette } = canvas;
  const path = geoPath(projection, context);
  for (const { event, phase, radiusKm, strength } of fronts) {
    const centre: [number, number] = [event.longitude, event.latitude];
    context.beginPath();
    path(
      geoCircle()
        .center(centre)
        .radius(radiusKm / kmPerDegree)
        .precision(3)(),
    );
    context.globalAlpha = 0.25 + 0.75 * strength;
    context.strokeStyle = phase === 'P' ? palette.waveP : palette.waveS;
    context.lineWidth = phase === 'P' ? 1.5 : 2.5;
    if (phase === 'P') context.setLineDash([6, 4]);
    context.stroke();
    context.setLineDash([]);
    const top = projection([event.longitude, Math.min(85, event.latitude + radiusKm / kmPerDegree)]);
    if (top) {
      context.fillStyle = context.strokeStyle;
      context.font = '600 12px system-ui, sans-serif';
      context.textBaseline = 'bottom';
      context.fillText(phase, top[0] - 4, top[1] - 3);
    }
    context.globalAlpha = 1;
  }
}

/** The field's symbol of a station. */
function triangle(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.moveTo(x, y - radius);
  context.lineTo(x + radius * 0.95, y + radius * 0.75);
  context.lineTo(x - radius * 0.95, y + radius * 0.75);
  context.closePath();
}
