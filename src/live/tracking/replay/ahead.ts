import type { Change, Subject } from '../change.js';
import { type Cursors, idNumber, type Position, stateNumber } from '../cursor/cursor.js';
import type { Snapshot } from '../snapshot.js';

/**
 * Records already delivered to a subscriber, by `idNumber`: null when final, else the number of the delivered state.
 */
export type Ahead = ReadonlyMap<number, number | null>;

/**
 * Records that a subscriber at `position` received from another instance and this one has not read yet, since instances
 * can be ahead of each other. Null when there are none, as nearly always.
 */
export function aheadOf<Rec>(position: Position, snapshot: Snapshot<Rec, string>): Ahead | null {
  const ahead = [...position.known].filter((delivered) => isBehind(snapshot, delivered));
  return ahead.length === 0 ? null : new Map(ahead);
}

function isBehind<Rec>(
  snapshot: Snapshot<Rec, string>,
  [number, state]: readonly [number, number | null],
): boolean {
  const known = snapshot.numbered(number);
  return known === undefined || (state === null && !known.state.isFinal);
}

/**
 * The change as seen by a subscriber that already received the records in `ahead`: null when it repeats what was
 * delivered, and never a first report of such a record. Until this instance has read them too, the cursor must also
 * contain them.
 */
export function adapted<Rec, Kind extends string>(
  change: Change<Rec, Kind>,
  ahead: Ahead,
  feed: {
    readonly subject: Subject<Rec, Kind>;
    readonly snapshot: Snapshot<Rec, string>;
    readonly cursors: Cursors;
  },
): Change<Rec, Kind> | null {
  const { subject, snapshot, cursors } = feed;
  const { record, kind } = change;
  const before = ahead.get(idNumber(subject.idOf(record)));
  if (before === null) return null;
  const isFirst = before !== undefined && kind === subject.kindOf(record, false) && !subject.isFinal(record);
  if (isFirst && before === stateNumber(subject.fingerprintOf(record))) return null;
  const unknown = [...ahead].filter((delivered) => isBehind(snapshot, delivered));
  if (!isFirst && unknown.length === 0) return change;
  return {
    ...change,
    kind: isFirst ? subject.kindOf(record, true) : kind,
    cursor() {
      const position = cursors.decode(change.cursor());
      return cursors.encodeWith({ ...position, logged: null }, new Map(unknown));
    },
  };
}
