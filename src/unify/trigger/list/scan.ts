import { earliest, type ForwardMs, floorTo, forever, hourMs, plus, type UnixMs } from '../../../clock.js';
import { notConfigured } from '../../../errors.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { TriggerQuery } from '../../../upstream/project/client.js';
import { KeysetPage } from '../../../upstream/project/keyset-page.js';
import { isTooLong } from '../../../upstream/project/range-step.js';
import type { WireTrigger } from '../../../upstream/project/wire.js';
import { isLastPage, type Page, type Read } from '../../../upstream/read/read.js';
import type { UnifyContext } from '../../context.js';
import { derived, mostPages } from '../../derived.js';
import { Instant } from '../../time/instant.js';
import { ceilMs, fitsMs, floorMs } from '../../time/millisecond.js';
import { type Trigger, triggersOf } from '../record.js';
import { boundsOf, type TriggerRange } from './bounds.js';
import { behind, behindSome, compareInScan, inOrder, isAhead, type TriggerPosition } from './position.js';

/** Both ends of the range are inclusive to the last digit. */
export interface TriggerScan extends TriggerRange {
  readonly read: (query: TriggerQuery) => Promise<Read<Page<WireTrigger>>>;
  /** Position to continue from; null for the beginning of the list in `order`. */
  readonly after: TriggerPosition | null;
  /** Most triggers to return. */
  readonly wanted: number;
  /** Conditions that upstream cannot filter by. */
  readonly keep?: ((trigger: Trigger) => boolean) | undefined;
  /** Most upstream requests. */
  readonly mostRequests: number;
  /** True where the list is in the opposite order: its cursors cannot name the delivered triggers of a moment. */
  readonly isOpposite?: boolean;
}

export interface ScannedTriggers {
  /** At most `wanted`. */
  readonly triggers: readonly PositionedTrigger[];
  /** True when more may follow, also when the scan ended at `mostRequests`. */
  readonly more: boolean;
  /**
   * Position that a scan ended by `mostRequests` has reached, from which to continue; it equals `after` when not even
   * one moment was read completely. Null for other scans.
   */
  readonly reached: TriggerPosition | null;
  /** Upstream's count within the bounds of the first read; null when it gives none. */
  readonly total: number | null;
  /** Read time of the oldest page; infinite when nothing was read. */
  readonly readAtMs: ForwardMs;
  /** Number of records of the pages that could not be read. */
  readonly unreadable: number;
}

type ScannedPages = Omit<ScannedTriggers, 'unreadable'>;

export interface PositionedTrigger {
  readonly trigger: Trigger;
  readonly position: TriggerPosition;
}

// Most triggers of one moment that a cursor may name. Beyond that, the rest of the moment is read.
const mostBesides = 16;

/**
 * Scans upstream's list of triggers by start time (docs/behaviour.md 6.5), page by page as `KeysetPage` decides: triggers
 * that arrive meanwhile lie behind the time that the scan has reached. Upstream's order among triggers of one moment is
 * not documented, so nothing relies on it.
 */
export async function scanTriggers(scan: TriggerScan): Promise<ScannedTriggers> {
  if (!isUnfiltered(scan)) return scanCounted(scan);
  const first = await scan.read({ order: scan.order, limit: pageSize(scan, 0, 0), offset: 0 });
  const known = unfilteredScans(first);
  const cached = known.get(scan.wanted);
  if (cached) return cached;
  let pages = 0;
  const read: TriggerScan['read'] = (query) => (pages++ === 0 ? Promise.resolve(first) : scan.read(query));
  const scanned = await scanCounted({ ...scan, read });
  if (pages === 1) known.set(scan.wanted, scanned);
  return scanned;
}

/** As `scanPages`, and counts the records that could not be read, each once. */
async function scanCounted(scan: TriggerScan): Promise<ScannedTriggers> {
  const unreadable = new Set<string>();
  const scanned = await scanPages({
    ...scan,
    async read(query) {
      const page = await scan.read(query);
      for (const name of page.value.unreadable ?? []) unreadable.add(name);
      return page;
    },
  });
  return { ...scanned, unreadable: unreadable.size };
}

/**
 * Results of unfiltered scans that needed only the first page, by `wanted`; derived from that page and evicted with it.
 */
const unfilteredScans = derived(
  (_first: Read<Page<WireTrigger>>) => new Map<number, ScannedTriggers>(),
  mostPages,
);

function isUnfiltered({ from, to, deviceId, after, keep, isOpposite, mostRequests }: TriggerScan): boolean {
  const isWhole = !from && !to && deviceId === undefined && !after && !keep;
  // A scan that may not go on, or has no cursors within a moment, ends otherwise.
  return isWhole && !isOpposite && mostRequests > 1;
}

