import { notConfigured } from '../../../errors.js';
import type { TriggerQuery } from '../../../upstream/project/client.js';
import { isTooLong } from '../../../upstream/project/too-long.js';
import type { WireTrigger } from '../../../upstream/project/wire.js';
import { isLastPage, type Page, type Read } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { derived, mostPages } from '../../derived.js';
import { Instant } from '../../time/instant.js';
import { fitsMs, floorMs } from '../../time/millisecond.js';
import { compareTriggers, type Trigger, triggersOf } from '../record.js';
import { boundsOf, type TriggerRange } from './bounds.js';
import { behind, behindSome, inOrder, isAhead, type TriggerPosition } from './position.js';

/** Both ends of the range are inclusive to the last digit. */
export interface TriggerScan extends TriggerRange {
  readonly read: (query: TriggerQuery) => Promise<Read<Page<WireTrigger>>>;
  /** Where to go on from; null to begin at the end that `order` begins with. */
  readonly after: TriggerPosition | null;
  /** How many to keep. */
  readonly wanted: number;
  /** What upstream cannot filter by. */
  readonly keep?: ((trigger: Trigger) => boolean) | undefined;
  /** Upstream requests at most. */
  readonly mostRequests: number;
}

export interface ScannedTriggers {
  /** At most `wanted`. */
  readonly triggers: readonly PositionedTrigger[];
  /** Whether there is more behind the last; also true when the walk ended at `mostRequests`. */
  readonly more: boolean;
  /**
   * How far a walk that ended at `mostRequests` has looked: where to go on from. It is `after` where they did not get
   * through one single moment. Else null.
   */
  readonly reached: TriggerPosition | null;
  /** What upstream counts within the bounds of the first read; null where it did not say. */
  readonly total: number | null;
  /** When the oldest page was read; infinite where none had to be. */
  readonly readAtMs: number;
}

export interface PositionedTrigger {
  readonly trigger: Trigger;
  readonly position: TriggerPosition;
}

/** docs/interfaces.md P4. */
export const largestPage = 500;

const hourMs = 3_600_000;

// So many of one moment may be named in a cursor; more, and the rest of the moment is read instead.
const mostBesides = 16;

/**
 * Walks upstream's offset-paged list of triggers by start time (docs/behaviour.md 6.5). An offset counts from an end that moves
 * as triggers arrive; so each read is pinned to the time the walk has reached, and what arrives lies behind it. An
 * offset is used only to get through a moment in which more triggers started than fit on a page. Upstream's order
 * among triggers of one moment is not shown, so nothing follows from it.
 */
export async function scanTriggers(walk: TriggerScan): Promise<ScannedTriggers> {
  if (!isPlain(walk)) return walkOn(walk);
  const first = await walk.read({ order: walk.order, limit: pageSize(walk, 0, 0), offset: 0 });
  const known = plainWalks(first);
  const kept = known.get(walk.wanted);
  if (kept) return kept;
  let pages = 0;
  const read: TriggerScan['read'] = (query) => (pages++ === 0 ? Promise.resolve(first) : walk.read(query));
  const walked = await walkOn({ ...walk, read });
  if (pages === 1) known.set(walk.wanted, walked);
  return walked;
}

/** Walks of the whole list that did not leave its first page, by how many they wanted: the page tells all of them. */
const plainWalks = derived(
  (_first: Read<Page<WireTrigger>>) => new Map<number, ScannedTriggers>(),
  mostPages,
);

function isPlain({ from, to, deviceId, after, keep }: TriggerScan): boolean {
  return !from && !to && deviceId === undefined && !after && !keep;
}

