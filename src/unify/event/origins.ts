import type { UnixMs } from '../../clock.js';
import type { ProjectEventId } from '../../upstream/decode/fields.js';
import { eventShape, type WireEvent, type WireEventDetail } from '../../upstream/project/wire.js';
import type { UnifyContext } from '../context.js';
import { issuedMs } from './merge.js';
import { projectSolution, type Solution } from './solution.js';

export interface IssuedOrigin {
  readonly origin: WireEvent['origin'];
  readonly solution: Solution;
  /** Unix milliseconds; null when the origin has no issue time. */
  readonly issuedMs: UnixMs | null;
}

/**
 * Origins that the project issued for an event, oldest first.
 * Assumed: they have the field names of the list; docs/interfaces.md P2 does not show them. Others are left out.
 */
export function originsIn({ origins }: WireEventDetail): IssuedOrigin[] {
  return (origins ?? [])
    .flatMap((element) => {
      const origin = eventShape.safeParse({ id: 'any', origin: element }).data?.origin ?? null;
      const solution = projectSolution({ origin });
      return solution ? [{ origin, solution, issuedMs: issuedMs({ issued_at: null, origin }) }] : [];
    })
    .sort((a, b) => (a.issuedMs ?? 0) - (b.issuedMs ?? 0));
}

/**
 * The solution of an event that was the latest at a time (Unix milliseconds), and all later ones, oldest first. Empty
 * when there was none yet or the project has no such event.
 */
export async function solutionsSince(ctx: UnifyContext, id: ProjectEventId, ms: UnixMs): Promise<Solution[]> {
  const detail = await ctx.project?.event(id, ctx.scope);
  const origins = detail ? originsIn(detail.value) : [];
  const then = origins.findLastIndex((origin) => (origin.issuedMs ?? Infinity) <= ms);
  return then < 0 ? [] : origins.slice(then).map(({ solution }) => solution);
}
