import { GatewayError } from '../../../errors.js';
import type { UnifyContext } from '../../context.js';
import { type EventFilter, matchesFilter } from '../filter.js';
import { isLocated, type LocatedEvent, mergeEvent } from '../merge.js';
import { cataloguePartner, projectPartner } from '../partner.js';
import type { EventSortKey } from './cursor.js';

interface PositionedEvent {
  readonly event: LocatedEvent;
  readonly sortKey: EventSortKey;
}

/**
 * Looks up the missing record of events that were selected by the values of one side alone: the other side may have
 * values that do not match. Only the first few are looked up; many mean that the other side has no such events.
 */
export async function confirmed(
  context: UnifyContext,
  events: readonly PositionedEvent[],
  filter: EventFilter,
): Promise<readonly PositionedEvent[]> {
  // Events of the project alone come first: the catalogue's values have precedence and can exclude them.
  const doubtful = [
    ...events.filter(({ event }) => !event.catalogue),
    ...events.filter(({ event }) => !event.project),
  ].slice(0, mostLookUps);
  const looked = await Promise.all(
    events.map((positioned) => (doubtful.includes(positioned) ? lookedUp(context, positioned) : positioned)),
  );
  return looked.filter(({ event }) => matchesFilter(filter, event));
}

async function lookedUp(context: UnifyContext, positioned: PositionedEvent): Promise<PositionedEvent> {
  const { project, catalogue } = positioned.event;
  const event = mergeEvent(
    project ?? (catalogue && (await projectPartner(context, catalogue).catch(unanswered))),
    catalogue ?? (project && (await cataloguePartner(context, project).catch(unanswered))),
  );
  return isLocated(event) ? { ...positioned, event } : positioned;
}

const mostLookUps = 4;

// A failed look-up must not fail the page, which has been read already.
function unanswered(error: unknown): null {
  if (error instanceof GatewayError) return null;
  throw error;
}
