import type { Change, Delivery, Subject } from './change.js';
import { encodePosition, type Position } from './cursor.js';
import { type Known, type Memory, type State, stateHash } from './memory.js';

export interface PositionsOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly memory: Memory<Rec, Kind>;
  readonly scope: string;
  readonly run: number;
  readonly lookbackMs: number;
}

/** Where subscribers stand, and what has happened since. */
export class Positions<Rec, Kind extends string> {
  readonly #scope: string;
  readonly #options: PositionsOptions<Rec, Kind>;
  readonly #replays = new Map<string, readonly Delivery<Change<Rec, Kind>>[]>();
  #run: number;

  constructor(options: PositionsOptions<Rec, Kind>) {
    this.#options = options;
    this.#run = options.run;
    this.#scope = options.scope;
  }

  /** Sets the numbers of one run of the feed apart from those of another. */
  get run(): number {
    return this.#run;
  }

  renew(run: number): void {
    this.#run = run;
    this.#replays.clear();
  }

  /** Behind the change `seq`. */
  cursorAt(seq: number, coveredFromMs: number): string {
    const known = this.#options.memory.ordered;
    const position = gather(known, {
      coveredFromMs,
      lookbackMs: this.#options.lookbackMs,
      stateOf: (record) => {
        if (record.announced > seq) return undefined;
        return record.ended <= seq ? null : this.#hashAt(record, seq);
      },
      mustReachMs: Number.POSITIVE_INFINITY,
    });
    return encodePosition(this.#scope, { ...position, logged: { run: this.#run, seq } });
  }

  /**
   * What somebody at `position` has missed, as it is now: each record once, oldest first. Those who come back with the
   * same cursor, all tabs of a dashboard after a restart, share one list. `next` is the log's: the list is as of then.
   */
  replayFrom(
    cursor: string,
    position: Position,
    next: number,
    coveredFromMs: number,
  ): readonly Delivery<Change<Rec, Kind>>[] {
    const key = `${next} ${coveredFromMs} ${cursor}`;
    let replay = this.#replays.get(key);
    if (!replay) {
      replay = this.#missedSince(position, coveredFromMs);
      this.#replays.set(key, replay);
      for (const oldest of this.#replays.keys()) {
        if (this.#replays.size <= mostReplays) break;
        this.#replays.delete(oldest);
      }
    }
    return replay;
  }

  #missedSince(position: Position, coveredFromMs: number): Delivery<Change<Rec, Kind>>[] {
    const { memory, subject } = this.#options;
    const snapshot: Frozen<Rec, Kind>[] = memory.ordered.map((known) => ({ known, state: known.state }));
    const missed: Delivery<Change<Rec, Kind>>[] = [];
    for (const [index, { known, state }] of snapshot.entries()) {
      const before = beforeOf(known, state, position);
      if (before === null) continue;
      if (before !== undefined && before === stateHash(state)) continue;
      missed.push({
        isReplayed: true,
        change: {
          kind: subject.kindOf(state.record, before !== undefined),
          record: state.record,
          traits: state.traits,
          observedAtMs: known.last?.change.observedAtMs ?? known.seenAtMs,
          cursor: () => this.#cursorWithin(snapshot, index, position, coveredFromMs),
        },
      });
    }
    return missed;
  }

  /** Behind the record at `index` for someone who came from `position`: what comes after it is as it was there. */
  #cursorWithin(
    snapshot: readonly Frozen<Rec, Kind>[],
    index: number,
    position: Position,
    coveredFromMs: number,
  ): string {
    const reached = snapshot[index]?.state.timeMs ?? 0;
    const behind = gather(
      snapshot.map(({ known, state }, at) => ({ ...known, state, at })),
      {
        coveredFromMs: Math.max(coveredFromMs, position.horizonMs),
        lookbackMs: this.#options.lookbackMs,
        stateOf: (record) => {
          if (record.at <= index) return record.state.isFinal ? null : stateHash(record.state);
          return beforeOf(record, record.state, position);
        },
        mustReachMs: reached,
      },
    );
    return encodePosition(this.#scope, { ...behind, logged: null });
  }

  // The states that the log has forgotten count as changed since: what is said again then is only an update.
  #hashAt(known: Known<Rec, Kind>, seq: number): number {
    if (!known.last) return stateHash(known.state);
    let entry: typeof known.last | null = known.last;
    while (entry && entry.seq > seq) entry = entry.previous;
    return entry ? stateHash({ fingerprint: this.#options.subject.fingerprintOf(entry.change.record) }) : 0;
  }
}

const mostReplays = 16;

interface Frozen<Rec, Kind extends string> {
  readonly known: Known<Rec, Kind>;
  readonly state: State<Rec>;
}

/** What somebody at `position` knew of a record: null final, a number its state, undefined nothing. */
function beforeOf(
  known: { readonly number: number },
  state: { readonly timeMs: number },
  position: Position,
): number | null | undefined {
  const before = position.known.get(known.number);
  return before === undefined && state.timeMs < position.horizonMs ? null : before;
}

interface Gathering<K> {
  readonly coveredFromMs: number;
  readonly lookbackMs: number;
  /** Undefined for what is not known at this position. */
  readonly stateOf: (known: K) => number | null | undefined;
  /** No later than this, the horizon has to lie: what is not known begins here. */
  readonly mustReachMs: number;
}

// So that a cursor stays below some 3 kB: what is older is left out, and only what arrives that late is then lost to
// someone who resumes without the log. The look-back window is always whole.
const room = 1_000;
// contract 9.2: what arrives later than this is not looked for.
const longestMs = 86_400_000;

function gather<K extends { readonly number: number; readonly state: { readonly timeMs: number } }>(
  ordered: readonly K[],
  { coveredFromMs, lookbackMs, stateOf, mustReachMs }: Gathering<K>,
): Omit<Position, 'logged'> {
  const known = new Map<number, number | null>();
  let timeMs = 0;
  let oldestOpenMs = Number.POSITIVE_INFINITY;
  let horizonMs = coveredFromMs;
  let used = 0;
  let isFull = false;
  for (let i = ordered.length - 1; i >= 0; i--) {
    const record = ordered[i];
    const state = record && stateOf(record);
    if (!record || state === undefined) continue;
    const recordMs = record.state.timeMs;
    timeMs = Math.max(timeMs, recordMs);
    const mayLeaveOut = recordMs < timeMs - lookbackMs && recordMs < mustReachMs;
    const isTooMuch = used >= room || recordMs < timeMs - longestMs;
    if (isTooMuch && !isFull && mayLeaveOut && Math.floor(recordMs) < horizonOf(ordered[i + 1], recordMs)) {
      isFull = true;
      horizonMs = Math.max(coveredFromMs, Math.floor(recordMs) + 1);
    }
    if (state !== null) oldestOpenMs = Math.min(oldestOpenMs, recordMs);
    else if (isFull || recordMs < coveredFromMs) continue;
    known.set(record.number, state);
    used += (record.number < 2 ** 32 ? 1 : 3) + (state === null ? 0 : 2);
  }
  horizonMs = Math.max(0, Math.floor(Math.max(horizonMs, timeMs - longestMs)));
  return {
    timeMs: Math.floor(timeMs),
    horizonMs,
    oldestOpenMs: Number.isFinite(oldestOpenMs) ? Math.floor(oldestOpenMs) : Math.floor(timeMs),
    known,
  };
}

const horizonOf = (next: { readonly state: { readonly timeMs: number } } | undefined, elseMs: number) =>
  Math.floor(next?.state.timeMs ?? elseMs);
