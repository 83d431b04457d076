import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import { mostEvents, RecentlyUsed } from '../derived.js';
import { distanceKm, type Point } from '../geo/geodesy.js';
import type { Instant } from '../time/instant.js';
import { firstIndex } from '../time/spans.js';
import { instantOf } from '../time/wire-time.js';
import { catalogueSolution, issueTime, knownInstant, projectSolution } from './solution.js';

/**
 * Associates the records of the same earthquake (docs/behaviour.md 6.2): equal ids first, else origins within 16 s and
 * 100 km that are each other's nearest among the remaining ones. Magnitude is never used. One to one: each record is in
 * at most one pair.
 * @returns the catalogue record of each project record that has one
 */
export function associate<P extends Recorded<WireProjectEvent>, C extends Recorded<WireCatalogueEvent>>(
  project: readonly P[],
  catalogue: readonly C[],
  { sameIdWithinS }: Reach = wideReach,
): Map<P, C> {
  const pairs = new Map<P, C>();
  const ofProject = project.flatMap(traceOfProject);
  const ofCatalogue = catalogue.flatMap(traceOfCatalogue);

  const byId = new Map(ofCatalogue.map((trace) => [trace.id, trace]));
  const associated = new Set<Trace<C>>();
  const left = ofProject.filter((trace) => {
    const same = byId.get(trace.id);
    if (!same || Math.abs(secondsBetween(same.time, trace.time)) > sameIdWithinS) return true;
    pairs.set(trace.record, same.record);
    associated.add(same);
    return false;
  });
  const others = ofCatalogue.filter((trace) => !associated.has(trace));

  const nearest = nearestOf(left, others);
  const nearestBack = nearestOf(others, left);
  for (const [trace, candidate] of nearest) {
    if (nearestBack.get(candidate) === trace) pairs.set(trace.record, candidate.record);
  }
  return pairs;
}

/** Carries a record as upstream sent it. */
export interface Recorded<T> {
  readonly value: T;
}

// USGS ComCat takes two origins within this window for one earthquake (docs/behaviour.md 6.2).
const associationS = 16;
export const associationKm = 100;

/**
 * Bounds for association in a list that is read window by window: records of one id that are further apart could only
 * be associated by reading everything between them.
 */
export interface Reach {
  readonly sameIdWithinS: number;
  /**
   * Records within this span of an origin time decide on a record there: one within 16 s of it may have its own nearest
   * another 16 s away, unless that one is associated by id.
   */
  readonly lookAheadMs: number;
}

/** Assumed: two solutions of one id begin within a quarter of an hour of each other. */
export const wideReach = reachOf(900);

/** Assumed: within two minutes, where earthquakes are so dense that a quarter of an hour is too much to read. */
export const closeReach = reachOf(120);

function reachOf(sameIdWithinS: number): Reach {
  return { sameIdWithinS, lookAheadMs: (sameIdWithinS + 2 * associationS) * 1000 };
}

interface Trace<T> {
  readonly record: T;
  readonly id: string;
  readonly time: Instant;
  /** Null when the record has no location: it can then only be associated by id. */
  readonly point: Point | null;
}

function traceOfProject<T extends Recorded<WireProjectEvent>>(record: T): Trace<T>[] {
  const { value } = record;
  const solution = projectSolution(value);
  // Without an origin, the issue time is the best estimate of the origin time.
  const time = solution?.originTime ?? knownInstant(issueTime(value));
  return time ? [{ record, id: value.id, time, point: solution }] : [];
}

function traceOfCatalogue<T extends Recorded<WireCatalogueEvent>>(record: T): Trace<T>[] {
  const { value } = record;
  const solution = catalogueSolution(value);
  const time = solution?.originTime ?? knownInstant(instantOf(value.origin_time));
  return time ? [{ record, id: value.id, time, point: solution }] : [];
}

/** The nearest of `others` within the window, for each trace; tie-break by the lower id. */
function nearestOf<A, B>(traces: readonly Trace<A>[], others: readonly Trace<B>[]): Map<Trace<A>, Trace<B>> {
  const located = others.filter((trace) => trace.point !== null).sort((a, b) => a.time.ms - b.time.ms);
  const nearest = new Map<Trace<A>, Trace<B>>();
  for (const trace of traces) {
    let best: Trace<B> | null = null;
    let bestLength = Number.POSITIVE_INFINITY;
    // One millisecond more, for rounding: the exact test follows.
    const reachMs = associationS * 1000 + 1;
    const first = firstIndex(located, (other) => other.time.ms >= trace.time.ms - reachMs);
    for (let index = first; index < located.length; index++) {
      const other = located[index];
      if (!other || other.time.ms > trace.time.ms + reachMs) break;
      const length = lengthBetween(trace, other);
      if (length < bestLength || (best !== null && length === bestLength && other.id < best.id)) {
        best = other;
        bestLength = length;
      }
    }
    if (best) nearest.set(trace, best);
  }
  return nearest;
}

/** Infinite outside the window. */
function lengthBetween(a: Trace<unknown>, b: Trace<unknown>): number {
  if (!a.point || !b.point) return Number.POSITIVE_INFINITY;
  const s = Math.abs(secondsBetween(a.time, b.time));
  // One degree of latitude is nowhere shorter than 110.57 km.
  const tooFar = Math.abs(a.point.latitude - b.point.latitude) * 110.5 > associationKm;
  if (s > associationS || tooFar) return Number.POSITIVE_INFINITY;
  const km = kmBetween(a.point, b.point);
  return km > associationKm ? Number.POSITIVE_INFINITY : Math.hypot(s / associationS, km / associationKm);
}

/**
 * Caches the last distance of each point: most solutions have one candidate, compared again by every page and
 * operation.
 */
function kmBetween(a: Point, b: Point): number {
  const [one, other] =
    a.latitude < b.latitude || (a.latitude === b.latitude && a.longitude < b.longitude) ? [a, b] : [b, a];
  const last = lastDistances.get(one);
  if (last?.to === other) return last.km;
  const km = distanceKm(one, other);
  lastDistances.set(one, { to: other, km });
  return km;
}

const lastDistances = new RecentlyUsed<Point, { readonly to: Point; readonly km: number }>(mostEvents);

// Whole seconds and fractions are subtracted separately: milliseconds since 1970 as one float lose precision, so that
// 16 s would not always be exactly 16.
function secondsBetween(a: Instant, b: Instant): number {
  const fraction = (time: Instant) =>
    (time.leap ? 1 : 0) + (time.digits === '' ? 0 : Number(`0.${time.digits}`));
  return a.unixS - b.unixS + (fraction(a) - fraction(b));
}