async function scanPages(scan: TriggerScan): Promise<ScannedPages> {
  const found: PositionedTrigger[] = [];
  const ids = new Set<string>();
  // Triggers of the last moment read so far; the next page may have more of them.
  const edge: Trigger[] = [];
  let reached = scan.after;
  const next = new KeysetPage(scan.order, scan.after && pinOf(scan, scan.after.startTime));
  let total: number | null | undefined;
  let oldestMs: ForwardMs = forever;

  for (let requests = 0; requests < scan.mostRequests; requests++) {
    const { pinMs, offset } = next;
    const bounds = boundsOf(scan, Number.isFinite(pinMs) ? Instant.fromMs(pinMs) : null);
    if (!bounds) return { triggers: [], more: false, reached: null, total: 0, readAtMs: oldestMs };
    const limit = pageSize(scan, found.length, offset);
    const query = { ...bounds, order: scan.order, limit, offset };
    let answer: Awaited<ReturnType<TriggerScan['read']>>;
    try {
      answer = await scan.read(query);
    } catch (error) {
      // Triggers found so far are returned when upstream times out on the range behind them.
      const triggers = [...found, ...(positionsWithin(scan, edge) ?? [])];
      const last = triggers.at(-1);
      if (!last || !isTooLong(error)) throw error;
      return { triggers, more: true, reached: last.position, total: total ?? null, readAtMs: oldestMs };
    }
    const { value: page, readAtMs } = answer;
    oldestMs = earliest(oldestMs, readAtMs);
    if (total === undefined) total = page.total;
    const ends = isLastPage(page, query);

    const received = triggersOf(answer);
    for (const trigger of received) {
      if (ids.has(trigger.triggerId) || !isWithin(scan, trigger)) continue;
      ids.add(trigger.triggerId);
      edge.push(trigger);
    }
    edge.sort(compareInScan(scan.order, scan.after));
    const furthest = edge.at(-1)?.startTime;
    const whole = ends
      ? edge.length
      : edge.findIndex((trigger) => momentOf(trigger.startTime) === momentOf(furthest));
    for (const trigger of edge.splice(0, Math.max(0, whole))) {
      reached = behind(trigger, scan.after);
      if (scan.keep?.(trigger) !== false) found.push({ trigger, position: reached });
    }

    if (ends) return { ...cut(found, scan.wanted, false), total: total ?? null, readAtMs: oldestMs };
    const more = edge.some((trigger) => scan.keep?.(trigger) !== false);
    if (found.length > scan.wanted || (found.length === scan.wanted && more)) {
      return { ...cut(found, scan.wanted, true), total: total ?? null, readAtMs: oldestMs };
    }
    const closing = closeWithin(scan, found.length, edge, page.total !== null);
    if (closing)
      return { ...cut([...found, ...closing], scan.wanted, true), total: total ?? null, readAtMs: oldestMs };

    next.advance(furthest ? pinOf(scan, furthest, received[0]) : null, page.received);
  }
  return { triggers: found, more: true, reached, total: total ?? null, readAtMs: oldestMs };
}

/** @throws NotConfigured without a project interface: the catalogue has no triggers. */
export function projectTriggers(ctx: UnifyContext): TriggerScan['read'] {
  const { project } = ctx;
  if (!project) throw notConfigured('PROJECT');
  return (query) => project.triggers(query, ctx.scope);
}

// The whole millisecond that a page begins with, in the order of the list. A filtered scan is pinned to whole hours
// when that still advances it: its queries then stay equal while triggers arrive, and those about the past are cached
// as immutable (docs/behaviour.md 5.5).
function pinOf({ order, keep }: TriggerScan, furthest: Instant, nearest?: Trigger): UnixMs {
  const exactMs = order === 'asc' ? floorMs(furthest) : ceilMs(furthest);
  if (!keep || !nearest) return exactMs;
  const wholeMs = plus(floorTo(hourMs, floorMs(furthest)), order === 'asc' ? 0 : hourMs);
  return inOrder(order, Instant.fromMs(wholeMs).compare(nearest.startTime)) > 0 ? wholeMs : exactMs;
}

// Triggers of one millisecond count as one moment: upstream may order them in any way.
function momentOf(instant: Instant | null | undefined): number | null {
  return instant ? floorMs(instant) : null;
}

export function isWithin({ from, to, after, order }: TriggerScan, trigger: Trigger): boolean {
  if (from && trigger.startTime.compare(from) < 0) return false;
  if (to && trigger.startTime.compare(to) > 0) return false;
  return isAhead(after, trigger, order);
}

function pageSize(scan: TriggerScan, found: number, offset: number): number {
  if (scan.keep || offset > 0) return largestPage.project;
  // The page repeats the triggers delivered at the pinned moment, and needs one more to show that a moment is complete.
  const repeated = scan.after ? 4 + scan.after.besides.length : 0;
  return Math.min(largestPage.project, scan.wanted - found + repeated + 1);
}

function cut(found: readonly PositionedTrigger[], wanted: number, more: boolean) {
  return { triggers: found.slice(0, wanted), more: more || found.length > wanted, reached: null };
}

// Fills the page with triggers of a moment that may have more members. If they are exactly as many as wanted, only
// upstream's count shows that more follow, and only without a filter.
function closeWithin(
  scan: TriggerScan,
  found: number,
  edge: readonly Trigger[],
  counted: boolean,
): PositionedTrigger[] | null {
  const closing = positionsWithin(scan, edge);
  const enough = found + (closing?.length ?? 0) - scan.wanted;
  return enough > 0 || (enough === 0 && counted && !scan.keep) ? closing : null;
}

// Positions within a moment that may have more members: the cursors name the delivered ones. Null when they are too
// many to name.
function positionsWithin(scan: TriggerScan, edge: readonly Trigger[]): PositionedTrigger[] | null {
  if (scan.isOpposite) return null;
  if (edge.length + (scan.after?.besides.length ?? 0) > mostBesides) return null;
  if (!edge.every((trigger) => fitsMs(trigger.startTime))) return null;
  return edge.flatMap((trigger, index) => {
    const position = behindSome(edge.slice(0, index + 1), scan.after);
    return position && scan.keep?.(trigger) !== false ? [{ trigger, position }] : [];
  });
}
