import { type Clock, latest, type UnixMs } from '../../../clock.js';
import type { LoggedChange, Start } from '../../feeds/feed.js';
import type { Change, Delivery, Subject } from '../change.js';
import { type Cursors, idNumber, type Position, stateNumber } from '../cursor/cursor.js';
import { unknownState } from '../cursor/known-entries.js';
import { withRest } from '../cursor/known-rest.js';
import { positionOf } from '../cursor/known-set.js';
import type { Offsets } from '../cursor/offsets.js';
import { cached } from '../newest-cached.js';
import type { Known, Snapshot, State } from '../snapshot.js';
import { adapted, aheadOf } from './ahead.js';

export interface ReplayOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly snapshot: Snapshot<Rec, Kind>;
  readonly offsets: Offsets;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const mostReplays = 16;
const mostCursors = 256;

/** Makes the cursors of changes, and the replay for a cursor that the log does not reach. */
export class Replay<Rec, Kind extends string> {
  readonly #options: ReplayOptions<Rec, Kind>;
  readonly #missed = new Map<string, Missed<Change<Rec, Kind>> | null>();
  readonly #cursors = new Map<number, string>();

  constructor(options: ReplayOptions<Rec, Kind>) {
    this.#options = options;
  }

  clear(): void {
    this.#missed.clear();
    this.#cursors.clear();
  }

  /** The cursor after the change `seq`, cached since all subscribers ask for it at about the same time. */
  cursorAt(seq: number, completeFromMs: UnixMs): string {
    return cached(this.#cursors, mostCursors, seq, () => {
      const { snapshot, offsets, cursors, clock } = this.#options;
      const position = positionOf({
        records: snapshot.ordered,
        last: snapshot.size - 1,
        unfinished: snapshot.unfinishedAt(seq),
        stateOf: (record) => this.stateAt(record, seq),
        completeFromMs,
        nowMs: clock.wallMs(),
      });
      return cursors.encode({ ...position, logged: offsets.offsetOf(seq) });
    });
  }

  /** The state of a record after the change `seq`: as for `KnownSet.stateOf`. */
  stateAt(known: Known<Rec, Kind>, seq: number): number | null | undefined {
    if (known.announced > seq) return undefined;
    return known.ended <= seq ? null : this.#hashAt(known, seq);
  }

  /**
   * The records that a subscriber at `position` has missed, in their present state: each once, oldest first.
   * Subscribers that resume with the same cursor, such as all tabs of a dashboard after a restart, share one list.
   * `next` is the log's next number, which says as of when the list is. Null when the cursor no longer tells what was
   * known there.
   */
  missedSince(
    cursor: string,
    start: Position,
    next: number,
    completeFromMs: UnixMs,
  ): Missed<Change<Rec, Kind>> | null {
    const key = `${next} ${completeFromMs} ${cursor}`;
    return cached(this.#missed, mostReplays, key, () => {
      const { snapshot, subject, cursors } = this.#options;
      const position = start.rest
        ? withRest(
            start,
            snapshot.ordered.map(({ state }) => state),
            (traits) => subject.wasShown(traits),
          )
        : start;
      if (!position) return null;
      const replay = this.#replayFrom(position, completeFromMs);
      const ahead = aheadOf(position, snapshot);
      if (!ahead) return { replay };
      const adapt = (change: Change<Rec, Kind>) => adapted(change, ahead, { subject, snapshot, cursors });
      return {
        replay: replay.map((delivery) => ({
          ...delivery,
          change: adapt(delivery.change) ?? delivery.change,
        })),
        adapt,
      };
    });
  }

  #replayFrom(position: Position, completeFromMs: UnixMs): Delivery<Change<Rec, Kind>>[] {
    const { snapshot, subject } = this.#options;
    const wasKnownAsOther = ({ known }: Position, record: Rec) => {
      const other = subject.continues(record);
      return other !== null && known.has(idNumber(other));
    };
    const frozenRecords: Frozen<Rec, Kind>[] = snapshot.ordered.map((known, at) => ({
      at,
      number: known.number,
      state: known.state,
      known,
    }));
    const frozen: FrozenRecords<Rec, Kind> = {
      records: frozenRecords,
      lastKnown: frozenRecords.findLastIndex((record) => stateIn(position, record) !== undefined),
      unfinished: frozenRecords.filter(
        (record) => !record.state.isFinal || typeof stateIn(position, record) === 'number',
      ),
    };
    const missed: Delivery<Change<Rec, Kind>>[] = [];
    const replaced = new Set(frozenRecords.map(({ state }) => subject.continues(state.record)));
    for (const record of frozenRecords) {
      const { state, known } = record;
      if (replaced.has(known.id)) continue;
      const before = stateIn(position, record);
      if (before === null || (before === state.hash && !state.isFinal)) continue;
      missed.push({
        isReplayed: true,
        change: {
          kind: subject.kindOf(state.record, before !== undefined || wasKnownAsOther(position, state.record)),
          record: state.record,
          traits: state.traits,
          observedAtMs: known.last?.change.observedAtMs ?? known.seenAtMs,
          cursor: () => this.#cursorWithin(frozen, record, position, completeFromMs),
        },
      });
    }
    return missed;
  }

  /** The cursor after one record of a replay from `position`: later records keep their state as of that position. */
  #cursorWithin(
    { records, lastKnown, unfinished }: FrozenRecords<Rec, Kind>,
    reached: Frozen<Rec, Kind>,
    position: Position,
    completeFromMs: UnixMs,
  ): string {
    const { cursors, clock, subject } = this.#options;
    const behind = positionOf({
      records,
      last: Math.max(reached.at, lastKnown),
      unfinished,
      stateOf: (record) => {
        const before = stateIn(position, record);
        const isShown = before !== undefined || subject.wasShown(record.state.traits);
        if (record.at > reached.at || !isShown) return before;
        return record.state.isFinal ? null : record.state.hash;
      },
      completeFromMs: latest(completeFromMs, position.horizonMs),
      nowMs: clock.wallMs(),
    });
    return cursors.encode({ ...behind, logged: null });
  }

  // A state that the log has discarded counts as changed since: at worst an update is delivered twice.
  #hashAt(known: Known<Rec, Kind>, seq: number): number {
    let entry = known.last;
    if (!entry || entry.seq <= seq) return known.state.hash;
    while (entry && entry.seq > seq) entry = entry.previous;
    return entry ? stateNumber(this.#options.subject.fingerprintOf(entry.change.record)) : unknownState;
  }
}

/** The replay for a subscriber, and how later changes are adapted for it. */
export type Missed<C extends LoggedChange> = Pick<Start<C>, 'replay' | 'adapt'>;

interface Frozen<Rec, Kind extends string> {
  readonly at: number;
  readonly number: number;
  readonly state: State<Rec>;
  readonly known: Known<Rec, Kind>;
}

interface FrozenRecords<Rec, Kind extends string> {
  readonly records: readonly Frozen<Rec, Kind>[];
  /** Index of the newest record that was known at the position. */
  readonly lastKnown: number;
  /** The records that are not final now, or were not at the position. */
  readonly unfinished: readonly Frozen<Rec, Kind>[];
}

/** The state of a record at `position`: null when final, else the number of its state; undefined when not known. */
function stateIn(
  position: Position,
  { number, state }: { readonly number: number; readonly state: { readonly timeMs: UnixMs } },
): number | null | undefined {
  const before = position.known.get(number);
  return before === undefined && state.timeMs < position.horizonMs ? null : before;
}