async function walkOn(walk: TriggerScan): Promise<ScannedTriggers> {
  const found: PositionedTrigger[] = [];
  const seen = new Set<string>();
  // Triggers of the furthest moment read so far: the next page may have more of them.
  const edge: Trigger[] = [];
  let reached = walk.after;
  let pin = walk.after?.startTime ?? null;
  let offset = 0;
  let total: number | null | undefined;
  let oldestMs = Number.POSITIVE_INFINITY;

  for (let requests = 0; requests < walk.mostRequests; requests++) {
    const bounds = boundsOf(walk, pin);
    if (!bounds) return { triggers: [], more: false, reached: null, total: 0, readAtMs: oldestMs };
    const limit = pageSize(walk, found.length, offset);
    const query = { ...bounds, order: walk.order, limit, offset };
    let answer: Awaited<ReturnType<TriggerScan['read']>>;
    try {
      answer = await walk.read(query);
    } catch (error) {
      // What has been found is not lost to a stretch behind it that upstream takes too long over.
      const triggers = [...found, ...(placesWithin(walk, edge) ?? [])];
      const last = triggers.at(-1);
      if (!last || !isTooLong(error)) throw error;
      return { triggers, more: true, reached: last.position, total: total ?? null, readAtMs: oldestMs };
    }
    const { value: page, readAtMs } = answer;
    oldestMs = Math.min(oldestMs, readAtMs);
    if (total === undefined) total = page.total;
    const ends = isLastPage(page, query);

    const received = triggersOf(answer);
    for (const trigger of received) {
      if (seen.has(trigger.triggerId) || !isWithin(walk, trigger)) continue;
      seen.add(trigger.triggerId);
      edge.push(trigger);
    }
    edge.sort((a, b) => inOrder(walk.order, compareTriggers(a, b)));
    const furthest = edge.at(-1)?.startTime ?? pin;
    const whole = ends
      ? edge.length
      : edge.findIndex((trigger) => momentOf(trigger.startTime) === momentOf(furthest));
    for (const trigger of edge.splice(0, Math.max(0, whole))) {
      reached = behind(trigger, walk.after);
      if (walk.keep?.(trigger) !== false) found.push({ trigger, position: reached });
    }

    if (ends) return { ...cut(found, walk.wanted, false), total: total ?? null, readAtMs: oldestMs };
    const more = edge.some((trigger) => walk.keep?.(trigger) !== false);
    if (found.length > walk.wanted || (found.length === walk.wanted && more)) {
      return { ...cut(found, walk.wanted, true), total: total ?? null, readAtMs: oldestMs };
    }
    const closing = closeWithin(walk, found.length, edge, page.total !== null);
    if (closing)
      return { ...cut([...found, ...closing], walk.wanted, true), total: total ?? null, readAtMs: oldestMs };

    const stuck = momentOf(furthest) === momentOf(pin);
    offset = stuck ? offset + page.received : 0;
    if (!stuck) pin = furthest && pinAt(walk, furthest, received[0]);
  }
  return { triggers: found, more: true, reached, total: total ?? null, readAtMs: oldestMs };
}

/** @throws NotConfigured without a project interface: the catalogue has no triggers. */
export function projectTriggers(ctx: UnifyContext): TriggerScan['read'] {
  const { project } = ctx;
  if (!project) throw notConfigured('PROJECT');
  return (query) => project.triggers(query, ctx.scope);
}

// A search through many pages is pinned to whole hours where that is a step on: while triggers arrive, its questions then
// stay the same, and those about the past are not asked again (docs/behaviour.md 5.5).
function pinAt({ order, keep }: TriggerScan, furthest: Instant, nearest: Trigger | undefined): Instant {
  if (!keep || !nearest) return furthest;
  const hours = floorMs(furthest) / hourMs;
  const whole = Instant.fromMs((order === 'asc' ? Math.floor(hours) : Math.floor(hours) + 1) * hourMs);
  return inOrder(order, whole.compare(nearest.startTime)) > 0 ? whole : furthest;
}

// Triggers of one millisecond are one moment: upstream may order them in any way.
function momentOf(instant: Instant | null | undefined): number | null {
  return instant ? floorMs(instant) : null;
}

export function isWithin({ from, to, after, order }: TriggerScan, trigger: Trigger): boolean {
  if (from && trigger.startTime.compare(from) < 0) return false;
  if (to && trigger.startTime.compare(to) > 0) return false;
  return isAhead(after, trigger, order);
}

function pageSize(walk: TriggerScan, found: number, offset: number): number {
  if (walk.keep || offset > 0) return largestPage;
  // The page begins with what was delivered at the pinned moment, and ends with one more, which shows that a moment is
  // over.
  const repeated = walk.after ? 4 + walk.after.besides.length : 0;
  return Math.min(largestPage, walk.wanted - found + repeated + 1);
}

function cut(found: readonly PositionedTrigger[], wanted: number, more: boolean) {
  return { triggers: found.slice(0, wanted), more: more || found.length > wanted, reached: null };
}

// The page is filled by triggers of a moment that may have more members. Where there are exactly as many as wanted, only
// upstream's count tells that there are more, and only if all of them count.
function closeWithin(
  walk: TriggerScan,
  found: number,
  edge: readonly Trigger[],
  counted: boolean,
): PositionedTrigger[] | null {
  const closing = placesWithin(walk, edge);
  const enough = found + (closing?.length ?? 0) - walk.wanted;
  return enough > 0 || (enough === 0 && counted && !walk.keep) ? closing : null;
}

// Of a moment that may have more members: their cursors say which of them the page had. Null where those are too many.
function placesWithin(walk: TriggerScan, edge: readonly Trigger[]): PositionedTrigger[] | null {
  if (edge.length + (walk.after?.besides.length ?? 0) > mostBesides) return null;
  if (!edge.every((trigger) => fitsMs(trigger.startTime))) return null;
  return edge.flatMap((trigger, index) => {
    const position = behindSome(edge.slice(0, index + 1), walk.after);
    return position && walk.keep?.(trigger) !== false ? [{ trigger, position }] : [];
  });
}
