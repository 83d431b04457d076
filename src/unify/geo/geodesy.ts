import geodesic from 'geographiclib-geodesic';

/** Distances and regions on the WGS 84 ellipsoid. Degrees north and east; longitudes beyond ±180 are the same place. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export interface Circle extends Point {
  readonly radiusKm: number;
}

/** `minLongitude` greater than `maxLongitude` crosses the antimeridian; both can lie beyond ±180 (docs/behaviour.md 6.6). */
export interface Box {
  readonly minLongitude: number;
  readonly minLatitude: number;
  readonly maxLongitude: number;
  readonly maxLatitude: number;
}

/** Length of the shortest geodesic (Karney 2013), to nanometres even for nearly opposite points. */
export function distanceKm(a: Point, b: Point): number {
  const { s12 } = wgs84.Inverse(a.latitude, a.longitude, b.latitude, b.longitude, geodesic.Geodesic.DISTANCE);
  return (s12 ?? Number.NaN) / 1000;
}

export function withinRadius(circle: Circle, point: Point): boolean {
  // On a sphere it takes a tenth of the time, and is wrong by less than 0.6 %: only near the edge is more needed.
  const roughKm = sphericalKm(circle, point);
  if (roughKm * 1.01 < circle.radiusKm) return true;
  if (roughKm * 0.99 > circle.radiusKm) return false;
  return distanceKm(circle, point) <= circle.radiusKm;
}

/** The same meridian from -180 to 180; both ends are kept as they were written. */
export function normaliseLongitude(longitude: number): number {
  if (longitude >= -180 && longitude <= 180) return longitude;
  // The remainder of a division is exact, so that a longitude written both ways compares equal within its digits.
  const rest = longitude % 360;
  if (rest > 180) return rest - 360;
  return rest < -180 ? rest + 360 : rest;
}

/** Edges included. */
export function boxContains(box: Box, point: Point): boolean {
  if (point.latitude < box.minLatitude || point.latitude > box.maxLatitude) return false;
  const longitude = normaliseLongitude(point.longitude);
  const meridians = spansOf(box);
  const inside = (value: number) => meridians.some(([west, east]) => value >= west && value <= east);
  return inside(longitude) || (Math.abs(longitude) === 180 && inside(-longitude));
}

/** The same region as one box or two, none of which crosses the antimeridian: what an interface can be asked for. */
export function splitBox(box: Box): readonly Box[] {
  return spansOf(box).map(([minLongitude, maxLongitude]) => ({ ...box, minLongitude, maxLongitude }));
}

/** A box that holds the whole circle, and little more; all longitudes when a pole is inside. */
export function boxAround({ latitude, longitude, radiusKm }: Circle): Box {
  // The smallest radius of curvature of the ellipsoid, so that the angle is nowhere too small, and a little for the
  // difference between geodetic and spherical latitude.
  const angle = (radiusKm / 6335.4) * 1.004;
  const degrees = (angle * 180) / Math.PI;
  const minLatitude = Math.max(-90, latitude - degrees);
  const maxLatitude = Math.min(90, latitude + degrees);
  const reach = Math.sin(angle) / Math.cos((latitude * Math.PI) / 180);
  if (minLatitude === -90 || maxLatitude === 90 || angle >= Math.PI / 2 || reach >= 1) {
    return { minLongitude: -180, minLatitude, maxLongitude: 180, maxLatitude };
  }
  const halfWidth = ((Math.asin(reach) * 180) / Math.PI) * 1.004;
  if (halfWidth >= 180) return { minLongitude: -180, minLatitude, maxLongitude: 180, maxLatitude };
  return {
    minLongitude: normaliseLongitude(longitude - halfWidth),
    minLatitude,
    maxLongitude: normaliseLongitude(longitude + halfWidth),
    maxLatitude,
  };
}

const wgs84 = geodesic.Geodesic.WGS84;

function sphericalKm(a: Point, b: Point): number {
  const radians = Math.PI / 180;
  const byLatitude = Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2;
  const byLongitude = Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  const square = byLatitude + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * byLongitude;
  return 2 * 6371.0088 * Math.asin(Math.sqrt(Math.min(1, square)));
}

type Span = readonly [west: number, east: number];

function spansOf({ minLongitude, maxLongitude }: Box): readonly Span[] {
  if (maxLongitude - minLongitude >= 360) return [[-180, 180]];
  const west = normaliseLongitude(minLongitude);
  const east = normaliseLongitude(maxLongitude);
  if (west <= east) return [[west, east]];
  return [
    [west, 180],
    [-180, east],
  ];
}
