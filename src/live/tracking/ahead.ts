import type { Change, Subject } from './change.js';
import { decodePosition, encodePosition, idNumber, type Position, stateNumber } from './cursor.js';
import type { Snapshot } from './snapshot.js';

/** By `idNumber`, what a subscriber was told of: null when it was final, else the number of its state. */
export type Ahead = ReadonlyMap<number, number | null>;

/**
 * What somebody at `position` knows of and this instance does not: another one can be ahead of it. Null when there is
 * nothing of that kind, as nearly always.
 */
export function aheadOf<Rec>(position: Position, snapshot: Snapshot<Rec, string>): Ahead | null {
  const ahead = [...position.known].filter((told) => isBehind(snapshot, told));
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
 * A change as it is to a subscriber who was told of those records already: null when it is no news, and no first news
 * when it is. Until they are known here too, its cursor must hold them besides.
 */
export function adapted<Rec, Kind extends string>(
  change: Change<Rec, Kind>,
  ahead: Ahead,
  feed: {
    readonly subject: Subject<Rec, Kind>;
    readonly snapshot: Snapshot<Rec, string>;
    readonly scope: string;
  },
): Change<Rec, Kind> | null {
  const { subject, snapshot, scope } = feed;
  const { record, kind } = change;
  const before = ahead.get(idNumber(subject.idOf(record)));
  if (before === null) return null;
  const isFirst = before !== undefined && kind === subject.kindOf(record, false) && !subject.isFinal(record);
  if (isFirst && before === stateNumber(subject.fingerprintOf(record))) return null;
  const unknown = [...ahead].filter((told) => isBehind(snapshot, told));
  if (!isFirst && unknown.length === 0) return change;
  return {
    ...change,
    kind: isFirst ? subject.kindOf(record, true) : kind,
    cursor() {
      const position = decodePosition(scope, change.cursor());
      const known = new Map([...position.known, ...unknown]);
      return encodePosition(scope, { ...position, logged: null, known });
    },
  };
}
