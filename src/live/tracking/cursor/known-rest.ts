import type { Position } from './cursor.js';
import { add, differencesOf, elementOf, RunningSums, stateOfValue, valueOfState } from './known-digest.js';
import { unknownState } from './known-entries.js';

interface RecordState {
  readonly number: number;
  readonly timeMs: number;
  readonly isFinal: boolean;
  readonly hash: number;
  readonly traits: unknown;
}

/**
 * The position with all records that it takes for known, given those that upstream lists now; null when so many of them
 * have changed since that its sums no longer tell which.
 */
export function withRest(
  position: Position,
  listed: readonly RecordState[],
  wasShown: (traits: unknown) => boolean,
): Position | null {
  const { rest } = position;
  if (!rest) return position;
  const others = listed.filter(({ number }) => !position.known.has(number));
  // The sums were formed over about these records, as they were then.
  const presumed = new Map(
    others
      .filter((record) => isWithin(position, record) && wasShown(record.traits))
      .map((record) => [record.number, stateOf(record)]),
  );
  const byElement = new Map<number, RecordState | null>();
  for (const record of others) {
    const element = elementOf(record.number);
    byElement.set(element, byElement.has(element) ? null : record);
  }
  const sums = new RunningSums(rest.length).of(presumed);
  const differences = differencesOf(rest, sums, byElement.keys());
  if (!differences) return null;
  const known = new Map([...position.known, ...presumed]);
  for (const [element, difference] of differences) {
    const record = byElement.get(element);
    // Two records with one element: either could differ.
    if (!record) return null;
    const presumedState = presumed.get(record.number);
    const state = stateOfValue(
      add(presumedState === undefined ? 0 : valueOfState(presumedState), difference),
    );
    if (state === undefined) known.delete(record.number);
    else if (state === null || state <= unknownState) known.set(record.number, state);
    else return null;
  }
  return { ...position, known, rest: null };
}

function isWithin({ horizonMs, timeUs, lastNumber }: Position, { timeMs, number }: RecordState): boolean {
  const us = microseconds(timeMs);
  return timeMs >= horizonMs && (us < timeUs || (us === timeUs && number <= lastNumber));
}

export const microseconds = (timeMs: number) => Math.floor(timeMs * 1000);

const stateOf = ({ isFinal, hash }: RecordState) => (isFinal ? null : hash);
