import { plus } from '../../../clock.js';
import type { UnifyContext } from '../../context.js';
import { type EventFilter, matchesFilter } from '../filter.js';
import { issuedMs, type LocatedEvent } from '../merge.js';
import { solutionsSince } from '../origins.js';
import { mostMarks, movesWithinMs } from './cursor.js';
import type { ListOrder } from './list-order.js';
import { listingLagMs } from './project-reader.js';

/**
 * Events that a new solution moved from behind the cursor to before it: the scan would miss them. Events that are new
 * there do not belong to the list as it began. Only the detail of the project shows the difference, so it is read for
 * the few events issued since the scan began.
 */
export async function movedEvents(
  context: UnifyContext,
  listOrder: ListOrder,
  known: readonly LocatedEvent[],
  filter: EventFilter,
): Promise<LocatedEvent[]> {
  const { after } = listOrder;
  if (!after?.project || after.delivered.length >= mostMarks) return [];
  const { horizonMs } = after.project;
  const moved: LocatedEvent[] = [];
  for (const event of known) {
    const isNear = Math.abs(event.solution.originTime.ms - after.originTime.ms) <= movesWithinMs;
    if (!event.project || !isNear || (issuedMs(event.project.value) ?? 0) <= horizonMs) continue;
    if (listOrder.isAhead(event) || listOrder.isDelivered(event) || !matchesFilter(filter, event)) continue;
    // Solutions up to the newest one shown when the scan began may have been on a page already.
    const solutions = await solutionsSince(context, event.project.value.id, plus(horizonMs, listingLagMs));
    if (solutions.some((solution) => listOrder.isAhead({ solution, key: event.key }))) moved.push(event);
  }
  return moved;
}
