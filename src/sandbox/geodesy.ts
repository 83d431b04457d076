const radiusKm = 6371.0088;
const perDegree = Math.PI / 180;

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** Great-circle distance on a sphere of the Earth's mean radius. */
export function distanceKm(a: Point, b: Point): number {
  const halfLatitude = ((b.latitude - a.latitude) * perDegree) / 2;
  const halfLongitude = ((b.longitude - a.longitude) * perDegree) / 2;
  const h =
    Math.sin(halfLatitude) ** 2 +
    Math.cos(a.latitude * perDegree) * Math.cos(b.latitude * perDegree) * Math.sin(halfLongitude) ** 2;
  return 2 * radiusKm * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The point `km` kilometres from `start` in the direction `bearingDeg` (degrees clockwise from north). */
export function displaced(start: Point, bearingDeg: number, km: number): Point {
  const angle = km / radiusKm;
  const bearing = bearingDeg * perDegree;
  const latitude = start.latitude * perDegree;
  const sinLatitude =
    Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(bearing);
  const eastward = Math.atan2(
    Math.sin(bearing) * Math.sin(angle) * Math.cos(latitude),
    Math.cos(angle) - Math.sin(latitude) * sinLatitude,
  );
  const longitude = start.longitude + eastward / perDegree;
  return {
    latitude: Math.asin(sinLatitude) / perDegree,
    longitude: ((((longitude + 180) % 360) + 360) % 360) - 180,
  };
}
