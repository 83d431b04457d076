import type { UnixMs } from '../../clock.js';
import type { ListReach } from '../../unify/paging.js';
import type { FullPosition } from './cursor/cursor.js';
import { positionOf } from './cursor/known-set.js';
import type { Known, Snapshot, State } from './snapshot.js';

/** A list that a client has received, or is about to receive. */
export interface RecordList<Rec> extends ListReach<Rec> {
  readonly records: readonly Rec[];
}

export interface Surroundings<Rec, Kind extends string> {
  /** Every record that can be read, including those of the list; read no earlier than the list. */
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly completeFromMs: UnixMs;
  readonly nowMs: UnixMs;
  /** The state of a record when the list was read: as for `KnownSet.stateOf`. */
  readonly stateThen: (known: Known<Rec, Kind>) => number | null | undefined;
  readonly idOf: (record: Rec) => string;
  readonly stateOf: (record: Rec) => State<Rec>;
}

/**
 * The position at which a list ends: after every record it shows, in the state shown, before records that it would show
 * had they been there, and at the others as they were when it was read. List and subscription together then deliver every change exactly once.
 */
export function positionBeside<Rec, Kind extends string>(
  list: RecordList<Rec>,
  { snapshot, completeFromMs, nowMs, stateThen, idOf, stateOf }: Surroundings<Rec, Kind>,
): FullPosition {
  const listed = new Map(list.records.map((record) => [idOf(record), stateOf(record)]));
  const position = positionOf({
    records: snapshot.ordered,
    last: snapshot.size - 1,
    unfinished: snapshot.ordered,
    stateOf(known) {
      const shown = listed.get(known.id);
      if (shown) return shown.isFinal ? null : shown.hash;
      return list.includes(known.state.record) ? undefined : stateThen(known);
    },
    completeFromMs,
    nowMs,
  });
  return { ...position, logged: null };
}
