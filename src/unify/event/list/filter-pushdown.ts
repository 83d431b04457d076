import {
  type Box,
  boxAround,
  type Circle,
  distanceKm,
  normaliseLongitude,
  type Point,
  splitBox,
} from '../../geo/geodesy.js';
import { associationKm, type Reach } from '../association.js';
import type { EventFilter } from '../filter.js';

/**
 * What the interfaces are asked for so that nothing is missing that decides on an event of the list: filters test merged
 * values (docs/behaviour.md 6.3), so each is widened by how far the records of one earthquake and their rivals can lie apart.
 */
export interface Pushdown {
  /** Regions for `bbox`, none of them across the antimeridian; undefined stands for everywhere. */
  readonly boxes: readonly (readonly [number, number, number, number] | undefined)[];
  /** For the catalogue's radius search. */
  readonly near: Near | undefined;
  /** Origin times that matter, in milliseconds, look-ahead included; infinite where there is no bound. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Issue times of what can be on the list; what decides on it can have been issued at any time. */
  readonly issuedFromMs: number;
  readonly issuedToMs: number;
  /** What leaves out whatever does not look like what is asked for. */
  readonly selection: Selection;
  readonly reach: Reach;
  /** Equal for narrowings by which the interfaces are asked the same; times aside. */
  readonly name: string;
}

export interface Near extends Point {
  readonly radiusKm: number;
}

/** For `min_magnitude`, `max_magnitude` and `network_id`. */
export interface Selection {
  readonly minMagnitude?: number | undefined;
  readonly maxMagnitude?: number | undefined;
  readonly networkId?: string | undefined;
}

export function pushdownOf(filter: EventFilter, reach: Reach, selection: Selection = {}): Pushdown {
  const { sameIdWithinS, lookAheadMs } = reach;
  const region = regionOf(filter);
  const boxes = region ? splitBox(region).map(asBbox) : [undefined];
  const near = nearOf(filter);
  return {
    boxes,
    near,
    selection,
    fromMs: filter.from ? filter.from.ms - lookAheadMs : Number.NEGATIVE_INFINITY,
    toMs: filter.to ? filter.to.ms + lookAheadMs : Number.POSITIVE_INFINITY,
    issuedFromMs: filter.issuedFrom?.ms ?? Number.NEGATIVE_INFINITY,
    issuedToMs: filter.issuedTo?.ms ?? Number.POSITIVE_INFINITY,
    reach,
    name: JSON.stringify([region ? boxes : null, near ?? null, selection, sameIdWithinS]),
  };
}

/**
 * What the interfaces can be asked to leave out by themselves.
 * @param slack how far two magnitudes of one earthquake are taken to differ at most
 */
export function selectionOf(filter: EventFilter, slack: number): Selection {
  const { minMagnitude, maxMagnitude, networkId } = filter;
  return {
    ...(typeof minMagnitude === 'number' && { minMagnitude: minMagnitude - slack }),
    ...(typeof maxMagnitude === 'number' && { maxMagnitude: maxMagnitude + slack }),
    ...(typeof networkId === 'string' && { networkId }),
  };
}

/**
 * Assumed: two solutions of one id lie within 300 km of each other when a list is narrowed to a place. Around that,
 * a rival of either can be another 100 km away, and its own another 100.
 */
const marginKm = 300 + 2 * associationKm;

function regionOf({ boundingBox, within }: EventFilter): Box | null {
  if (within) return rounded(boxAround({ ...within, radiusKm: within.radiusKm + marginKm }));
  return boundingBox ? rounded(widened(boundingBox)) : null;
}

function widened(box: Box): Box {
  const degrees = marginKm / 110.5;
  const minLatitude = Math.max(-90, box.minLatitude - degrees);
  const maxLatitude = Math.min(90, box.maxLatitude + degrees);
  // Degrees of longitude are narrowest at the edge nearest to a pole.
  const narrowest = Math.cos((Math.max(Math.abs(minLatitude), Math.abs(maxLatitude)) * Math.PI) / 180);
  const sideways = marginKm / (111.3 * narrowest);
  const span = box.maxLongitude - box.minLongitude + (box.maxLongitude < box.minLongitude ? 360 : 0);
  if (!(span + 2 * sideways < 360))
    return { minLongitude: -180, minLatitude, maxLongitude: 180, maxLatitude };
  return {
    minLongitude: normaliseLongitude(box.minLongitude - sideways),
    minLatitude,
    maxLongitude: normaliseLongitude(box.maxLongitude + sideways),
    maxLatitude,
  };
}

// Larger circles leave out so little of the globe that their narrowing is not worth a cache entry of its own.
const widestKm = 8000;

function nearOf({ boundingBox, within }: EventFilter): Near | undefined {
  const circle = within ?? (boundingBox ? circleAround(boundingBox) : null);
  // A hundredth more, since how the catalogue measures is not shown: on a sphere or on an ellipsoid.
  const radiusKm = circle ? Math.ceil((circle.radiusKm + marginKm) * 1.01) : Number.POSITIVE_INFINITY;
  if (!circle || radiusKm > widestKm) return undefined;
  return {
    latitude: round(circle.latitude, Math.round),
    longitude: round(normaliseLongitude(circle.longitude), Math.round),
    radiusKm: radiusKm + 1,
  };
}

/** Null for a box that reaches around half of the globe. */
function circleAround(box: Box): Circle | null {
  const width = box.maxLongitude - box.minLongitude + (box.maxLongitude < box.minLongitude ? 360 : 0);
  if (width >= 180) return null;
  const centre = {
    latitude: (box.minLatitude + box.maxLatitude) / 2,
    longitude: box.minLongitude + width / 2,
  };
  let radiusKm = 0;
  for (const latitude of [box.minLatitude, centre.latitude, box.maxLatitude]) {
    for (const longitude of [box.minLongitude, centre.longitude, box.minLongitude + width]) {
      radiusKm = Math.max(radiusKm, distanceKm(centre, { latitude, longitude }));
    }
  }
  // The farthest point of an edge can lie between those tried; a box is less than twice as far there.
  return { ...centre, radiusKm: radiusKm * (width > 30 ? 1.5 : 1.05) };
}

// Whole thousandths of a degree, outwards: the same box is asked for however its margin came out in the last digit.
function rounded(box: Box): Box {
  return {
    minLongitude: Math.max(-180, round(box.minLongitude, Math.floor)),
    minLatitude: Math.max(-90, round(box.minLatitude, Math.floor)),
    maxLongitude: Math.min(180, round(box.maxLongitude, Math.ceil)),
    maxLatitude: Math.min(90, round(box.maxLatitude, Math.ceil)),
  };
}

function round(degrees: number, how: (value: number) => number): number {
  return how(degrees * 1000) / 1000;
}

function asBbox(box: Box): readonly [number, number, number, number] {
  return [box.minLongitude, box.minLatitude, box.maxLongitude, box.maxLatitude];
}
