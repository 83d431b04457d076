import { lazy } from 'react';

// The lists are of use before the map is there, and before another view is opened.
const map = () => import('../map/map.js').then(({ WorldMap }) => ({ default: WorldMap }));
const earthquake = () => import('../earthquake/earthquake.js').then((file) => ({ default: file.Earthquake }));
const sensor = () => import('../sensor/sensor.js').then((file) => ({ default: file.Sensor }));
const fleet = () => import('../fleet/fleet.js').then((file) => ({ default: file.Fleet }));

export const WorldMap = lazy(map);
export const Earthquake = lazy(earthquake);
export const Sensor = lazy(sensor);
export const Fleet = lazy(fleet);

const aheadMs = 2_000;

/** Reads every view once the first is there: the next is opened at once, and without network too. */
export function readAhead(): () => void {
  const timer = setTimeout(() => {
    for (const read of [map, earthquake, sensor, fleet]) read().catch(() => {});
  }, aheadMs);
  return () => clearTimeout(timer);
}
