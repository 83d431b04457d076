import { earliest, plus, type UnixMs } from '../../clock.js';
import { isAwaited } from '../tracking/change-detector.js';
import type { Known, Snapshot } from '../tracking/snapshot.js';

export interface WindowPlan<Rec, Kind extends string> {
  /** The poll reads from this time to the newest record. */
  readonly fromMs: UnixMs;
  /** Open records before `fromMs` that are cheaper to read one by one. */
  readonly apart: readonly Known<Rec, Kind>[];
}

export interface WindowBounds {
  readonly upstreamMs: UnixMs;
  readonly lookbackMs: number;
  /** Older records are left to the sweep. */
  readonly longestMs: number;
  readonly pageSize: number;
  readonly spareRows: number;
}

/**
 * docs/behaviour.md 9.1: the look-back window, stretched to the oldest open record, at most `longestMs`. When a record
 * has been open for hours on a busy network, that window would have many pages; then the open records are read one by
 * one.
 */
export function planLookBackWindow<Rec, Kind extends string>(
  snapshot: Snapshot<Rec, Kind>,
  { upstreamMs, lookbackMs, longestMs, pageSize, spareRows }: WindowBounds,
): WindowPlan<Rec, Kind> {
  const { ordered } = snapshot;
  const oldestRead = snapshot.indexOf(plus(upstreamMs, -longestMs));
  const spare = ordered[Math.max(oldestRead, ordered.length - spareRows)];
  const usualMs = earliest(
    plus(upstreamMs, -lookbackMs),
    spareRows > 0 ? (spare?.state.timeMs ?? upstreamMs) : upstreamMs,
  );
  const usual = snapshot.indexOf(usualMs);
  const open = ordered.slice(oldestRead, usual).filter(isAwaited);
  const oldest = open[0];
  if (!oldest) return { fromMs: usualMs, apart: [] };
  const pagesFrom = (index: number) => Math.ceil((ordered.length - index + 1) / pageSize);
  const stretched = pagesFrom(snapshot.indexOf(oldest.state.timeMs));
  if (stretched > pagesFrom(usual) + open.length) return { fromMs: usualMs, apart: open };
  return { fromMs: oldest.state.timeMs, apart: [] };
}
