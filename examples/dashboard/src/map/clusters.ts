import type { SensorItem } from '../data/world.js';

/** A station on the map. */
export interface StationMark {
  readonly x: number;
  readonly y: number;
  readonly sensor: SensorItem;
}

/** Stations that lie too close to be told apart. */
export interface ClusterMark {
  readonly x: number;
  readonly y: number;
  readonly count: number;
  readonly offline: number;
}

// As many can be told apart on a screen.
const mostSingles = 400;
const cellPixels = 44;
const leastOfCluster = 4;

/**
 * Joins neighbours where more stations are in view than can be told apart. None is left out: each is a single, or counted
 * in one cluster.
 * @param anchor a point that stays on the Earth while the map is moved, so that clusters do not change meanwhile
 * @param apart stations that are never joined, such as those that shake
 */
export function clustered(
  marks: readonly StationMark[],
  anchor: readonly [number, number],
  apart: ReadonlySet<string>,
): { readonly singles: readonly StationMark[]; readonly clusters: readonly ClusterMark[] } {
  if (marks.length <= mostSingles) return { singles: marks, clusters: [] };
  const singles: StationMark[] = [];
  const cells = new Map<number, StationMark[]>();
  for (const mark of marks) {
    if (apart.has(mark.sensor.id)) {
      singles.push(mark);
      continue;
    }
    const column = Math.floor((mark.x - anchor[0]) / cellPixels);
    const row = Math.floor((mark.y - anchor[1]) / cellPixels);
    const cell = column * 1_000_003 + row;
    const known = cells.get(cell);
    if (known) known.push(mark);
    else cells.set(cell, [mark]);
  }
  const clusters: ClusterMark[] = [];
  for (const members of cells.values()) {
    if (members.length < leastOfCluster) singles.push(...members);
    else clusters.push(joined(members));
  }
  return { singles, clusters };
}

function joined(members: readonly StationMark[]): ClusterMark {
  let [x, y, offline] = [0, 0, 0];
  for (const mark of members) {
    x += mark.x;
    y += mark.y;
    if (mark.sensor.status === 'OFFLINE') offline++;
  }
  return { x: x / members.length, y: y / members.length, count: members.length, offline };
}
