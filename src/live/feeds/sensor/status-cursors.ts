import { asMoment, type UnixMs } from '../../../clock.js';
import type { LogOffset } from '../../../store/store.js';
import type { SensorStatus } from '../../../unify/sensor/status.js';
import { Cursors, type Position, stateNumber } from '../../tracking/cursor/cursor.js';
import { withRest } from '../../tracking/cursor/known-rest.js';

/** The statuses of all sensors at a moment. */
export interface StatusPosition {
  /** By `idNumber` of the sensor's key. */
  readonly statuses: ReadonlyMap<number, SensorStatus>;
  readonly atMs: UnixMs;
  /** Offset of the last change before it; null where it is not one of a log. */
  readonly logged: LogOffset | null;
}

/** Cursors of sensor status: a list of records that all are known, none of which has a time or becomes final. */
export class StatusCursors {
  readonly #cursors: Cursors;

  /** @param name of the feed: its interface and its key */
  constructor(name: string) {
    this.#cursors = new Cursors({ name, allEnd: false });
  }

  encode({ statuses, atMs, logged }: StatusPosition): string {
    return this.#cursors.encode({
      logged,
      timeUs: Math.floor(atMs) * 1000,
      lastNumber: 0,
      horizonMs: noTime,
      oldestOpenMs: noTime,
      known: new Map([...statuses].map(([number, status]) => [number, stateNumber(status)])),
      older: new Map(),
    });
  }

  /** @throws CursorInvalid, CursorExpired */
  decode(cursor: string): Position {
    return this.#cursors.decode(cursor);
  }
}

/** The moment of a position. */
export function momentOf({ timeUs }: Position): UnixMs {
  return asMoment(timeUs / 1000);
}

/**
 * The statuses at a position, given the present ones; null when so many have changed since that the cursor does not tell
 * which.
 */
export function statusesAt(
  position: Position,
  present: ReadonlyMap<number, SensorStatus>,
): ReadonlyMap<number, SensorStatus> | null {
  const listed = [...present].map(([number, status]) => ({
    number,
    timeMs: noTime,
    isFinal: false,
    hash: stateNumber(status),
    traits: null,
  }));
  const whole = withRest(position, listed, () => true);
  if (!whole) return null;
  const statuses = new Map<number, SensorStatus>();
  for (const [number, state] of whole.known) {
    const status = byState.get(state);
    if (status) statuses.set(number, status);
  }
  return statuses;
}

const all: readonly SensorStatus[] = ['ONLINE', 'OFFLINE', 'UNKNOWN'];
const byState = new Map<number | null, SensorStatus>(all.map((status) => [stateNumber(status), status]));
const noTime = asMoment<'date in ms'>(0);
