import { type Clock, dayMs, type UnixMs } from '../../clock.js';
import { Forbidden, type GatewayError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { SharedChanges } from '../../store/store.js';
import { isNameless } from '../../upstream/decode/list.js';
import { newCostMeter, type Priority, type ReadScope } from '../../upstream/read/read.js';
import { type ChangePublisher, localPublisher } from '../cluster/publisher.js';
import { ReplicatedPublisher } from '../cluster/replicated-publisher.js';
import { Subscribers } from '../delivery/subscribers.js';
import { instantAt, type ListReader } from '../polling/list-reader.js';
import { planLookBackWindow } from '../polling/look-back-window.js';
import { Poller } from '../polling/poller.js';
import { SweepAndBackfill } from '../polling/sweep-and-backfill.js';
import type { RecordList } from '../tracking/beside-list.js';
import type { Change, Subject } from '../tracking/change.js';
import { ChangeAppender } from '../tracking/change-appender.js';
import { ChangeDetector } from '../tracking/change-detector.js';
import { Cursors } from '../tracking/cursor/cursor.js';
import { PendingResumes, type Resume } from '../tracking/replay/pending-resumes.js';
import type { Snapshot } from '../tracking/snapshot.js';
import type { Feed, FeedListener, FeedStatus, Listening } from './feed.js';
import { feedStatus } from './feed-status.js';
import { ListCursors } from './list-cursors.js';

export interface RecordFeedOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: ListReader<Rec>;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Cursors of another scope, such as another key's, are rejected. */
  readonly scope: string;
  /** The replicated log that instances share; null with one process. */
  readonly changes: SharedChanges | null;
  readonly lookbackMs: number;
  /** The window extends over at least this many rows: they cost nothing on a page that is read anyway. */
  readonly spareRows: number;
  /** Completes changed records before they are published. Never fails. */
  readonly complete?: (records: readonly Rec[], scope: ReadScope) => Promise<readonly Rec[]>;
  /** Called before a record is delivered: every later answer must show it. */
  readonly onDelivering: (record: Rec) => void;
  /** From the start of one poll to the start of the next. */
  readonly intervalMs: (state: PollState<Rec, Kind>) => number;
}

export interface PollState<Rec, Kind extends string> {
  readonly snapshot: Snapshot<Rec, Kind>;
  /** The watermark: present time on upstream's clock. */
  readonly upstreamMs: UnixMs;
  /** Requests of the last poll. */
  readonly requests: number;
}

/**
 * Turns a list that can only be polled into changes, each once: every poll reads the look-back window, every sweep the
 * last day, and the snapshot holds all records that either can show again (docs/behaviour.md 9.1–9.4).
 */
export class RecordFeed<Rec, Kind extends string> implements Feed<Change<Rec, Kind>> {
  readonly #options: RecordFeedOptions<Rec, Kind>;
  readonly #cursors: Cursors;
  readonly #detector: ChangeDetector<Rec, Kind>;
  readonly #appender: ChangeAppender<Rec, Kind>;
  readonly #publisher: ChangePublisher<Rec>;
  readonly #resumes = new PendingResumes<Rec, Kind>();
  readonly #listCursors: ListCursors<Rec, Kind>;
  readonly #sweepAndBackfill: SweepAndBackfill<Rec, Kind>;
  readonly #subscribers: Subscribers<Change<Rec, Kind>>;
  readonly #poller: Poller;
  #requests = 1;

