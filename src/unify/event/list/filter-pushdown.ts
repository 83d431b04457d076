import { forever, hourMs, longAgo, plus, type UnixMs } from '../../../clock.js';
import { asId, type NetworkId } from '../../../upstream/decode/fields.js';
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
 * Filter pushdown: the query parameters sent upstream. Filters test merged values (docs/behaviour.md 6.3), so each one
 * is widened by how far the records of one earthquake and their rivals can lie apart; no record that decides on an
 * event of the list is left out.
 */
export interface Pushdown {
  /** Values of `bbox`, none across the antimeridian; undefined for the whole world. */
  readonly boxes: readonly (readonly [number, number, number, number] | undefined)[];
  /** The catalogue's radius search; undefined when it is not worth a query of its own. */
  readonly near: Near | undefined;
  /** Range of origin times in Unix milliseconds, look-ahead included; infinite without a bound. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  /** Range of issue times in Unix milliseconds, rivals included; infinite without a bound. */
  readonly issuedFromMs: UnixMs;
  readonly issuedToMs: UnixMs;
  /** Conditions on magnitude and network that upstream tests itself. */
  readonly selection: Selection;
  readonly reach: Reach;
  /** Equal for pushdowns that send the same parameters, times aside; identifies cached windows and cursors. */
  readonly name: string;
}

export interface Near extends Point {
  readonly radiusKm: number;
}

/** Values of `min_magnitude`, `max_magnitude` and `network_id`. */
export interface Selection {
  readonly minMagnitude?: number | undefined;
  readonly maxMagnitude?: number | undefined;
  readonly networkId?: NetworkId | undefined;
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
    fromMs: filter.from ? plus(filter.from.ms, -lookAheadMs) : longAgo,
    toMs: filter.to ? plus(filter.to.ms, lookAheadMs) : forever,
    issuedFromMs: filter.issuedFrom ? plus(filter.issuedFrom.ms, -rivalsIssuedWithinMs) : longAgo,
    issuedToMs: filter.issuedTo ? plus(filter.issuedTo.ms, rivalsIssuedWithinMs) : forever,
    reach,
    name: JSON.stringify([region ? boxes : null, near ?? null, selection, sameIdWithinS]),
  };
}

/**
 * Assumed: the project's records that compete with a matching event for its partner were issued at most an hour before or
 * after the filter's range. Exactness would take all that was issued since its earthquake.
 */
export const rivalsIssuedWithinMs = hourMs;

/**
 * The conditions of a filter that upstream can test itself.
 * @param slack largest assumed difference between two magnitudes of one earthquake
 */
export function selectionOf(filter: EventFilter, slack: number): Selection {
  const { minMagnitude, maxMagnitude, networkId } = filter;
  return {
    ...(typeof minMagnitude === 'number' && { minMagnitude: minMagnitude - slack }),
    ...(typeof maxMagnitude === 'number' && { maxMagnitude: maxMagnitude + slack }),
    ...(typeof networkId === 'string' && { networkId: asId<'network'>(networkId) }),
  };
}

/**
 * Assumed: two solutions of one id lie within 300 km of each other when a list is filtered by place. A rival of either
 * can be another 100 km away, and its own rival another 100 km.
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
  // Degrees of longitude are shortest at the edge nearest to a pole.
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

// Larger circles exclude so little of the globe that they are not worth a cache entry of their own.
const widestKm = 8000;

function nearOf({ boundingBox, within }: EventFilter): Near | undefined {
  const circle = within ?? (boundingBox ? circleAround(boundingBox) : null);
  // One per cent more: it is not documented if the catalogue measures on a sphere or an ellipsoid.
  const radiusKm = circle ? Math.ceil((circle.radiusKm + marginKm) * 1.01) : Number.POSITIVE_INFINITY;
  if (!circle || radiusKm > widestKm) return undefined;
  return {
    latitude: round(circle.latitude, Math.round),
    longitude: round(normaliseLongitude(circle.longitude), Math.round),
    radiusKm: radiusKm + 1,
  };
}

/** Null for a box of 180° of longitude or more. */
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
  // The farthest point of an edge can lie between the tested ones; the factor bounds that distance.
  return { ...centre, radiusKm: radiusKm * (width > 30 ? 1.5 : 1.05) };
}

// Rounds outwards to thousandths of a degree, so that equal boxes give equal queries whatever the last digits of their
// margins.
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
