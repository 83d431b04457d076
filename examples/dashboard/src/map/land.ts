import type { LineString, MultiLineString, MultiPolygon, Polygon, Position } from 'geojson';
import { useEffect, useState } from 'react';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
// A file of its own beside the script, which is drawn without it until it is there.
import address from 'world-atlas/countries-50m.json?url';
import { unwound } from './unwound.js';
import { mercatorY } from './view.js';

/** Land, coasts and borders of Natural Earth. */
export interface Land {
  readonly areas: readonly Shape[];
  readonly coasts: readonly Shape[];
  readonly borders: readonly Shape[];
}

/** One island, continent or line. */
export interface Shape {
  readonly geometry: Polygon | LineString;
  /** The same in radians of Mercator, north up, made once: a frame only moves it. */
  readonly path: Path2D;
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

const noLand: Land = { areas: [], coasts: [], borders: [] };

let reading: Promise<Land> | null = null;

/** None until it is read. The map is of use without it. */
export function useLand(): Land {
  const [land, setLand] = useState(noLand);
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
  const topology: Topology<{ land: GeometryCollection; countries: GeometryCollection }> =
    await response.json();
  const polygons = feature(topology, topology.objects.land).features.flatMap(({ geometry }) =>
    polygonsOf(geometry as Polygon | MultiPolygon),
  );
  const areas = await inSlices(polygons, (rings) => shapeOf({ type: 'Polygon', coordinates: rings }, rings));
  const coasts = await inSlices(polygons.flatMap(coastsOf), shapeOfLine);
  const borders: MultiLineString = mesh(topology, topology.objects.countries, (one, other) => one !== other);
  return { areas, coasts, borders: await inSlices(borders.coordinates, shapeOfLine) };
}

const sliceMs = 10;

/** Lets the page answer and draw meanwhile: all at once would hold it up for a second on a telephone. */
async function inSlices<From, To>(all: readonly From[], make: (one: From) => To): Promise<readonly To[]> {
  const made: To[] = [];
  let endMs = 0;
  for (const one of all) {
    if (performance.now() >= endMs) {
      await new Promise((resolve) => setTimeout(resolve));
      endMs = performance.now() + sliceMs;
    }
    made.push(make(one));
  }
  return made;
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

const shapeOfLine = (line: Position[]): Shape => shapeOf({ type: 'LineString', coordinates: line }, [line]);

function shapeOf(geometry: Shape['geometry'], lines: readonly Position[][]): Shape {
  const path = new Path2D();
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const line of lines) {
    for (const [i, [longitude, latitude]] of unwound(line).entries()) {
      const [x, y] = [(longitude * Math.PI) / 180, mercatorY(latitude)];
      if (i === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
      [west, east] = [Math.min(west, x), Math.max(east, x)];
      [south, north] = [Math.min(south, y), Math.max(north, y)];
    }
  }
  return { geometry, path, west, east, south, north };
}
