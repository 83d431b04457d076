import type { Feature } from 'geojson';
import { useEffect, useState } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
// A file of its own beside the script, which is drawn without it until it is there.
import address from 'world-atlas/land-50m.json?url';

let reading: Promise<Feature> | null = null;

/** The land of Natural Earth; null until it is read. The map is of use without it. */
export function useLand(): Feature | null {
  const [land, setLand] = useState<Feature | null>(null);
  useEffect(() => {
    reading ??= read();
    reading.then(setLand, () => {
      reading = null;
    });
  }, []);
  return land;
}

async function read(): Promise<Feature> {
  const response = await fetch(new URL(address, globalThis.location.href));
  const topology: Topology<{ land: GeometryCollection }> = await response.json();
  const { features } = feature(topology, topology.objects.land);
  const [land] = features;
  if (!land) throw new Error('The file has no land');
  return land;
}
