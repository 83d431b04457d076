import { type GeoProjection, geoMercator } from 'd3-geo';

/** The part of the Earth that a map shows. */
export interface View {
  readonly longitude: number;
  readonly latitude: number;
  /** Pixels for a radian of longitude. */
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  readonly longitude: number;
  readonly latitude: number;
}

const mostScale = 2_000_000;
// Mercator has no poles.
const highestLatitude = 82;

/** The view's meridian is in the middle, so that the antimeridian is a meridian like any other. */
export function projectionOf(view: View, { width, height }: Size): GeoProjection {
  return geoMercator()
    .rotate([-view.longitude, 0])
    .center([0, view.latitude])
    .scale(view.scale)
    .translate([width / 2, height / 2])
    .clipExtent([
      [-20, -20],
      [width + 20, height + 20],
    ]);
}

/** The view in which all places fit: the shorter way round the Earth, also across the antimeridian. */
export function viewOf(places: readonly Place[], { width, height }: Size): View {
  if (places.length === 0) return { longitude: 0, latitude: 20, scale: width / (2 * Math.PI) };
  const longitudes = places.map(({ longitude }) => longitude).sort((one, other) => one - other);
  let widest = { gap: -1, start: 0 };
  for (const [i, west] of longitudes.entries()) {
    const next = longitudes[i + 1] ?? (longitudes[0] ?? 0) + 360;
    if (next - west > widest.gap) widest = { gap: next - west, start: next };
  }
  const spanDeg = 360 - widest.gap;
  const ys = places.map(({ latitude }) => mercatorY(latitude));
  const [south, north] = [extreme(ys, Math.min), extreme(ys, Math.max)];
  // A single place, or a small array, is shown with its surroundings.
  const least = 0.004;
  const across = Math.max(least, (spanDeg * Math.PI) / 180);
  const scale = Math.min(width / (across * 1.25), height / (Math.max(least, north - south) * 1.25));
  return bounded({
    longitude: wrapped(widest.start + spanDeg / 2),
    latitude: latitudeOf((south + north) / 2),
    scale,
  });
}

/** @param pixels of the drag, to the right and down */
export function moved(view: View, right: number, down: number): View {
  const degrees = 180 / Math.PI;
  return bounded({
    ...view,
    longitude: wrapped(view.longitude - (right / view.scale) * degrees),
    latitude: latitudeOf(mercatorY(view.latitude) + down / view.scale),
  });
}

/** Zooms about a point, which keeps its place on the Earth. */
export function zoomed(
  view: View,
  factor: number,
  size: Size,
  x = size.width / 2,
  y = size.height / 2,
): View {
  const { scale } = bounded({ ...view, scale: view.scale * factor }, size);
  const [right, down] = [x - size.width / 2, y - size.height / 2];
  const about = moved(view, -right, -down);
  return moved({ ...about, scale }, right, down);
}

function bounded(view: View, size?: Size): View {
  const least = size ? size.width / (2 * Math.PI) / 1.5 : 20;
  return {
    longitude: view.longitude,
    latitude: Math.max(-highestLatitude, Math.min(highestLatitude, view.latitude)),
    scale: Math.max(least, Math.min(mostScale, view.scale)),
  };
}

const wrapped = (longitude: number) => ((((longitude + 180) % 360) + 360) % 360) - 180;

function mercatorY(latitude: number): number {
  const bound = Math.max(-highestLatitude, Math.min(highestLatitude, latitude));
  return Math.log(Math.tan(Math.PI / 4 + (bound * Math.PI) / 360));
}

const latitudeOf = (y: number) => (Math.atan(Math.exp(y)) * 360) / Math.PI - 90;

// Math.min of 10,000 arguments would be a call of as many.
const extreme = (values: readonly number[], choose: (one: number, other: number) => number) =>
  values.reduce((one, other) => choose(one, other));
