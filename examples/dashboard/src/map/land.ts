import { geoCentroid, geoDistance } from 'd3-geo';
import type { MultiLineString, MultiPolygon, Polygon, Position } from 'geojson';
import { useEffect, useState } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
// A file of its own beside the script, which is drawn without it until it is there.
import address from 'world-atlas/land-50m.json?url';

/** One island or continent. */
export interface Land {
  readonly area: Polygon;
  readonly coast: MultiLineString;
  /** A circle that it lies in, so that land out of view need not be drawn. */
  readonly centre: readonly [number, number];
  readonly radiusRad: number;
}

let reading: Promise<readonly Land[]> | null = null;

/** The land of Natural Earth; none until it is read. The map is of use without it. */
export function useLand(): readonly Land[] {
  const [land, setLand] = useState<readonly Land[]>([]);
  useEffect(() => {
    reading ??= read();
    reading.then(setLand, () => {
      reading = null;
    });
  }, []);
  return land;
}

async function read(): Promise<readonly Land[]> {
  const response = await fetch(new URL(address, globalThis.location.href));
  const topology: Topology<{ land: GeometryCollection }> = await response.json();
  const { features } = feature(topology, topology.objects.land);
  return features
    .flatMap(({ geometry }) => polygonsOf(geometry as Polygon | MultiPolygon))
    .map((coordinates) => {
      const centre = geoCentroid({ type: 'LineString', coordinates: coordinates[0] ?? [] });
      const distances = (coordinates[0] ?? []).map((point) => geoDistance(centre, point as [number, number]));
      return {
        area: { type: 'Polygon', coordinates },
        coast: { type: 'MultiLineString', coordinates: coastsOf(coordinates) },
        centre,
        radiusRad: Math.max(...distances),
      };
    });
}

const polygonsOf = (geometry: Polygon | MultiPolygon) =>
  geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;

/** The file cuts land at the antimeridian and at the pole. Those cuts are no coasts. */
function coastsOf(rings: readonly Position[][]): Position[][] {
  return rings.flatMap((ring) => {
    const lines: Position[][] = [[]];
    for (const [i, point] of ring.entries()) {
      const before = ring[i - 1];
      if (before && isCut(before) && isCut(point)) lines.push([]);
      lines.at(-1)?.push(point);
    }
    return lines.filter(({ length }) => length > 1);
  });
}

const isCut = ([longitude = 0, latitude = 0]: Position) => Math.abs(longitude) > 179.99 || latitude < -89.9;
