import type { Position } from 'geojson';

/**
 * A line whose longitudes go on beyond 180 degrees where it crosses the antimeridian: in a plane it would run back round the
 * whole Earth. Along the pole, where the file closes Antarctica, it does run round.
 */
export function unwound(line: readonly Position[]): readonly (readonly [number, number])[] {
  let turnsDeg = 0;
  let before = line[0]?.[0] ?? 0;
  return line.map(([longitude = 0, latitude = 0]) => {
    if (latitude > -89.9) {
      if (longitude - before > 180) turnsDeg -= 360;
      else if (before - longitude > 180) turnsDeg += 360;
    }
    before = longitude;
    return [longitude + turnsDeg, latitude];
  });
}
