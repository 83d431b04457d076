import { eventShape, type WireEvent, type WireEventDetail } from '../../upstream/project/wire.js';
import type { UnifyContext } from '../context.js';
import { issuedMs } from './merge.js';
import { projectSolution, type Solution } from './solution.js';

export interface IssuedOrigin {
  readonly origin: WireEvent['origin'];
  readonly solution: Solution;
  /** Null where it does not say when it was issued. */
  readonly issuedMs: number | null;
}

/**
 * Locations that the project issued for an event, oldest first.
 * Assumed: they spell their fields as the list does; docs/interfaces.md P2 does not show them. Those that do not are left out.
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
 * Where an event lay by what had been issued at a time, and wherever it has been moved to since; empty when it was not
 * there yet, or nobody can tell.
 */
export async function solutionsSince(ctx: UnifyContext, id: string, ms: number): Promise<Solution[]> {
  const detail = await ctx.project?.event(id, ctx.scope);
  const origins = detail ? originsIn(detail.value) : [];
  const then = origins.findLastIndex((origin) => (origin.issuedMs ?? Infinity) <= ms);
  return then < 0 ? [] : origins.slice(then).map(({ solution }) => solution);
}
