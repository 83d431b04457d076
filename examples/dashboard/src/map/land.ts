import type { Feature, MultiLineString, MultiPolygon, Polygon, Position } from 'geojson';
import { useEffect, useState } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
// A file of its own beside the script, which is drawn without it until it is there.
import address from 'world-atlas/land-50m.json?url';

export interface Land {
  readonly area: Feature;
  readonly coast: MultiLineString;
}

let reading: Promise<Land> | null = null;

/** The land of Natural Earth; null until it is read. The map is of use without it. */
export function useLand(): Land | null {
  const [land, setLand] = useState<Land | null>(null);
  useEffect(() => {
    reading ??= read();
    reading.then(setLand, () => {
      reading = null;
    });
  }, []);
  return land;
}

async function read(): Promise<Land> {
  const response = await fetch(new URL(address, globalThis.location.href));
  const topology: Topology<{ land: GeometryCollection }> = await response.json();
  const { features } = feature(topology, topology.objects.land);
  const [area] = features;
  if (!area) throw new Error('The file has no land');
  const coordinates = features.flatMap(({ geometry }) => coastsOf(geometry as Polygon | MultiPolygon));
  return { area, coast: { type: 'MultiLineString', coordinates } };
}

/** The file cuts land at the antimeridian and at the pole. Those cuts are no coasts. */
function coastsOf(geometry: Polygon | MultiPolygon): Position[][] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.flat().flatMap((ring) => {
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
