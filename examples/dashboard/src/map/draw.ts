import type { GeoProjection } from 'd3-geo';
import { geoCircle, geoPath } from 'd3-geo';
import type { EventItem } from '../data/world.js';
import type { StationMark } from './clusters.js';
import type { Name } from './names.js';
import type { Palette } from './palette.js';
import { type Place, type Size, turnOf, type View } from './view.js';
import type { Front } from './waves.js';

const kmPerDegree = 111.195;

export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  readonly size: Size;
  readonly view: View;
  readonly projection: GeoProjection;
  readonly palette: Palette;
  /** `pointIn` of the view. */
  point(place: Place): readonly [number, number];
  /** A small picture that is drawn thousands of times, made once: paths of their own would take several frames. */
  sprite(key: string | number, radius: number, draw: (context: CanvasRenderingContext2D) => void): Sprite;
}

export interface Sprite {
  readonly image: HTMLCanvasElement;
  /** Of the picture from its middle to its edge. */
  readonly reach: number;
  /** Pixels of a unit. */
  readonly ratio: number;
}

export interface EventMark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly event: EventItem;
}

export const isInView = (x: number, y: number, { width, height }: Size, margin: number): boolean =>
  // Not so for what is not a number: a place on the far side of the Earth.
  x > -margin && y > -margin && x < width + margin && y < height + margin;

/** The marks as often as the canvas shows their place: where it goes round the Earth more than once, again at the other side. */
export function repeated<Mark extends { readonly x: number }>(
  { view, size }: Pick<Canvas, 'view' | 'size'>,
  marks: readonly Mark[],
): readonly Mark[] {
  const turn = turnOf(view);
  if (turn > size.width) return marks;
  return [-turn, 0, turn].flatMap((right) =>
    marks.flatMap((mark) => {
      const x = mark.x + right;
      return x > -20 && x < size.width + 20 ? { ...mark, x } : [];
    }),
  );
}

export function stamp(
  context: CanvasRenderingContext2D,
  { image, reach, ratio }: Sprite,
  x: number,
  y: number,
): void {
  // On whole pixels: between them each would have to be computed.
  const whole = (units: number) => Math.round(units * ratio) / ratio;
  context.drawImage(image, whole(x - reach), whole(y - reach), 2 * reach, 2 * reach);
}

export function drawEvents(
  canvas: Canvas,
  events: readonly EventItem[],
  nowMs: number,
): readonly EventMark[] {
  const { context, size, palette } = canvas;
  const inView: EventMark[] = [];
  // The latest lie on top.
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (!event) continue;
    const [x, y] = canvas.point(event);
    const radius = radiusOf(event.magnitude);
    if (!isInView(x, y, size, radius)) continue;
    inView.push({ x, y, radius, event });
  }
  const marks = repeated(canvas, inView);
  for (const { x, y, radius, event } of marks) {
    const strength = strengthOf(nowMs - event.originMs);
    const sprite = canvas.sprite(100 * radius + strength, radius + 2, (context) => {
      context.beginPath();
      context.arc(0, 0, radius, 0, 2 * Math.PI);
      context.globalAlpha = 0.65 * strength;
      context.fillStyle = palette.event;
      context.fill();
      context.globalAlpha = Math.max(0.45, strength);
      context.lineWidth = strength > 0.9 ? 2 : 1;
      context.strokeStyle = palette.event;
      context.stroke();
    });
    stamp(context, sprite, x, y);
  }
  return marks;
}

/** In steps of half a pixel, so that there are not more sprites than sizes that can be told apart. */
const radiusOf = (magnitude: number | null) =>
  Math.round(2 * (2.5 + 0.6 * Math.max(0, magnitude ?? 1) ** 1.65)) / 2;

function strengthOf(ageMs: number): number {
  const hours = ageMs / 3_600_000;
  if (hours < 1 / 6) return 1;
  if (hours < 1) return 0.7;
  return hours < 24 ? 0.4 : 0.12;
}

/** Of the halo when it is largest. */
export const reachOfLit = 18;

/** @param pulse from 0 to 1, the state of the halo */
export function drawLit(
  { context, palette }: Canvas,
  marks: readonly StationMark[],
  colors: ReadonlyMap<string, string>,
  pulse: number,
): void {
  for (const { x, y, sensor } of marks) {
    const color = colors.get(sensor.id);
    if (!color) continue;
    context.beginPath();
    context.arc(x, y, 11 + (reachOfLit - 11) * pulse, 0, 2 * Math.PI);
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
    // P outside its front in the north and S in the south: they never meet, and cover what they lie over.
    const degrees = (phase === 'P' ? 1 : -1) * (radiusKm / kmPerDegree);
    const edge = projection([event.longitude, Math.max(-85, Math.min(85, event.latitude + degrees))]);
    if (edge) drawPhase(canvas, phase, edge[0], edge[1] + (phase === 'P' ? -10 : 10));
    context.globalAlpha = 1;
  }
}

function drawPhase({ context, palette }: Canvas, phase: Front['phase'], x: number, y: number): void {
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = phase === 'P' ? palette.waveP : palette.waveS;
  context.fill();
  context.fillStyle = palette.land;
  context.font = '700 12px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(phase, x, y + 0.5);
}

export function drawNames({ context, palette }: Canvas, names: readonly Name[]): void {
  context.font = '500 11px system-ui, sans-serif';
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = palette.land;
  context.fillStyle = palette.muted;
  for (const { text, x, y } of names) {
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
}

/** The field's symbol of a station. */
export function triangle(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.moveTo(x, y - radius);
  context.lineTo(x + radius * 0.95, y + radius * 0.75);
  context.lineTo(x - radius * 0.95, y + radius * 0.75);
  context.closePath();
}
