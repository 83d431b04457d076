import type { SensorItem } from '../data/world.js';
import { type ClusterMark, clustered, type StationMark } from './clusters.js';
import { type Canvas, isInView, repeated, stamp, triangle } from './draw.js';
import { groundScale } from './view.js';

const earthRadiusKm = 6_371;
/** Location masking displaces a position by 1000 m at most (docs/behaviour.md 6.4). */
const uncertaintyKm = 1;

export interface DrawnStations {
  readonly singles: readonly StationMark[];
  readonly clusters: readonly ClusterMark[];
}

/** @param lit ids of the sensors that are drawn later, by `drawLit` */
export function drawStations(
  canvas: Canvas,
  sensors: Iterable<SensorItem>,
  lit: ReadonlySet<string>,
): DrawnStations {
  const marks: StationMark[] = [];
  for (const sensor of sensors) {
    if (!sensor.location) continue;
    const [x, y] = canvas.point(sensor.location);
    if (isInView(x, y, canvas.size, 20)) marks.push({ x, y, sensor });
  }
  const [anchorX, anchorY] = canvas.point({ longitude: 0, latitude: 0 });
  const found = clustered(marks, Number.isFinite(anchorX) ? [anchorX, anchorY] : [0, 0], lit);
  const drawn = {
    singles: repeated(canvas, found.singles),
    clusters: repeated(canvas, found.clusters),
  };
  drawUncertainty(canvas, drawn.singles);
  for (const status of ['UNKNOWN', 'ONLINE', 'OFFLINE'] as const) {
    const sprite = spriteOf(canvas, status);
    for (const { x, y, sensor } of drawn.singles) {
      if (sensor.status === status && !lit.has(sensor.id)) stamp(canvas.context, sprite, x, y);
    }
  }
  for (const cluster of drawn.clusters) drawCluster(canvas, cluster);
  return drawn;
}

const spriteOf = ({ sprite, palette }: Canvas, status: SensorItem['status']) =>
  sprite(`station ${status}`, 9, (context) => {
    context.beginPath();
    triangle(context, 0, 0, 5.5);
    context.fillStyle = status === 'ONLINE' ? palette.online : palette.land;
    context.fill();
    context.lineWidth = status === 'ONLINE' ? 1 : 1.75;
    context.strokeStyle = { ONLINE: palette.land, OFFLINE: palette.offline, UNKNOWN: palette.coast }[status];
    context.stroke();
  });

export const radiusOfCluster = (count: number): number => Math.round(9 + 3 * Math.log10(count));

/** A disc with the number of its stations. Its ring is open as far as they are offline. */
function drawCluster({ context, sprite, palette }: Canvas, { x, y, count, offline }: ClusterMark): void {
  const radius = radiusOfCluster(count);
  // In twelfths, and not none where there is one.
  const twelfths = offline === 0 ? 0 : Math.max(1, Math.round((12 * offline) / count));
  const disc = sprite(`cluster ${radius} ${twelfths} ${count}`, radius + 3, (context) => {
    context.beginPath();
    context.arc(0, 0, radius, 0, 2 * Math.PI);
    context.fillStyle = palette.land;
    context.fill();
    context.globalAlpha = 0.2;
    context.fillStyle = palette.online;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 2.5;
    for (const [start, end, color] of [
      [0, twelfths, palette.offline],
      [twelfths, 12, palette.online],
    ] as const) {
      if (start === end) continue;
      context.beginPath();
      const turn = (part: number) => (part / 6 - 0.5) * Math.PI;
      context.arc(0, 0, radius, turn(start), turn(end));
      context.strokeStyle = color;
      context.stroke();
    }
    context.fillStyle = palette.lit;
    context.font = `600 ${count > 999 ? 9 : 11}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(String(count), 0, 0.5);
  });
  stamp(context, disc, x, y);
}

/** Circles in which masked stations lie. From afar they have a least size, so that they are never taken for points. */
function drawUncertainty({ context, view, palette }: Canvas, marks: readonly StationMark[]): void {
  context.beginPath();
  for (const { x, y, sensor } of marks) {
    if (!sensor.location?.masked) continue;
    const radius = Math.max(9, (uncertaintyKm * groundScale(view, sensor.location.latitude)) / earthRadiusKm);
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
