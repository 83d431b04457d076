import { GatewayError } from '../../../errors.js';
import type { UnifyContext } from '../../context.js';
import { type EventFilter, matchesFilter } from '../filter.js';
import { isLocated, type LocatedEvent, mergeEvent } from '../merge.js';
import { cataloguePartner, projectPartner } from '../partner.js';
import type { EventPlace } from './cursor.js';

interface Placed {
  readonly event: LocatedEvent;
  readonly place: EventPlace;
}

/**
 * Events that were selected by what one interface says of them while the other says nothing: it may say something else, by
 * which it did not select. The first few are looked up; many would mean that it does not have such events at all.
 */
export async function confirmed(
  context: UnifyContext,
  events: readonly Placed[],
  filter: EventFilter,
): Promise<readonly Placed[]> {
  // One that only the project has can leave the list by what the catalogue says: those come first.
  const doubtful = [
    ...events.filter(({ event }) => !event.catalogue),
    ...events.filter(({ event }) => !event.project),
  ].slice(0, mostLookUps);
  const looked = await Promise.all(
    events.map((placed) => (doubtful.includes(placed) ? lookedUp(context, placed) : placed)),
  );
  return looked.filter(({ event }) => matchesFilter(filter, event));
}

async function lookedUp(context: UnifyContext, placed: Placed): Promise<Placed> {
  const { project, catalogue } = placed.event;
  const event = mergeEvent(
    project ?? (catalogue && (await projectPartner(context, catalogue).catch(unanswered))),
    catalogue ?? (project && (await cataloguePartner(context, project).catch(unanswered))),
  );
  return isLocated(event) ? { ...placed, event } : placed;
}

const mostLookUps = 4;

// The page has been read already: that a look-up fails does not take it away.
function unanswered(error: unknown): null {
  if (error instanceof GatewayError) return null;
  throw error;
}
