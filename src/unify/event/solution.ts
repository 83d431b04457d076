import type { UnixS } from '../../clock.js';
import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import { known, MalformedValue, type Num } from '../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import { derived, mostEvents } from '../derived.js';
import type { Point } from '../geo/geodesy.js';
import { Instant } from '../time/instant.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';

/** Time and place of an earthquake, both from one location: they are never mixed (docs/behaviour.md 6.3). */
export interface Solution extends Point {
  readonly originTime: Instant;
}

/** Null when the project has not located the event: it has no origin, or its time or place cannot be read. */
export function projectSolution({ origin }: Pick<WireProjectEvent, 'origin'>): Solution | null {
  return origin && solutionOfOrigin(origin);
}

const solutionOfOrigin = derived(
  (origin: NonNullable<WireProjectEvent['origin']>) =>
    solutionOf(unixInstant(origin.origin_time), origin.latitude, origin.longitude),
  mostEvents,
);

/** Null when the catalogue has not located the event. */
export const catalogueSolution = derived(
  (event: WireCatalogueEvent): Solution | null =>
    solutionOf(instantOf(event.origin_time), event.latitude, event.longitude),
  mostEvents,
);

/** Issue time of the latest solution: that of the event, else that of its origin (docs/interfaces.md P2 has both). */
export const issueTime = derived((event: Pick<WireProjectEvent, 'issued_at' | 'origin'>): MaybeInstant => {
  const issuedAt = instantOf(event.issued_at);
  if (issuedAt instanceof Instant) return issuedAt;
  const ofOrigin = event.origin ? unixInstant(event.origin.issued_at) : null;
  return ofOrigin instanceof Instant ? ofOrigin : (issuedAt ?? ofOrigin);
}, mostEvents);

/** Unix seconds (docs/interfaces.md P2). */
export function unixInstant(value: UnixS | null | MalformedValue): MaybeInstant {
  if (typeof value !== 'number') return value;
  return Instant.fromUnixSeconds(value) ?? new MalformedValue('Upstream sent a number that is not a time');
}

/** The instant for comparisons; null when it is missing or malformed. */
export function knownInstant(value: MaybeInstant): Instant | null {
  return value instanceof Instant ? value : null;
}

function solutionOf(time: MaybeInstant, latitude: Num, longitude: Num): Solution | null {
  const [north, east] = [known(latitude), known(longitude)];
  if (!(time instanceof Instant) || north === null || east === null) return null;
  // A latitude beyond 90° is malformed, so the record has no location.
  if (Math.abs(north) > 90) return null;
  return { originTime: time, latitude: north, longitude: east };
}
