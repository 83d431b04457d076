import geodesic from 'geographiclib-geodesic';

/** A point on the WGS 84 ellipsoid, in degrees north and east. Longitudes beyond ±180 wrap around. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export interface Circle extends Point {
  readonly radiusKm: number;
}

/**
 * With `minLongitude` > `maxLongitude` it crosses the antimeridian; both may lie beyond ±180 (docs/behaviour.md 6.6).
 */
export interface Box {
  readonly minLongitude: number;
  readonly minLatitude: number;
  readonly maxLongitude: number;
  readonly maxLatitude: number;
}

/** Length of the shortest geodesic (Karney 2013), accurate to nanometres even for nearly antipodal points. */
export function distanceKm(a: Point, b: Point): number {
  const { s12 } = wgs84.Inverse(a.latitude, a.longitude, b.latitude, b.longitude, geodesic.Geodesic.DISTANCE);
  return (s12 ?? Number.NaN) / 1000;
}

export function withinRadius(circle: Circle, point: Point): boolean {
  // The spherical distance takes a tenth of the time and errs by less than 0.6 %, so the geodesic is computed only
  // within 1 % of the edge.
  const roughKm = sphericalKm(circle, point);
  if (roughKm * 1.01 < circle.radiusKm) return true;
  if (roughKm * 0.99 > circle.radiusKm) return false;
  return distanceKm(circle, point) <= circle.radiusKm;
}

/** The same meridian within -180 to 180; -180 and 180 themselves are returned unchanged. */
export function normaliseLongitude(longitude: number): number {
  if (longitude >= -180 && longitude <= 180) return longitude;
  // `%` is exact, so that both notations of a longitude compare equal within their digits.
  const rest = longitude % 360;
  if (rest > 180) return rest - 360;
  return rest < -180 ? rest + 360 : rest;
}

/** The edges belong to the box. */
export function boxContains(box: Box, point: Point): boolean {
  if (point.latitude < box.minLatitude || point.latitude > box.maxLatitude) return false;
  const longitude = normaliseLongitude(point.longitude);
  const meridians = spansOf(box);
  const inside = (value: number) => meridians.some(([west, east]) => value >= west && value <= east);
  return inside(longitude) || (Math.abs(longitude) === 180 && inside(-longitude));
}

/**
 * The same region as one or two boxes that do not cross the antimeridian: upstream's filters accept only such boxes.
 */
export function splitBox(box: Box): readonly Box[] {
  return spansOf(box).map(([minLongitude, maxLongitude]) => ({ ...box, minLongitude, maxLongitude }));
}

/** A box that contains the whole circle and little more; all longitudes when a pole is inside. */
export function boxAround({ latitude, longitude, radiusKm }: Circle): Box {
  // 6335.4 km is the smallest radius of curvature of the ellipsoid, so that the angle is nowhere too small. The 0.4 %
  // cover the difference between geodetic and spherical latitude.
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
