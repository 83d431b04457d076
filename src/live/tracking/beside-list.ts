import type { Position } from './cursor.js';
import { positionOf } from './known-set.js';
import type { Known, Snapshot, State } from './snapshot.js';

/** A list that a client has, or is about to have. */
export interface RecordList<Rec> {
  readonly records: readonly Rec[];
  /** When the oldest of what it is made of was read. */
  readonly readAtMs: number;
  /** All that match and are later than this are in it; null when it does not reach up to the newest. */
  readonly afterMs: number | null;
  matches(record: Rec): boolean;
}

export interface Surroundings<Rec, Kind extends string> {
  /** Everything that can be read, the list's records among it, read no earlier than the list. */
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly coveredFromMs: number;
  readonly nowMs: number;
  /** Whether a record that the list has no word of came only after it was read. */
  readonly isLater: (known: Known<Rec, Kind>) => boolean;
  readonly idOf: (record: Rec) => string;
  readonly stateOf: (record: Rec) => State<Rec>;
}

/**
 * The position at which a list leaves off: behind what it shows, in the state in which it shows it, and before what it
 * would show had that been there. List and subscription together then tell everything once.
 */
export function positionBeside<Rec, Kind extends string>(
  list: RecordList<Rec>,
  { snapshot, coveredFromMs, nowMs, isLater, idOf, stateOf }: Surroundings<Rec, Kind>,
): Position {
  const listed = new Map(list.records.map((record) => [idOf(record), stateOf(record)]));
  const afterMs = list.afterMs ?? Number.POSITIVE_INFINITY;
  const isUnknown = (known: Known<Rec, Kind>) =>
    !listed.has(known.id) &&
    ((known.state.timeMs > afterMs && list.matches(known.state.record)) || isLater(known));
  const unknown = snapshot.ordered.filter(isUnknown);
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
    unknownFromMs: unknown[0]?.state.timeMs ?? Number.POSITIVE_INFINITY,
  });
  return { ...position, logged: null };
}
