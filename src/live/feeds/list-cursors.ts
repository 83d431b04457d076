import { type Clock, longAgo, plus } from '../../clock.js';
import { freshMs } from '../../upstream/cache/freshness.js';
import type { ReadScope } from '../../upstream/read/read.js';
import { type ListReader, longestReadMs, type Newest } from '../polling/list-reader.js';
import { positionBeside, type RecordList } from '../tracking/beside-list.js';
import type { Subject } from '../tracking/change.js';
import type { ChangeAppender } from '../tracking/change-appender.js';
import type { ChangeDetector } from '../tracking/change-detector.js';
import type { Cursors } from '../tracking/cursor/cursor.js';
import { type Known, Snapshot } from '../tracking/snapshot.js';

export interface ListCursorsOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: ListReader<Rec>;
  readonly clock: Clock;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly appender: ChangeAppender<Rec, Kind>;
  readonly cursors: Cursors;
  /** As in `RecordFeedOptions`. */
  readonly complete?: (records: readonly Rec[], scope: ReadScope) => Promise<readonly Rec[]>;
  /** Takes in records of a list that are fresher than the snapshot. */
  readonly observe: (records: readonly Rec[], scope: ReadScope) => Promise<void>;
}

/** Cursors at which lists end, from which a feed continues without a gap (docs/behaviour.md 9.13). */
export class ListCursors<Rec, Kind extends string> {
  readonly #options: ListCursorsOptions<Rec, Kind>;

  constructor(options: ListCursorsOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** Without subscribers there is no snapshot, and the newest records are read once. */
  async after(list: RecordList<Rec>, scope: ReadScope): Promise<string> {
    const { detector, reader } = this.#options;
    for (;;) {
      const cursor = detector.hasBaseline ? await this.#inSnapshot(list, scope) : null;
      if (cursor !== null) return cursor;
      const newest = await reader.newest({ ...scope, maxAgeMs: freshMs.trigger });
      if (!detector.hasBaseline) return this.#inNewest(list, newest, scope);
    }
  }

  /** Null where the last subscriber left meanwhile, and the snapshot with it. */
  async #inSnapshot(list: RecordList<Rec>, scope: ReadScope): Promise<string | null> {
    const { detector, appender, observe } = this.#options;
    await observe(detector.fresherOf(list.records), scope);
    const whole = await this.#withComplete(list, detector.snapshot, scope);
    if (!detector.hasBaseline) return null;
    // Upstream composed the list some time before it arrived.
    const seq = appender.log.lastBy(plus(list.readAtMs, -longestReadMs));
    const stateThen = (known: Known<Rec, Kind>) => appender.replay.stateAt(known, seq);
    return this.#encoded(whole, detector.snapshot, detector.completeFromMs, stateThen);
  }

  async #inNewest(list: RecordList<Rec>, newest: Newest<Rec>, scope: ReadScope): Promise<string> {
    const { subject, detector, clock } = this.#options;
    const snapshot = new Snapshot<Rec, Kind>(subject);
    for (const record of [...newest.records, ...list.records]) {
      if (!snapshot.get(subject.idOf(record))) {
        snapshot.learn(detector.snapshot.stateOf(record, null), clock.now());
      }
    }
    const newestMs = snapshot.ordered.at(-1)?.state.timeMs ?? longAgo;
    const clocksAgree = newestMs <= clock.wallMs();
    const stateThen = ({ announced, state }: Known<Rec, Kind>) => {
      const isLater = clocksAgree && state.timeMs >= clock.wallMs(list.readAtMs);
      if (isLater || announced > 0) return undefined;
      return state.isFinal ? null : state.hash;
    };
    const whole = await this.#withComplete(list, snapshot, scope);
    return this.#encoded(whole, snapshot, newest.completeFromMs, stateThen);
  }

  #encoded(
    list: RecordList<Rec>,
    snapshot: Snapshot<Rec, Kind>,
    completeFromMs: ChangeDetector<Rec, Kind>['completeFromMs'],
    stateThen: (known: Known<Rec, Kind>) => number | null | undefined,
  ): string {
    const { subject, detector, clock, cursors } = this.#options;
    const position = positionBeside(list, {
      snapshot,
      completeFromMs,
      stateThen,
      nowMs: clock.wallMs(),
      idOf: subject.idOf,
      stateOf: (record) => detector.snapshot.stateOf(record, null),
    });
    return cursors.encode(position);
  }

  /** The list, with its lacking records completed first: an incomplete record may seem to belong to it. */
  async #withComplete(
    list: RecordList<Rec>,
    { ordered }: Snapshot<Rec, Kind>,
    scope: ReadScope,
  ): Promise<RecordList<Rec>> {
    const { complete, subject } = this.#options;
    const listed = new Set(list.records.map(subject.idOf));
    const lacking = ordered.flatMap(({ id, state: { record } }) =>
      !listed.has(id) && list.includes(record) ? [record] : [],
    );
    if (!complete || lacking.length === 0) return list;
    const completed = await complete(lacking, scope);
    const byId = new Map(completed.map((record) => [subject.idOf(record), record]));
    return { ...list, includes: (record) => list.includes(byId.get(subject.idOf(record)) ?? record) };
  }
}
