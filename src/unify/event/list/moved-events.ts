import type { UnifyContext } from '../../context.js';
import { type EventFilter, matchesFilter } from '../filter.js';
import { issuedMs, type LocatedEvent } from '../merge.js';
import { solutionsSince } from '../origins.js';
import { mostMarks, movesWithinMs } from './cursor.js';
import type { ListOrder } from './list-order.js';
import { lateMs } from './project-reader.js';

/**
 * Events that new solutions have moved from ahead of the cursor to before it: a walk would miss them. What is new there is
 * not of the walk; only the project's detail can tell, so it is read for the few that were issued since the walk began.
 */
export async function movedEvents(
  context: UnifyContext,
  line: ListOrder,
  known: readonly LocatedEvent[],
  filter: EventFilter,
): Promise<LocatedEvent[]> {
  const { after } = line;
  if (!after?.project || after.delivered.length >= mostMarks) return [];
  const { horizonMs } = after.project;
  const late: LocatedEvent[] = [];
  for (const event of known) {
    const isNear = Math.abs(event.solution.originTime.ms - after.originTime.ms) <= movesWithinMs;
    if (!event.project || !isNear || (issuedMs(event.project.value) ?? 0) <= horizonMs) continue;
    if (line.isAhead(event) || line.isDelivered(event) || !matchesFilter(filter, event)) continue;
    // Up to the newest that was shown when the walk began, what was issued may have been shown as well.
    const solutions = await solutionsSince(context, event.project.value.id, horizonMs + lateMs);
    if (solutions.some((solution) => line.isAhead({ solution, key: event.key }))) late.push(event);
  }
  return late;
}
