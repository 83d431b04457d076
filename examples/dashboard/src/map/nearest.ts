import type { EventItem, SensorItem } from '../data/world.js';
import type { ClusterMark, StationMark } from './clusters.js';
import type { EventMark } from './draw.js';
import { radiusOfCluster } from './stations.js';

/** What is on the map, for the pointer to find. */
export interface Drawn {
  singles: readonly StationMark[];
  clusters: readonly ClusterMark[];
  events: readonly EventMark[];
}

export interface Found {
  readonly x: number;
  readonly y: number;
  readonly sensor?: SensorItem;
  readonly event?: EventItem;
  readonly cluster?: ClusterMark;
}

const nearPixels = 8;

/** What the pointer is at, or nearly so. */
export function nearest({ singles, clusters, events }: Drawn, x: number, y: number): Found | null {
  let best: Found | null = null;
  let bestDistance = nearPixels;
  function consider(found: Found, radius: number): void {
    const distance = Math.hypot(found.x - x, found.y - y) - radius;
    if (distance < bestDistance) [best, bestDistance] = [found, distance];
  }
  for (const mark of singles) consider(mark, nearPixels);
  for (const cluster of clusters) consider({ ...cluster, cluster }, radiusOfCluster(cluster.count));
  // Within a large circle its centre counts: a station in it can still be pointed at.
  for (const mark of events) consider(mark, Math.min(mark.radius, nearPixels));
  return best;
}
