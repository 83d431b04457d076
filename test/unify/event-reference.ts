import type { EventFilter } from '../../src/unify/event/filter.js';
import { distanceKm } from '../../src/unify/geo/geodesy.js';
import type { CatalogueQuake, ProjectQuake } from './event-world.js';

/** What the list must be, worked out the long way: everything is compared with everything. */

export interface Merged {
  readonly key: string;
  readonly project: ProjectQuake | null;
  readonly catalogue: CatalogueQuake | null;
  readonly originMs: number;
}

export function mergedWorld(
  project: readonly ProjectQuake[],
  catalogue: readonly CatalogueQuake[],
): Merged[] {
  const pairs = pairsOf(project, catalogue);
  const taken = new Set(pairs.values());
  return [
    ...project.map((quake) => merged(quake, pairs.get(quake) ?? null)),
    ...catalogue.filter((quake) => !taken.has(quake)).map((quake) => merged(null, quake)),
  ].sort((a, b) => a.originMs - b.originMs || (a.key < b.key ? -1 : 1));
}

function pairsOf(
  project: readonly ProjectQuake[],
  catalogue: readonly CatalogueQuake[],
): Map<ProjectQuake, CatalogueQuake> {
  const pairs = new Map<ProjectQuake, CatalogueQuake>();
  for (const p of project) {
    const same = catalogue.find((c) => c.id === p.id);
    if (same && Math.abs(same.originMs - p.originMs) <= 900_000) pairs.set(p, same);
  }
  const leftP = project.filter((p) => !pairs.has(p));
  const taken = new Set(pairs.values());
  const leftC = catalogue.filter((c) => !taken.has(c));
  for (const p of leftP) {
    const c = nearest(p, leftC);
    if (c && nearest(c, leftP) === p) pairs.set(p, c);
  }
  return pairs;
}

export function matches(filter: EventFilter, { project, catalogue, originMs }: Merged): boolean {
  const place = catalogue ?? project;
  if (!place) return false;
  const magnitude = catalogue?.magnitude ?? project?.magnitude ?? null;
  const depthKm = catalogue?.depthKm ?? project?.depthKm ?? null;
  const issuedMs = project?.issuedMs ?? null;
  const { boundingBox: box, within } = filter;
  const ranges: [number | null, number | null | undefined, number | null | undefined][] = [
    [originMs, filter.from?.ms, filter.to?.ms],
    [issuedMs, filter.issuedFrom?.ms, filter.issuedTo?.ms],
    [magnitude, filter.minMagnitude, filter.maxMagnitude],
    [depthKm, filter.minDepthKm, filter.maxDepthKm],
  ];
  for (const [value, least, most] of ranges) {
    if (least == null && most == null) continue;
    if (value === null || value < (least ?? -Infinity) || value > (most ?? Infinity)) return false;
  }
  if (filter.networkId != null && catalogue?.networkId !== filter.networkId) return false;
  if (filter.source === 'PROJECT' && !project) return false;
  if (filter.source === 'CATALOGUE' && !catalogue) return false;
  if (within && distanceKm(within, place) > within.radiusKm) return false;
  if (!box) return true;
  const isEast = place.longitude >= box.minLongitude;
  const isWest = place.longitude <= box.maxLongitude;
  const isBetween = box.minLongitude <= box.maxLongitude ? isEast && isWest : isEast || isWest;
  return isBetween && place.latitude >= box.minLatitude && place.latitude <= box.maxLatitude;
}

function merged(project: ProjectQuake | null, catalogue: CatalogueQuake | null): Merged {
  const originMs = catalogue?.originMs ?? project?.originMs ?? 0;
  return { key: project ? `p:${project.id}` : `c:${catalogue?.id}`, project, catalogue, originMs };
}

type Quake = ProjectQuake | CatalogueQuake;

function nearest<T extends Quake>(quake: Quake, others: readonly T[]): T | null {
  let best: T | null = null;
  let bestLength = Number.POSITIVE_INFINITY;
  for (const other of others) {
    const s = Math.abs(quake.originMs - other.originMs) / 1000;
    const km = distanceKm(quake, other);
    if (s > 16 || km > 100) continue;
    const length = Math.hypot(s / 16, km / 100);
    if (length < bestLength || (length === bestLength && best && other.id < best.id)) {
      best = other;
      bestLength = length;
    }
  }
  return best;
}
