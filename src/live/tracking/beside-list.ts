import { type ForwardMs, forever, type UnixMs } from '../../clock.js';
import type { FullPosition } from './cursor.js';
import { positionOf } from './known-set.js';
import type { Known, Snapshot, State } from './snapshot.js';

/** A list that a client has received, or is about to receive. */
export interface RecordList<Rec> {
  readonly records: readonly Rec[];
  /** Time of the oldest read that the list is made of. */
  readonly readAtMs: ForwardMs;
  /** The list contains every matching record later than this; null when it does not reach up to the newest. */
  readonly afterMs: UnixMs | null;
  matches(record: Rec): boolean;
}

export interface Surroundings<Rec, Kind extends string> {
  /** Every record that can be read, including those of the list; read no earlier than the list. */
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly coveredFromMs: UnixMs;
  readonly nowMs: UnixMs;
  /** True for a record that is missing from the list because it appeared after the list was read. */
  readonly isLater: (known: Known<Rec, Kind>) => boolean;
  readonly idOf: (record: Rec) => string;
  readonly stateOf: (record: Rec) => State<Rec>;
}

/**
 * The position at which a list ends: after every record it shows, in the state shown, and before matching records that
 * appeared later. List and subscription together then deliver every change exactly once.
 */
export function positionBeside<Rec, Kind extends string>(
  list: RecordList<Rec>,
  { snapshot, coveredFromMs, nowMs, isLater, idOf, stateOf }: Surroundings<Rec, Kind>,
): FullPosition {
  const listed = new Map(list.records.map((record) => [idOf(record), stateOf(record)]));
  const afterMs = list.afterMs ?? forever;
  const isUnknown = (known: Known<Rec, Kind>) =>
    !listed.has(known.id) &&
    ((known.state.timeMs > afterMs && list.matches(known.state.record)) || isLater(known));
  const position = positionOf({
    records: snapshot.ordered,
    last: snapshot.size - 1,
    unfinished: snapshot.ordered,
    stateOf(known) {
      const { isFinal, hash } = listed.get(known.id) ?? known.state;
      if (isUnknown(known)) return undefined;
      return isFinal ? null : hash;
    },
    coveredFromMs,
    nowMs,
  });
  return { ...position, logged: null };
}
