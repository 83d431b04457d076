import { asMoment, forever, latest, plus, type UnixMs } from '../../clock.js';
import type { ProjectEventId } from '../../upstream/decode/fields.js';
import { eventShape, type WireEvent, type WireEventDetail } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { UnifyContext } from '../context.js';
import { Instant } from '../time/instant.js';
import { IssueTimeScan } from './list/issue-time-scan.js';
import { issuedMs } from './merge.js';
import { originsIn } from './origins.js';
import { projectSolution } from './solution.js';

/**
 * The project's record of an event in the form of its list; null when there is none. It is not documented if the detail
 * repeats that record (docs/interfaces.md P2). If it does not, the record is searched in the list at the times that the
 * detail names; if it is not found there, it is composed from the solutions of the detail, as far as they have the
 * fields of the list.
 */
export async function projectRecord(ctx: UnifyContext, id: ProjectEventId): Promise<Read<WireEvent> | null> {
  const detail = await ctx.project?.event(id, ctx.scope);
  if (!detail) return null;
  const { event } = detail.value;
  if (event && projectSolution(event) && issuedMs(event) !== null) {
    return { value: event, readAtMs: detail.readAtMs };
  }
  const listed = await listedRecord(ctx, id, latest(...timesIn(detail.value)));
  return listed ?? { value: composedRecord(id, detail.value), readAtMs: detail.readAtMs };
}

/**
 * @param latestMs likely issue time of the last solution, in Unix milliseconds; infinite if unknown. The list may have
 * a later one
 */
async function listedRecord(
  ctx: UnifyContext,
  id: ProjectEventId,
  latestMs: UnixMs,
): Promise<Read<WireEvent> | null> {
  const fromMs = plus(latestMs, -2000);
  const spans = Number.isFinite(latestMs) ? [plus(latestMs, 3000), forever] : [forever];
  for (const toMs of spans) {
    const scan = new IssueTimeScan({
      read: async (query) => {
        if (!ctx.project) throw new Error('The project is not configured');
        return ctx.project.events(query, ctx.scope);
      },
      order: Number.isFinite(latestMs) ? 'asc' : 'desc',
      fromMs,
      toMs,
    });
    for (let page = 0; page < mostPages && !scan.isDone; page++) {
      const found = (await scan.next()).find(({ value }) => value.id === id);
      if (found) return found;
    }
  }
  return null;
}

// The event is normally on the first page, issued at `latestMs`; the second is a last resort.
const mostPages = 2;

/** Unix milliseconds of all values of the detail that are named like a time and parse as one. */
function timesIn(detail: WireEventDetail): UnixMs[] {
  const times: UnixMs[] = [];
  const visit = (value: unknown, name: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, name);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) visit(item, key);
    } else if (/time|issued|_at$/i.test(name)) {
      const instant = instantIn(value);
      if (instant) times.push(instant.ms);
    }
  };
  visit(detail, '');
  return times;
}

function instantIn(value: unknown): Instant | null {
  if (typeof value === 'string') return Instant.parse(value);
  return typeof value === 'number' && value > 0 ? Instant.fromUnixSeconds(asMoment(value)) : null;
}

function composedRecord(id: ProjectEventId, detail: WireEventDetail): WireEvent {
  const magnitude = magnitudeIn((detail.magnitudes ?? []).at(-1));
  const origin = originsIn(detail).at(-1)?.origin ?? detail.event?.origin ?? null;
  return eventShape.parse({ id, magnitude, ...definedIn(detail.event), origin });
}

function magnitudeIn(solution: unknown): unknown {
  if (typeof solution !== 'object' || solution === null) return null;
  const { magnitude, mag, value } = solution as Record<string, unknown>;
  return [magnitude, mag, value].find((candidate) => typeof candidate === 'number') ?? null;
}

function definedIn(event: WireEvent | null): object {
  return Object.fromEntries(
    Object.entries(event ?? {}).filter(([, value]) => value !== null && value !== undefined),
  );
}
