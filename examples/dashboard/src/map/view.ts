import { type GeoProjection, geoAzimuthalEqualArea, geoCentroid, geoDistance, geoMercator } from 'd3-geo';

/** The part of the Earth that a map shows. */
export interface View {
  readonly longitude: number;
  readonly latitude: number;
  /** Pixels for a radian of longitude, in Mercator. */
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
// Mercator has no poles: beyond this latitude the map is azimuthal, centred on the view.
const polarLatitude = 66;
const highestOfMercator = 85;
const degrees = 180 / Math.PI;

export const isPolar = ({ latitude }: View): boolean => Math.abs(latitude) > polarLatitude;

/** Pixels for a radian on the ground, at the latitude. */
export function groundScale(view: View, latitude: number): number {
  return (
    view.scale /
    Math.cos((isPolar(view) ? polarLatitude : Math.min(highestOfMercator, Math.abs(latitude))) / degrees)
  );
}

/** The view's meridian is in the middle, so that the antimeridian is a meridian like any other. */
export function projectionOf(view: View, { width, height }: Size): GeoProjection {
  const projection = isPolar(view)
    ? geoAzimuthalEqualArea()
        .rotate([-view.longitude, -view.latitude])
        .scale(groundScale(view, view.latitude))
        .clipAngle(140)
    : geoMercator().rotate([-view.longitude, 0]).center([0, view.latitude]).scale(view.scale);
  return projection.translate([width / 2, height / 2]).clipExtent([
    [-20, -20],
    [width + 20, height + 20],
  ]);
}

/** Where a place is on the map in pixels. It is what the projection says, at a tenth of the time: a frame asks 15,000 times. */
export function pointIn(view: View, size: Size): (place: Place) => readonly [number, number] {
  if (isPolar(view)) {
    const projection = projectionOf(view, size);
    return ({ longitude, latitude }) => projection([longitude, latitude]) ?? [Number.NaN, Number.NaN];
  }
  const [middleX, middleY] = [size.width / 2, size.height / 2 + mercatorY(view.latitude) * view.scale];
  return ({ longitude, latitude }) => [
    middleX + (wrapped(longitude - view.longitude) / degrees) * view.scale,
    middleY - mercatorY(latitude) * view.scale,
  ];
}

/** Where a picture of the map lies: scaled about the middle of the frame, then moved to the right and down. */
export interface Placement {
  readonly scale: number;
  readonly right: number;
  readonly down: number;
}

/** Places a picture of one view so that it shows another. Null about a pole, where each place moves in its own way. */
export function placementOf(drawn: View, shown: View): Placement | null {
  if (drawn === shown) return { scale: 1, right: 0, down: 0 };
  if (isPolar(drawn) || isPolar(shown)) return null;
  return {
    scale: shown.scale / drawn.scale,
    right: (wrapped(drawn.longitude - shown.longitude) / degrees) * shown.scale,
    down: (mercatorY(shown.latitude) - mercatorY(drawn.latitude)) * shown.scale,
  };
}

/** Pixels once round the Earth. About a pole there is no way round. */
export const turnOf = (view: View): number => (isPolar(view) ? Infinity : 2 * Math.PI * view.scale);

/** The view in which all places fit: the shorter way round the Earth, also across the antimeridian. */
export function viewOf(places: readonly Place[], size: Size): View {
  const { width, height } = size;
  if (places.length === 0) return { longitude: 0, latitude: 20, scale: width / (2 * Math.PI) };
  const polar = polarViewOf(places, size);
  if (polar) return polar;
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
  const across = Math.max(least, spanDeg / degrees);
  const scale = Math.min(width / (across * 1.25), height / (Math.max(least, north - south) * 1.25));
  return bounded({
    longitude: wrapped(widest.start + spanDeg / 2),
    latitude: Math.max(-polarLatitude, Math.min(polarLatitude, latitudeOf((south + north) / 2))),
    scale,
  });
}

/** Null where the places are not about a pole. */
function polarViewOf(places: readonly Place[], { width, height }: Size): View | null {
  const coordinates = places.map(({ longitude, latitude }): [number, number] => [longitude, latitude]);
  const [longitude, latitude] = geoCentroid({ type: 'MultiPoint', coordinates });
  const centre: [number, number] = [longitude, latitude];
  const reach = extreme([0.002, ...coordinates.map((place) => geoDistance(centre, place))], Math.max);
  const view = { longitude, latitude, scale: 1 };
  if (!isPolar(view) || reach > 1) return null;
  const scale = Math.min(width, height) / (2 * reach * 1.25);
  return bounded({ ...view, scale: scale * Math.cos(polarLatitude / degrees) });
}

/** @param pixels of the drag, to the right and down */
export function moved(view: View, right: number, down: number): View {
  if (isPolar(view)) {
    // As a globe is turned: up to the pole, and there about it. Beyond it south would be up at once.
    const scale = groundScale(view, view.latitude) / degrees;
    const about = Math.max(0.3, Math.cos(view.latitude / degrees));
    return bounded({
      ...view,
      longitude: wrapped(view.longitude - right / scale / about),
      latitude: view.latitude + down / scale,
    });
  }
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
    latitude: Math.max(-90, Math.min(90, view.latitude)),
    scale: Math.max(least, Math.min(mostScale, view.scale)),
  };
}

const wrapped = (longitude: number) => ((((longitude + 180) % 360) + 360) % 360) - 180;

/** Radians north in Mercator. */
export function mercatorY(latitude: number): number {
  const bound = Math.max(-highestOfMercator, Math.min(highestOfMercator, latitude));
  return Math.log(Math.tan(Math.PI / 4 + bound / degrees / 2));
}

const latitudeOf = (y: number) => Math.atan(Math.exp(y)) * 2 * degrees - 90;

// Math.min of 10,000 arguments would be a call of as many.
const extreme = (values: readonly number[], choose: (one: number, other: number) => number) =>
  values.reduce((one, other) => choose(one, other));