  constructor(options: RecordFeedOptions<Rec, Kind>) {
    const { subject, reader, changes, clock, random, lookbackMs, onDelivering } = options;
    this.#options = options;
    const name = `${subject.name} ${subject.source} ${options.scope}`;
    this.#cursors = new Cursors({ name, allEnd: subject.allEnd });
    const detector = new ChangeDetector(subject, clock);
    this.#detector = detector;
    this.#appender = new ChangeAppender({ subject, detector, clock, cursors: this.#cursors, onDelivering });
    this.#listCursors = new ListCursors({
      ...options,
      detector,
      appender: this.#appender,
      cursors: this.#cursors,
      observe: async (records, scope) => this.#observe(await this.#completed(records, scope)),
    });
    const isLeader = () => this.#publisher.isLeader;
    this.#sweepAndBackfill = new SweepAndBackfill({
      subject,
      reader,
      detector,
      resumes: this.#resumes,
      clock,
      lookbackMs,
      isLeader,
      reads: readsOf,
      observe: (records) => this.#observe(records),
      onRead: (isTooMuch) => this.#answerResumes(isTooMuch),
    });
    this.#poller = new Poller({
      clock,
      random,
      poll: (signal) => this.#poll(signal),
      mayPoll: isLeader,
      idle: (signal) => this.#sweepAndBackfill.step(signal),
      intervalMs: () => this.#intervalMs(),
      onFailure: (error, failures) => this.#failed(error, failures),
    });
    this.#subscribers = new Subscribers({
      clock,
      lingerMs: () => this.#intervalMs(),
      onFirst: () => this.#start(),
      onLeft: (listener) => this.#resumes.leave(listener),
      onEmpty: () => this.#stop(),
    });
    this.#publisher = changes
      ? new ReplicatedPublisher({
          subject,
          changes,
          detector,
          appender: this.#appender,
          clock,
          log: options.log,
          readAtMs: () => this.#poller.history.lastSuccessAtMs,
          onLeader: () => this.#poller.wake(),
          onBaseline: () => this.#knowsBaseline(),
        })
      : localPublisher(this.#appender);
  }

  get recordsPerCursor() {
    return this.#detector.snapshot.size;
  }

  get log() {
    return this.#appender.log;
  }

  isFolded(change: Change<Rec, Kind>): boolean {
    return this.#options.subject.isFolded(change.kind);
  }

  check(after: string): void {
    this.#cursors.decode(after);
  }

  subscribe(after: string | null, listener: FeedListener<Change<Rec, Kind>>): Listening {
    const listening = this.#subscribers.enter(listener);
    const resume = after === null ? null : { cursor: after, position: this.#cursors.decode(after) };
    const waiting = this.#publisher.upToDate();
    if (!waiting) this.#begin(listener, resume);
    else void waiting.then(() => this.#subscribers.has(listener) && this.#begin(listener, resume));
    return listening;
  }

  #begin(listener: FeedListener<Change<Rec, Kind>>, resume: Resume | null): void {
    const { first, next } = this.log;
    const logged = resume?.position.logged;
    const following = logged ? this.#appender.offsets.following(logged) : null;
    if (!resume) {
      const { reader, subject } = this.#options;
      const adapt =
        !this.#detector.hasBaseline || reader.isPartial
          ? (change: Change<Rec, Kind>) => (subject.isEarlier(change.record) ? null : change)
          : undefined;
      listener.begin({ replay: [], from: next, liveFrom: next, adapt });
    } else if (following !== null && following >= first && following <= next) {
      listener.begin({ replay: [], from: following, liveFrom: next });
    } else {
      this.#resumes.wait(listener, resume);
      this.#answerResumes(false);
      if (this.#detector.hasBaseline && this.#resumes.size === 1) this.#poller.wake();
    }
  }

  /** The cursor after `list`, for a subscription that continues from it. */
  cursorBeside(list: RecordList<Rec>, scope: ReadScope): Promise<string> {
    return this.#listCursors.after(list, scope);
  }

  status(): FeedStatus {
    return feedStatus({
      name: this.#options.subject.name,
      poller: this.#poller,
      leaderReadAtMs: this.#publisher.progress?.readAtMs ?? null,
      subscriberCount: this.#subscribers.size,
      intervalMs: this.#intervalMs(),
      nowMs: this.#options.clock.now(),
    });
  }

  close(error: GatewayError | null): void {
    this.#subscribers.end(error);
  }

  #start(): void {
    this.#publisher.start();
    this.#poller.start();
  }

  #stop(): void {
    this.#poller.stop();
    this.#publisher.stop();
    this.#resumes.clear();
    this.#sweepAndBackfill.reset();
    this.#detector.reset();
    this.#appender.reset();
  }

  #failed(error: unknown, failures: number): void {
    const { subject, log } = this.#options;
    const name = error instanceof Error ? error.name : String(error);
    log.warn({ feed: subject.name, failures, error: name }, 'A poll failed; it is tried again');
    // A feed that was forbidden from the start stays so; after a success, a proxy on the way may have refused the poll.
    if (error instanceof Forbidden && !this.#detector.hasBaseline) this.close(error);
  }

  #intervalMs(): number {
    const { snapshot, watermark } = this.#detector;
    return this.#options.intervalMs({ snapshot, upstreamMs: watermark.ms, requests: this.#requests });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const scope = readsOf(signal, 'feed');
    if (this.#detector.hasBaseline) await this.#readWindow(scope);
    else await this.#readBaseline(scope);
    this.#requests = Math.max(1, scope.meter.requests);
    if (!signal.aborted) this.#answerResumes(false);
  }

  async #readBaseline(scope: ReadScope): Promise<void> {
    const { records, completeFromMs } = await this.#options.reader.newest(scope);
    if (scope.signal.aborted) return;
    const changed = this.#detector.begin(records, this.#poller.history.startedAtMs, completeFromMs);
    await this.#publisher.append(changed);
    this.#sweepAndBackfill.begin();
  }

  #knowsBaseline(): void {
    this.#sweepAndBackfill.begin();
    this.#answerResumes(false);
  }

  async #readWindow(scope: ReadScope): Promise<void> {
    const { subject, reader, clock, lookbackMs, spareRows } = this.#options;
    const detector = this.#detector;
    const startedAtMs = clock.now();
    const plan = planLookBackWindow(detector.snapshot, {
      upstreamMs: detector.watermark.ms,
      lookbackMs,
      longestMs: dayMs,
      pageSize: reader.pageSize,
      spareRows,
    });
    const seen = new Set<string>();
    // An element without a readable id may be any open record.
    let hasNameless = false;
    for await (const page of reader.pages({ from: instantAt(plan.fromMs), to: null }, scope)) {
      if (scope.signal.aborted) return;
      for (const record of page.records) seen.add(subject.idOf(record));
      for (const name of page.unreadable) seen.add(name);
      hasNameless ||= page.unreadable.some(isNameless);
      await this.#observe(await this.#completed(page.records, scope));
    }
    for (const known of plan.apart) {
      const record = await reader.again(known.state.record, scope);
      if (scope.signal.aborted) return;
      if (record === 'gone') known.missing++;
      else if (record !== 'unreadable') await this.#observe([record]);
    }
    if (scope.signal.aborted) return;
    if (!hasNameless) detector.countMissing(plan.fromMs, seen);
    detector.extendTo(plan.fromMs);
    detector.watermark.confirm(startedAtMs, clock.wallMs(startedAtMs));
  }

  /** The way of everything that was read: detect changes, append them. Resolves when the log has them. */
  #observe(records: readonly Rec[]): void | Promise<void> {
    const changed = this.#detector.detect(records);
    if (changed.length > 0) return this.#publisher.append(changed);
  }

  async #completed(page: readonly Rec[], scope: ReadScope): Promise<readonly Rec[]> {
    const { complete } = this.#options;
    const changed = complete ? this.#detector.changesAmong(page) : [];
    if (!complete || changed.length === 0) return page;
    const others = page.filter((record) => !changed.includes(record));
    return [...others, ...(await complete(changed, scope))];
  }

  #answerResumes(isTooMuch: boolean): void {
    if (!this.#detector.hasBaseline) return;
    const expire = (listener: FeedListener<Change<Rec, Kind>>, error: GatewayError) =>
      this.#subscribers.dismiss(listener, error);
    this.#resumes.answer(this.#detector, this.#appender, expire, isTooMuch);
  }
}

// A poll always reads upstream, never the cache (docs/behaviour.md 9.1).
function readsOf(signal: AbortSignal, priority: Priority): ReadScope {
  return { signal, priority, operationKey: {}, meter: newCostMeter(), maxAgeMs: 0 };
}
