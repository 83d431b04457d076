import { travelTimes } from '../../../../src/unify/geo/travel-time.js';
import type { EventItem } from '../data/world.js';

/** Where the first waves of an earthquake are. */
export interface Front {
  readonly event: EventItem;
  readonly phase: 'P' | 'S';
  readonly radiusKm: number;
  /** From 1 at the origin to 0 where the front is no longer shown. */
  readonly strength: number;
}

const farthestKm = 4_000;
const longestS = 600;

/** The fronts of the earthquakes whose waves can still be felt or recorded nearby. */
export function frontsOf(events: readonly EventItem[], nowMs: number): readonly Front[] {
  // The latest come first.
  const past = events.findIndex(({ originMs }) => nowMs - originMs > longestS * 1_000);
  return events.slice(0, past === -1 ? events.length : past).flatMap((event) => {
    const ageS = (nowMs - event.originMs) / 1_000;
    const shownS = shownForS(event.magnitude);
    if (ageS < 0 || ageS > shownS) return [];
    return (['P', 'S'] as const).flatMap((phase) => {
      const radiusKm = reachedKm(phase, ageS, event.depthKm);
      return radiusKm > 0 ? { event, phase, radiusKm, strength: 1 - ageS / shownS } : [];
    });
  });
}

/** A larger earthquake is recorded farther away. */
const shownForS = (magnitude: number | null) => Math.min(longestS, 40 * ((magnitude ?? 2) - 1));

/** How far the phase has come on the surface, by bisection: travel times grow with the distance. */
function reachedKm(phase: 'P' | 'S', ageS: number, depthKm: number | null): number {
  const timeAt = (km: number) => travelTimes(km, depthKm)[phase === 'P' ? 'pS' : 'sS'];
  let [near, far] = [0, farthestKm];
  if (timeAt(near) >= ageS) return 0;
  while (far - near > 0.5) {
    const middle = (near + far) / 2;
    if (timeAt(middle) < ageS) near = middle;
    else far = middle;
  }
  return near;
}
